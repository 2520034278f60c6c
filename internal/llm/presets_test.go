package llm_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/llm"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// formed is an answer as the program of an agent prints it; "" for those that the caller knows.
func formed(form, text string) string {
	quoted, _ := json.Marshal(text)
	switch form {
	case llm.Gemini:
		return "Loaded cached credentials.\n" + `{"session_id":"x","response":` + string(quoted) + `,"stats":{}}` + "\n"
	case llm.Copilot:
		return `{"type":"session.start","data":{}}` + "\n" + `{"type":"assistant.message","data":{"content":` + string(quoted) + `}}` + "\n" +
			`{"type":"result","data":{}}` + "\n"
	case llm.OpenCode:
		return `{"type":"step_start","part":{}}` + "\n" + `{"type":"text","part":{"text":` + string(quoted) + `}}` + "\n" +
			`{"type":"step_finish","part":{"tokens":{"input":100,"output":7}}}` + "\n"
	}
	return ""
}

// refusal is what the program of an agent prints when it has no answer.
func refusal(form, how string) string {
	said := map[string]string{
		"login": "Not logged in. Please run /login", "quota": "429 rate limit reached for this account", "no model": "The model tiny-x does not exist",
	}[how]
	quoted, _ := json.Marshal(said)
	switch form {
	case llm.Claude:
		return `{"type":"result","is_error":true,"result":` + string(quoted) + `}`
	case llm.Codex:
		return `{"type":"turn.failed","error":{"message":` + string(quoted) + `}}`
	case llm.Gemini:
		return `{"error":{"type":"Error","message":` + string(quoted) + `}}`
	case llm.Copilot:
		return `{"type":"session.error","data":{"message":` + string(quoted) + `}}`
	}
	return `{"type":"error","error":{"data":{"message":` + string(quoted) + `}}}`
}

// What each program is started with: the whole list, so that a change of it is seen.
var presets = map[string]struct {
	args  []string // of a run with the model M; ANSWER is the file of the answer
	small string   // the model without a setting
	files []string
	env   []string
}{
	llm.Claude: {
		args: []string{
			"-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--settings", `{"disableAllHooks":true}`, "--safe-mode",
			"--disable-slash-commands", "--system-prompt", "Do what the message says.", "--no-session-persistence", "--model", "M",
		}, small: "haiku",
	},
	llm.Codex: {
		args: []string{
			"exec", "--sandbox", "read-only", "--skip-git-repo-check", "--ephemeral", "--json", "--output-last-message", "ANSWER",
			"-c", "features.shell_tool=false", "-c", "features.unified_exec=false", "-c", "features.hooks=false", "-c", "features.plugins=false",
			"-c", "features.apps=false", "-c", "features.multi_agent=false", "-c", "features.memories=false", "-c", "features.view_image=false",
			"-c", "features.image_generation=false", "-c", "project_doc_max_bytes=0", "-c", `model_reasoning_effort="low"`,
			"-c", `web_search="disabled"`, "-c", `approval_policy="never"`, "--model", "M", "-",
		}, small: "gpt-6-luna",
	},
	llm.Gemini: {
		args:  []string{"--output-format", "json", "--extensions", "none", "--model", "M"},
		small: "flash-lite", files: []string{".gemini"}, env: []string{"GEMINI_CLI_TRUST_WORKSPACE=true"},
	},
	llm.Copilot: {
		args: []string{
			"-s", "--available-tools", "none", "--disable-builtin-mcps", "--no-custom-instructions", "--no-ask-user", "--no-remote-export",
			"--no-auto-update", "--output-format", "json", "--stream", "off", "--model", "M",
		}, small: "gpt-5-mini",
	},
	llm.OpenCode: {
		args: []string{"run", "--pure", "--agent", "writer", "--title", "anamnesis", "--format", "json", "--model", "M"},
		env:  []string{"OPENCODE_DISABLE_PROJECT_CONFIG=1"},
	},
}

