package cli

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"anamnesis/internal/llm/llmtest"
)

// A driven agent is a released client and how the tests run it.
type driven struct {
	name     string // as init knows it
	variable string // ANAMNESIS_TEST_…
	npm, bin string
	files    func(m *machine) map[string]string // its settings before init, below the home folder
	env      func(m *machine) []string
	args     func(prompt string) []string
	resume   func(prompt string) []string // of the last session
	stdin    bool                         // the prompt goes to standard input
	shell    string                       // the tool of a shell, and the name of its argument
	command  string
	search   string // our tool of MCP
	answers  string // to the questions of init, when its hooks have to be approved
	program  bool   // its records tell that a program asked, so that nothing is the user's word
}

// agents are those that a released client is there of, besides the usual one.
var agents = []driven{
	{
		name: "codex", variable: "CODEX", npm: "@openai/codex", bin: "codex", program: true,
		files: func(m *machine) map[string]string {
			return map[string]string{".codex/config.toml": `# mine
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "` + m.model.URL + `/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[features]
apps = false
`}
		},
		env: func(*machine) []string { return []string{"SCRIPTED_KEY=x"} },
		args: func(prompt string) []string {
			return []string{"exec", "--", prompt}
		},
		resume: func(prompt string) []string {
			return []string{"exec", "resume", "--last", "--", prompt}
		},
		shell: "exec_command", command: "cmd", search: "mcp__anamnesis/memory_search",
		answers: "\n\nyes\n", // no remote, no reader, and our hooks are approved
	},
	{
		name: "gemini", variable: "GEMINI", npm: "@google/gemini-cli", bin: "gemini",
		files: func(*machine) map[string]string {
			return map[string]string{".gemini/settings.json": "{\n  // mine\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}\n}\n"}
		},
		env: func(m *machine) []string {
			return []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + m.model.URL, "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
		args: func(prompt string) []string {
			return []string{"-m", "gemini-2.5-flash", "--yolo", "-p", prompt}
		},
		resume: func(prompt string) []string {
			return []string{"-m", "gemini-2.5-flash", "--yolo", "--resume", "latest", "-p", prompt}
		},
		shell: "run_shell_command", command: "command", search: "mcp_anamnesis_memory_search",
	},
	{
		name: "copilot", variable: "COPILOT", npm: "@github/copilot", bin: "copilot",
		files: func(*machine) map[string]string {
			return map[string]string{".copilot/mcp-config.json": "{\n  \"mcpServers\": {}\n}\n"}
		},
		env: func(m *machine) []string {
			return []string{
				"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + m.model.URL + "/v1", "COPILOT_MODEL=scripted", "COPILOT_AUTO_UPDATE=false",
			}
		},
		args:   func(prompt string) []string { return []string{"--allow-all-tools", "-p", prompt} },
		resume: func(prompt string) []string { return []string{"--continue", "--allow-all-tools", "-p", prompt} },
		shell:  "bash", command: "command", search: "anamnesis-memory_search",
	},
	{
		name: "opencode", variable: "OPENCODE", npm: "opencode-ai", bin: "opencode", stdin: true,
		files: func(m *machine) map[string]string {
			return map[string]string{".config/opencode/opencode.json": `{
  "$schema": "https://opencode.ai/config.json", // it puts that there itself
  "model": "scripted/scripted",
  "permission": "allow",
  "provider": {"scripted": {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": "` + m.model.URL + `/v1", "apiKey": "x"},
    "models": {"scripted": {"tool_call": true, "limit": {"context": 128000, "output": 8000}}},
  }},
}
`}
		},
		env:    func(*machine) []string { return []string{"OPENCODE_DISABLE_MODELS_FETCH=1"} },
		args:   func(string) []string { return []string{"run"} },
		resume: func(string) []string { return []string{"run", "--continue"} },
		shell:  "bash", command: "command", search: "anamnesis_memory_search",
	},
}

// notes returns the notes of sessions, for a failure to show.
func (m *machine) notes() (all string) {
	files, _ := filepath.Glob(filepath.Join(m.home, ".anamnesis", "memory", "episodic", "*.md"))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		all += string(data) + "\n"
	}
	return all
}

