package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// dialects lists the command lines that can be asked.
func dialects() map[string]dialect {
	return map[string]dialect{
		Claude: {program: "claude", small: "haiku", flags: claudeFlags, read: readClaude},
		Codex:  {program: "codex", small: "gpt-6-luna", flags: codexFlags, read: readCodex},
		Gemini: {
			program: "gemini", small: "flash-lite", flags: geminiFlags, read: readGemini,
			files: [][2]string{{".gemini/settings.json", geminiSettings}}, env: []string{"GEMINI_CLI_TRUST_WORKSPACE=true"},
		},
		Copilot:  {program: "copilot", small: "gpt-5-mini", flags: copilotFlags, read: readCopilot},
		OpenCode: {program: "opencode", flags: opencodeFlags, read: readOpenCode, env: opencodeEnv},
	}
}

// keyVariables are what the command line of an agent takes the key of its vendor from.
var keyVariables = map[string][]string{
	Claude: {"ANTHROPIC_API_KEY"}, Codex: {"OPENAI_API_KEY", "CODEX_API_KEY"}, Gemini: {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
}

// BySubscription reports whether a provider answers from a subscription: it is the command
// line of an agent, and no key of its vendor stands in the environment.
func BySubscription(provider string, env []string) bool {
	if !isCommand(provider) {
		return false
	}
	return !slices.ContainsFunc(env, func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return value != "" && slices.Contains(keyVariables[provider], name)
	})
}

// geminiSettings stand in the folder in which Gemini CLI runs, and count for more than its
// user's: no tool, no server of tools, no hook, no skill, no file that is read as context.
const geminiSettings = `{"hooksConfig": {"enabled": false}, "tools": {"core": ["none"]}, "mcp": {"allowed": ["none"]},
"skills": {"enabled": false}, "context": {"fileName": "NO-SUCH-FILE.md"}}
`

// geminiFlags runs Gemini CLI for one answer; its settings do the rest.
func geminiFlags(model, _ string) []option {
	flags := []option{
		{words: []string{"--output-format", "json"}, needed: true},
		{words: []string{"--extensions", "none"}}, // they bring hooks, context and servers of tools
	}
	if model != "" {
		flags = append(flags, option{words: []string{"--model", model}, needed: true})
	}
	return flags
}