func TestPresets(t *testing.T) {
	for provider, want := range presets {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			c, saw := agentCommand(t, provider, "good", "M", long, nil)
			p := llm.Prompt{System: safe(t, "You are terse.")[0], User: safe(t, "What is this?")[0]}
			if text, err := c.Generate(t.Context(), p); err != nil || text != "a fine answer" {
				t.Fatalf("%q, %v", text, err)
			}
			s := saw()
			if i := slices.Index(s.Args, "--output-last-message"); i >= 0 {
				s.Args[i+1] = "ANSWER"
			}
			if d := cmp.Diff(want.args, s.Args); d != "" {
				t.Errorf("arguments (-want +got):\n%s", d)
			}
			if d := cmp.Diff(want.files, s.Files); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
			if s.Stdin != "You are terse.\n\nWhat is this?\n" {
				t.Errorf("standard input %q", s.Stdin)
			}
			for _, kv := range append([]string{"ANAMNESIS_DISABLED=1"}, want.env...) {
				if !slices.Contains(s.Env, kv) {
					t.Errorf("no %s", kv)
				}
			}
			for setting, model := range map[string]string{"": want.small, llm.OwnModel: "", "big": "big"} {
				c, saw := agentCommand(t, provider, "good", setting, long, nil)
				if _, err := c.Generate(t.Context(), p); err != nil {
					t.Fatal(err)
				}
				got := ""
				args := saw().Args
				if i := slices.Index(args, "--model"); i >= 0 {
					got = args[i+1]
				}
				if got != model {
					t.Errorf("with reflection.model=%q it is asked for the model %q, want %q", setting, got, model)
				}
			}
		})
	}
}

// A program that has no model of the name we chose is asked with its own; one that a
// setting names is never replaced.
func TestPresetWithoutOurModel(t *testing.T) {
	for provider, want := range presets {
		if want.small == "" {
			continue
		}
		c, _ := agentCommand(t, provider, "newer", "", long, nil)
		text, err := c.Generate(t.Context(), llm.Prompt{User: safe(t, "x")[0]})
		if err != nil || text != "from its own model" || c.Name() != provider+"/"+llm.OwnModel {
			t.Errorf("%s: %q from %s, %v", provider, text, c.Name(), err)
		}
		c, _ = agentCommand(t, provider, "newer", "mine", long, nil)
		if text, err := c.Generate(t.Context(), llm.Prompt{User: safe(t, "x")[0]}); err == nil || !strings.Contains(err.Error(), `"mine"`) {
			t.Errorf("%s: %q, %v", provider, text, err)
		}
	}
}

func TestPresetRefusals(t *testing.T) {
	for provider := range presets {
		for how, want := range map[string]string{"login": "Please run /login", "quota": "rate limit", "no model": "tiny-x does not exist"} {
			c, _ := agentCommand(t, provider, how, "tiny-x", long, nil)
			text, err := c.Generate(t.Context(), llm.Prompt{User: safe(t, "x")[0]})
			var failed *exec.ExitError
			if text != "" || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), provider+"/tiny-x") || !errors.As(err, &failed) {
				t.Errorf("%s, %s: %q, %v", provider, how, text, err)
			}
		}
		c, _ := agentCommand(t, provider, "hang", "", 0.1, nil)
		if _, err := c.Generate(t.Context(), llm.Prompt{User: safe(t, "x")[0]}); err == nil || !strings.Contains(err.Error(), "no answer within") {
			t.Errorf("%s hangs: %v", provider, err)
		}
	}
}

// Gemini CLI takes what it may do from a file in its folder.
func TestGeminiSettings(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "gemini")
	copied := filepath.Join(dir, "settings")
	storetest.WriteProgram(t, script, "#!/bin/sh\ncat .gemini/settings.json > "+copied+"\necho '{\"response\":\"x\"}'\n")
	c, err := llm.NewCommand(llm.GeneratorOptions{Provider: llm.Gemini, Command: script, Timeout: long}, os.Environ(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Generate(t.Context(), llm.Prompt{User: safe(t, "x")[0]}); err != nil {
		t.Skipf("no shell: %v", err)
	}
	var got struct {
		HooksConfig struct{ Enabled *bool }
		Tools       struct{ Core []string }
		MCP         struct{ Allowed []string }
	}
	data, _ := os.ReadFile(copied)
	if err := json.Unmarshal(data, &got); err != nil || got.HooksConfig.Enabled == nil || *got.HooksConfig.Enabled ||
		!slices.Equal(got.Tools.Core, []string{"none"}) || !slices.Equal(got.MCP.Allowed, []string{"none"}) {
		t.Errorf("%s: %+v, %v", data, got, err)
	}
}