// becomes waits for the note of a session that holds a text, and returns it.
func (m *machine) becomes(text string) string {
	m.t.Helper()
	defer func() {
		if m.noteWith(text) == "" {
			m.t.Logf("the notes are:\n%.6000s", m.notes())
		}
	}()
	m.eventually("a session to become a note with "+text, func() bool { return m.noteWith(text) != "" })
	return m.noteWith(text)
}

// noteWith returns the note of a session that holds a text, "" when there is none.
func (m *machine) noteWith(text string) string {
	m.t.Helper()
	files, _ := filepath.Glob(filepath.Join(m.home, ".anamnesis", "memory", "episodic", "*.md"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), text) {
			return string(data)
		}
	}
	return ""
}

// TestAgents drives the released clients of other agents, connected by init: each is shown
// a note at its start and at a prompt, asks our server, and its session becomes a note.
// What was corrected in one is shown to the next.
func TestAgents(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the clients are driven on Unix")
	}
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			client, program := aClient(t, a.variable, a.npm, a.bin)
			m := newMachine(t, llmtest.NewScripted(t), client, program)
			m.env = a.env(m)
			before := a.files(m)
			for name, text := range before {
				file := filepath.Join(m.home, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("client %s", m.run(client, "--version"))
			a.drive(t, m, before)
		})
	}
}