// readGemini reads the one object that Gemini CLI prints.
func readGemini(stdout, _ []byte) (Completion, error) {
	var a struct {
		Response *string `json:"response"`
		Error    struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if i := bytes.IndexByte(stdout, '{'); i > 0 { // versions differ in what they print before it
		stdout = stdout[i:]
	}
	if err := json.Unmarshal(stdout, &a); err != nil {
		return Completion{}, fmt.Errorf("its answer cannot be read: %s", harmless(err.Error()))
	}
	switch {
	case a.Error.Message != "":
		return Completion{}, fmt.Errorf("it answers with an error: %s", harmless(a.Error.Message))
	case a.Response == nil:
		return Completion{}, errors.New("it ends without an answer")
	}
	return Completion{Text: *a.Response}, nil
}

// copilotFlags runs Copilot for one answer, with a list of tools that names none there
// is. It has no flag against hooks: ours see what childEnv says.
func copilotFlags(model, _ string) []option {
	flags := []option{
		{words: []string{"-s"}},
		{words: []string{"--available-tools", "none"}, needed: true},
		{words: []string{"--disable-builtin-mcps"}, needed: true},
		{words: []string{"--no-custom-instructions"}},
		{words: []string{"--no-ask-user"}},
		{words: []string{"--no-remote-export"}}, // the session is not shown on GitHub's pages
		{words: []string{"--no-auto-update"}},
		{words: []string{"--output-format", "json"}, needed: true},
		{words: []string{"--stream", "off"}},
	}
	if model != "" {
		flags = append(flags, option{words: []string{"--model", model}, needed: true})
	}
	return flags
}

// readCopilot reads the last message among the events that Copilot prints.
func readCopilot(stdout, _ []byte) (got Completion, err error) {
	err = errors.New("it ends without an answer")
	for line := range bytes.Lines(stdout) {
		var event struct {
			Type string `json:"type"`
			Data struct {
				Content string `json:"content"`
				Message string `json:"message"`
			} `json:"data"`
		}
		if json.Unmarshal(line, &event) != nil {
			continue
		}
		switch {
		case event.Type == "session.error":
			return Completion{}, fmt.Errorf("it answers with an error: %s", harmless(event.Data.Message))
		case event.Type == "assistant.message" && event.Data.Content != "":
			got.Text, err = event.Data.Content, nil
		}
	}
	return got, err
}

// opencodeEnv defines an agent of ours that may do nothing, and keeps files of a project out.
var opencodeEnv = []string{
	"OPENCODE_DISABLE_PROJECT_CONFIG=1",
	`OPENCODE_CONFIG_CONTENT={"agent":{"writer":{"mode":"primary","prompt":"Do what the message says.","permission":{"*":"deny"}}}}`,
}

// opencodeFlags runs OpenCode for one answer: without plugins, as an agent whose every
// tool is denied. With a title it asks no model for one.
func opencodeFlags(model, _ string) []option {
	flags := []option{
		{words: []string{"run"}, needed: true},
		{words: []string{"--pure"}, needed: true},
		{words: []string{"--agent", "writer"}, needed: true},
		{words: []string{"--title", "anamnesis"}},
		{words: []string{"--format", "json"}, needed: true},
	}
	if model != "" {
		flags = append(flags, option{words: []string{"--model", model}, needed: true})
	}
	return flags
}

// readOpenCode joins the texts of the last step among the events that OpenCode prints.
func readOpenCode(stdout, _ []byte) (got Completion, err error) {
	for line := range bytes.Lines(stdout) {
		var event struct {
			Type string `json:"type"`
			Part struct {
				Text   string `json:"text"`
				Tokens struct {
					Input  int `json:"input"`
					Output int `json:"output"`
				} `json:"tokens"`
			} `json:"part"`
			Error struct {
				Data struct {
					Message string `json:"message"`
				} `json:"data"`
			} `json:"error"`
		}
		if json.Unmarshal(line, &event) != nil {
			continue
		}
		switch event.Type {
		case "error":
			return Completion{}, fmt.Errorf("it answers with an error: %s", harmless(event.Error.Data.Message))
		case "step_start":
			got.Text = ""
		case "text":
			got.Text += event.Part.Text
		case "step_finish":
			got.Usage.Prompt += event.Part.Tokens.Input
			got.Usage.Answer += event.Part.Tokens.Output
		}
	}
	if got.Text == "" {
		return Completion{}, errors.New("it ends without an answer")
	}
	return got, nil
}

// claudeFlags runs Claude Code for one answer: no tools, no servers of tools, no
// hooks, no plugins, no files of instructions, nothing left on the disk. A system
// prompt of one line replaces its usual one, which is longer than most of our
// requests. An old version that cannot switch all tools off gets the names of those
// it has.
func claudeFlags(model, _ string) []option {
	flags := []option{
		{words: []string{"-p"}, needed: true},
		{words: []string{"--output-format", "json"}, needed: true},
		{
			words:   []string{"--tools", ""},
			instead: []string{"--disallowedTools", "Bash,Edit,MultiEdit,Write,NotebookEdit,Read,Glob,Grep,LS,WebFetch,WebSearch,Task,TodoWrite"},
		},
		{words: []string{"--strict-mcp-config"}},
		{words: []string{"--settings", `{"disableAllHooks":true}`}},
		{words: []string{"--safe-mode"}},
		{words: []string{"--disable-slash-commands"}},
		{words: []string{"--system-prompt", "Do what the message says."}},
		{words: []string{"--no-session-persistence"}},
	}
	if model != "" {
		flags = append(flags, option{words: []string{"--model", model}, needed: true})
	}
	return flags
}

// readClaude reads the one object that Claude Code prints, or the last of a list
// of them, which it prints when its user likes it verbose.
func readClaude(stdout, _ []byte) (Completion, error) {
	if stdout = bytes.TrimSpace(stdout); bytes.HasPrefix(stdout, []byte("[")) {
		var list []json.RawMessage
		if json.Unmarshal(stdout, &list) == nil && len(list) > 0 {
			stdout = list[len(list)-1]
		}
	}
	var a struct {
		Result  *string `json:"result"`
		IsError bool    `json:"is_error"`
		Subtype string  `json:"subtype"`
		Usage   struct {
			Input    int `json:"input_tokens"`
			Cached   int `json:"cache_read_input_tokens"`
			Creating int `json:"cache_creation_input_tokens"`
			Output   int `json:"output_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(stdout, &a); err != nil {
		return Completion{}, fmt.Errorf("its answer cannot be read: %s", harmless(err.Error()))
	}
	switch {
	case a.IsError && a.Result != nil && *a.Result != "":
		return Completion{}, fmt.Errorf("it answers with an error: %s", harmless(*a.Result))
	case a.IsError || a.Result == nil:
		return Completion{}, fmt.Errorf("it ends without an answer: %s", harmless(a.Subtype))
	}
	return Completion{Text: *a.Result, Usage: Usage{Prompt: a.Usage.Input + a.Usage.Cached + a.Usage.Creating, Answer: a.Usage.Output}}, nil
}

// codexFlags runs Codex for one answer: a sandbox that cannot write, no shell to
// read with, no search, no hooks, no plugins, no files of instructions, nothing left
// on the disk but the file of its answer. A feature that a version does not have is
// ignored when it is switched off with -c, and an error with --disable.
func codexFlags(model, file string) []option {
	flags := []option{
		{words: []string{"exec"}, needed: true},
		{words: []string{"--sandbox", "read-only"}, needed: true},
		{words: []string{"--skip-git-repo-check"}, needed: true},
		{words: []string{"--ephemeral"}},
		{words: []string{"--json"}},
		{words: []string{"--output-last-message", file}, needed: true},
		{words: []string{"-c", "features.shell_tool=false"}, needed: true},
		{words: []string{"-c", "features.unified_exec=false"}, needed: true},
		{words: []string{"-c", "features.hooks=false"}, needed: true},
		{words: []string{"-c", "features.plugins=false"}, needed: true},
		{words: []string{"-c", "features.apps=false"}, needed: true},
		{words: []string{"-c", "features.multi_agent=false"}, needed: true},
		{words: []string{"-c", "features.memories=false"}, needed: true},
		{words: []string{"-c", "features.view_image=false"}, needed: true},
		{words: []string{"-c", "features.image_generation=false"}, needed: true},
		{words: []string{"-c", "project_doc_max_bytes=0"}, needed: true},
		{words: []string{"-c", `model_reasoning_effort="low"`}, needed: true},
		{words: []string{"-c", `web_search="disabled"`}, needed: true},
		{words: []string{"-c", `approval_policy="never"`}, needed: true},
	}
	if model != "" {
		flags = append(flags, option{words: []string{"--model", model}, needed: true})
	}
	return append(flags, option{words: []string{"-"}, needed: true}) // the prompt is on standard input
}

// readCodex reads the file with the answer; of what is printed, the usage.
func readCodex(stdout, file []byte) (Completion, error) {
	var got Completion
	for line := range bytes.Lines(stdout) {
		var event struct {
			Type  string `json:"type"`
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
			Usage struct {
				Input  int `json:"input_tokens"` // those of the cache among them
				Output int `json:"output_tokens"`
			} `json:"usage"`
		}
		if json.Unmarshal(line, &event) != nil {
			continue // versions differ in what else they print
		}
		if event.Type == "turn.failed" {
			return Completion{}, fmt.Errorf("it answers with an error: %s", harmless(event.Error.Message))
		}
		got.Usage.Prompt += event.Usage.Input
		got.Usage.Answer += event.Usage.Output
	}
	if file == nil {
		return Completion{}, errors.New("it ends without an answer")
	}
	got.Text = string(file)
	return got, nil
}