func (a driven) drive(t *testing.T, m *machine, before map[string]string) {
	m.has("init", m.ours("init", "--yes", "--no-sync", "--machine-id", "testbox", "--agent", a.name), a.name+": ", "server")
	if a.answers != "" {
		ctx, cancel := context.WithTimeout(t.Context(), clientWait)
		defer cancel()
		cmd := m.command(ctx, m.program, "init", "--no-sync", "--machine-id", "testbox", "--agent", a.name)
		cmd.Stdin = strings.NewReader(a.answers)
		out, err := cmd.CombinedOutput()
		m.has("init", string(out), a.name+": approved 9 hooks in")
		m.lacks("init", string(out), "does not run our hooks yet")
		m.lacks("agents", m.ours("agents"), "not approved its hooks")
		if err != nil {
			t.Fatal(err)
		}
		a.update(m)
	}
	m.ours("add", "--type", "procedural", "--title", "Regenerate gRPC clients after editing payments.proto", "--body", "Run make proto-gen.")
	t.Run("a session is told, asks and becomes a note", func(t *testing.T) {
		m.t = t
		m.model.Forget()
		out := a.run(m, a.args, `Order 48213 is off by one cent, please fix the rounding.
@tool `+a.shell+` {"`+a.command+`":"touch rounded"}
@tool `+a.search+` {"query":"regenerate clients"}
@say Fixed: VAT is rounded per line, half up.`)
		m.has("the answer", out, "rounded per line")
		m.has("what the model read", m.model.Requests(), "anamnesis:begin", "Regenerate gRPC clients", "% of the question")
		m.has("the note", m.becomes("VAT is rounded per line"), "Order 48213 is off by one cent", "**Outcome:** Fixed")
	})
	if a.name == "codex" {
		t.Run("tools that read or propose are called without a question", func(t *testing.T) {
			m.t = t
			m.model.Forget()
			// With this setting Codex asks before each tool, and a run without a terminal takes that for a no.
			m.run(m.client, "exec", "-c", `mcp_servers.anamnesis.default_tools_approval_mode="prompt"`, "-c", `sandbox_mode="read-only"`, "--", `What do we know?
@tool `+a.search+` {"query":"regenerate clients"}
@tool `+strings.Replace(a.search, "search", "forget", 1)+` {"id":"01M8DKN00QWTEGWAV4FMV208FP"}
@say Nothing more.`)
			m.has("what the model read", m.model.Requests(), "% of the question")
			m.lacks("what the model read", m.model.Requests(), "there is no note 01M8DKN00QWTEGWAV4FMV208FP")
		})
	}
	t.Run("a command in the shell of the agent is the agent's", func(t *testing.T) {
		m.t = t
		program := "anamnesis" // Copilot refuses paths outside the project
		if a.name == "codex" { // whose shell sets its own PATH
			program = m.program
		}
		m.agentAdds(program, a.shell, a.command, func(prompt string) { a.run(m, a.args, prompt) })
	})
	if a.name == "codex" {
		t.Run("what a sub-agent found is kept with its session", func(t *testing.T) {
			m.t = t
			a.run(m, a.args, `Hand it on.
@tool multi_agent_v1/spawn_agent {"message":"Which colour has the banner of the shop?\n@say The banner of the shop is teal."}
@tool multi_agent_v1/wait_agent {"timeout_ms":20000}
@say The banner is as it was.`)
			m.eventually("the report of the sub-agent to be found", func() bool {
				return strings.Contains(m.ours("search", "--sessions", "--json", "which colour has the banner of the shop"), "(asked of a sub-agent) Which colour")
			})
			m.lacks("the sessions", m.ours("sessions"), "Which colour has the banner")
		})
	}
	t.Run("a prompt is told what it is about", func(t *testing.T) {
		m.t = t
		m.ours("config", "set", "inject.page.max_tokens", "1") // no line of it at the start
		defer m.ours("config", "set", "inject.page.max_tokens", "1500")
		m.model.Forget()
		a.run(m, a.args, "I edited payments.proto, how do I regenerate the gRPC clients?\n@say Run make proto-gen.")
		m.has("what the model read", m.model.Requests(), "Memory for this prompt", "Run make proto-gen")
	})
	t.Run("a correction is written by the agent and injected into the next session of another", func(t *testing.T) {
		m.t = t
		a.run(m, a.args, "The search index is stale after a deploy.\n@say Run make reindex by hand after a deploy.")
		m.model.Forget()
		a.run(m, a.resume, `No, never run it by hand. The deploy script has to call make reindex.
@tool `+strings.Replace(a.search, "memory_search", "memory_write", 1)+` {"type":"semantic","title":"Let the deploy script rebuild the index","body":"",`+
			`"why":"It was forgotten by hand.","quote":"The deploy script has to call make reindex"}
@say The deploy script calls make reindex now.`)
		m.becomes("No, never run it by hand.")
		const quoted = "“The deploy script has to call make reindex”"
		if a.program {
			m.lacks("the inbox", m.ours("review"), quoted)
		} else {
			m.eventually("the rule to be the user's word", func() bool { return strings.Contains(m.ours("review"), quoted) })
		}
		m.model.Forget()
		a.run(m, a.args, "What is next?\n@say Nothing that I know of.")
		m.has("what the next session is told", m.model.Requests(), a.writtenRule())
		a.tellClaude(t, m)
	})
	if !a.program { // runs of a program are handed nothing
		t.Run("what no agent kept is read at the next start", func(t *testing.T) {
			m.t = t
			a.unread(m)
		})
	}
	t.Run("uninstall leaves nothing", func(t *testing.T) {
		m.t = t
		m.ours("uninstall")
		for name, text := range before {
			data, err := os.ReadFile(filepath.Join(m.home, name))
			if err != nil || string(data) != text {
				t.Errorf("%s is %q, %v", name, data, err)
			}
		}
		left := m.run("grep", "-rlI", "ANAMNESIS_HOOK", m.home, "--include=*.json", "--include=*.toml", "--include=*.js", "--include=*.bak",
			"--exclude-dir=.anamnesis", "--exclude-dir=sessions", "--exclude-dir=session-state", "--exclude-dir=logs")
		if left != "" {
			t.Errorf("uninstall left something of ours in\n%s", left)
		}
	})
}

// update puts another program in the place of ours, as an upgrade does. The agent goes on running the hooks that were approved,
// and init has nothing to change.
func (a driven) update(m *machine) {
	m.t.Helper()
	old, err := os.ReadFile(m.program)
	if err == nil {
		err = os.WriteFile(m.program+".new", append(old, "another build"...), 0o700)
	}
	if err == nil {
		err = os.Rename(m.program+".new", m.program)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.has("doctor after an update", m.ours("doctor", "--only", "trust", "--all"), "runs 9 hooks of ours")
	again := m.ours("init", "--yes", "--no-sync", "--machine-id", "testbox", "--agent", a.name)
	m.has("init after an update", again, a.name+": unchanged")
	m.lacks("init after an update", again, a.name+": changed", a.name+": created")
	m.has("doctor after init", m.ours("doctor", "--only", "trust", "--all"), "runs 9 hooks of ours")
}

// run runs a session of one prompt.
func (a driven) run(m *machine, args func(prompt string) []string, prompt string) string {
	m.t.Helper()
	if !a.stdin {
		return m.run(m.client, args(prompt)...)
	}
	file := filepath.Join(m.t.TempDir(), "prompt")
	if err := os.WriteFile(file, []byte(prompt), 0o600); err != nil {
		m.t.Fatal(err)
	}
	words := append([]string{"-c", `f=$1; shift; exec "$@" <"$f"`, "sh", file, m.client}, args(prompt)...)
	return m.run("/bin/sh", words...)
}

// unread corrects an agent that keeps nothing. The next session is shown the words, and what it makes of them is on the page of the
// one after it.
func (a driven) unread(m *machine) {
	m.t.Helper()
	a.run(m, a.args, "Add validation to the cart.\n@say I added zod with npm.")
	a.run(m, a.resume, "No, we use pnpm here, never npm\n@say That is done now.")
	m.becomes("we use pnpm here, never npm")
	m.model.Forget()
	a.run(m, a.args, "Sort the cart by price.\n@say It is sorted by price.")
	shown := m.model.Requests()
	m.has("what the next session is shown", shown, "## Unread: your user's messages", "we use pnpm here, never npm")
	lease := regexp.MustCompile(`\(s-[0-9a-f]{6}\)`).FindString(shown)
	m.model.Forget()
	a.run(m, a.resume, "And by name.\n@tool "+strings.Replace(a.search, "memory_search", "memory_learn", 1)+` {"session":"`+strings.Trim(lease, "()")+
		`","items":[{"title":"Use pnpm for packages here","quote":"we use pnpm here, never npm","self_contained":true}]}
@say It is sorted by name, too.`)
	m.has("the answer of the tool", m.model.Requests(), "1 of 1 kept")
	m.model.Forget()
	a.run(m, a.args, "Print the cart.\n@say The cart is printed.")
	page := m.model.Requests()
	from, _, _ := strings.Cut(page[max(0, strings.Index(page, "## From your user")):], "## How to use it")
	m.has("what the session after that is shown as the user's word", from, "we use pnpm here, never npm")
}

// writtenRule is the line of the rule that the scripted agent writes.
func (a driven) writtenRule() string {
	if a.program {
		return "- Let the deploy script rebuild the index (an agent's note) — It was forgotten by hand."
	}
	return "- The deploy script has to call make reindex"
}

// tellClaude lets the usual agent, if its client is there, be shown what another was
// corrected in.
func (a driven) tellClaude(t *testing.T, m *machine) {
	client := os.Getenv("ANAMNESIS_TEST_CLAUDE")
	if client == "" {
		return
	}
	other := *m
	other.client = client
	other.has("init", other.ours("init", "--yes", "--no-sync", "--agent", "claude"), "hooks: installed")
	m.model.Forget()
	other.claude("-p", "--", "What is next?\n@say Nothing that I know of.")
	m.has("what Claude Code is told", m.model.Requests(), a.writtenRule())
	for request := range strings.Lines(m.model.Requests()) {
		if n := strings.Count(request, a.writtenRule()); n > 1 {
			t.Errorf("a request holds the rule %d times", n)
		}
	}
}
