package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/llm/llmtest"
)

// A machine is a home folder with a real Claude Code and our program, and a model
// on loopback that answers what the prompt scripts.
type machine struct {
	t               *testing.T
	model           *llmtest.Scripted
	client, program string
	home, project   string
	env             []string // besides what every command gets

	refused *atomic.Bool                      // what the person pressed ended the turn
	press   func(screen string) (keys string) // what the person in a terminal presses, by what was written there so far; nil for nothing
}

// clientWait is how long something may take that comes at once on an idle machine.
const clientWait = 2 * time.Minute

// theClient returns the released client that the tests drive, and our program, built
// where init accepts it. ANAMNESIS_TEST_CLAUDE names the client: nobody's own is
// started because it happens to be on the PATH.
func theClient(t *testing.T) (client, program string) {
	t.Helper()
	return aClient(t, "CLAUDE", "@anthropic-ai/claude-code", "claude")
}

// aClient is theClient for any agent: ANAMNESIS_TEST_NAME names its program, which an npm
// package installs.
func aClient(t *testing.T, name, npm, bin string) (client, program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a real client takes its time")
	}
	name = "ANAMNESIS_TEST_" + name
	client = os.Getenv(name)
	if client == "" {
		if os.Getenv("ANAMNESIS_CI") != "" {
			t.Fatalf("%s does not name a program of %s", name, npm)
		}
		t.Skipf("no real client: npm install --prefix DIR %s, then %s=DIR/node_modules/.bin/%s", npm, name, bin)
	}
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	// Not below a temporary folder: init refuses a program that goes away.
	dir := filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), fmt.Sprintf("anamnesis-%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program = filepath.Join(dir, "anamnesis")
	childReads(t, "../../main.go", "../../go.mod")
	build := exec.Command("go", "build", "-o", program, "../..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return client, program
}

// childReads opens files of the repository that a child of the test reads, and those of
// folders. Go's test cache knows only the files that the test opened.
func childReads(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				_, err = os.ReadFile(name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func newMachine(t *testing.T, model *llmtest.Scripted, client, program string) *machine {
	t.Helper()
	m := &machine{t: t, model: model, client: client, program: program, home: t.TempDir()}
	m.project = filepath.Join(m.home, "src", "storefront")
	if err := os.MkdirAll(m.project, 0o700); err != nil {
		t.Fatal(err)
	}
	m.git("init", "-q", "-b", "main")
	m.git("remote", "add", "origin", "git@github.com:acme/storefront.git")
	m.git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "begin")
	// What the client's first run would ask a person.
	m.write(".claude.json", map[string]any{
		"hasCompletedOnboarding": true,
		"customApiKeyResponses":  map[string]any{"approved": []string{"-for-the-test-server"}, "rejected": []string{}},
		"projects":               map[string]any{m.project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	t.Cleanup(m.rest)
	return m
}

// rest waits until nobody writes into the home folder any more: the client's children
// outlive it, and both they and the drain leave work to background runs.
func (m *machine) rest() {
	idle := func() {
		if left := waitForChildren(m.home, idleTime); len(left) > 0 {
			m.t.Errorf("processes outlived the client: %v", left)
		}
	}
	idle()
	m.eventually("the background runs to end", func() bool { return strings.Contains(m.ours("drain"), " left;") })
	idle()
}

func (m *machine) write(name string, v any) {
	m.t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(m.home, name), data, 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) git(args ...string) {
	m.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = m.project
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// command makes a child that knows nothing of this process's environment.
func (m *machine) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = m.project
	cmd.Env = append([]string{
		"HOME=" + m.home, "PATH=" + filepath.Dir(m.client) + ":" + filepath.Dir(m.program) + ":" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=xterm",
		"ANTHROPIC_BASE_URL=" + m.model.URL, "ANTHROPIC_API_KEY=dummy-key-for-the-test-server", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "ANAMNESIS_PATIENCE=100",
	}, m.env...)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs a command to its end and returns what it printed, whatever its exit code.
func (m *machine) run(name string, args ...string) string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), 5*time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd := m.command(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); ctx.Err() != nil {
		m.t.Fatalf("%s %q: %v\n%s", filepath.Base(name), args, err, out.String())
	}
	return out.String()
}

// ours runs our program, claude the client.
func (m *machine) ours(args ...string) string {
	m.t.Helper()
	// Cleanups run when the context of the test has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.t.Context()), 5*time.Minute)
	defer cancel()
	cmd := m.command(ctx, m.program, args...)
	if slices.Contains([]string{"add", "review", "slot"}, args[0]) { // what a person writes comes from a terminal
		defer m.attend(cmd)()
	}
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func (m *machine) claude(args ...string) string { m.t.Helper(); return m.run(m.client, args...) }

// session has a program run a session with an id, and waits until it was captured.
func (m *machine) session(id, prompt string, args ...string) string {
	m.t.Helper()
	before := m.captured(id)
	out := m.claude(append([]string{"-p", "--session-id", id}, append(args, "--", prompt)...)...)
	m.eventually("session "+id+" to be captured", func() bool { return m.captured(id) > before })
	return out
}

// record returns what the client wrote of a session, "" if there is no such session.
func (m *machine) record(id string) string {
	files, _ := filepath.Glob(filepath.Join(m.home, ".claude", "projects", "*", id+".jsonl"))
	if len(files) == 0 {
		return ""
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		m.t.Fatal(err)
	}
	return string(data)
}

// captured counts how often a session was captured, trivial or not.
func (m *machine) captured(id string) (n int) {
	files, _ := filepath.Glob(filepath.Join(m.home, ".anamnesis", "events", "*.jsonl"))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, `"kind":"capture"`) && strings.Contains(line, id) {
				n++
			}
		}
	}
	return n
}

// note returns the note of a session, "" when there is none.
func (m *machine) note(id string) string {
	m.t.Helper()
	found := ""
	files, _ := filepath.Glob(filepath.Join(m.home, ".anamnesis", "memory", "episodic", "*.md"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "prov_session: "+id) {
			if found != "" {
				m.t.Errorf("session %s is two notes", id)
			}
			found = string(data)
		}
	}
	return found
}

func (m *machine) eventually(what string, cond func() bool) {
	m.t.Helper()
	for began := time.Now(); !cond(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > clientWait {
			m.t.Fatalf("waited %v for %s\n%s", clientWait, what, m.ours("tail", "-n", "20"))
		}
	}
}

// has and lacks check texts.
func (m *machine) has(what, text string, parts ...string) {
	m.t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			m.t.Errorf("%s lacks %q:\n%.4000s", what, p, text)
		}
	}
}

func (m *machine) lacks(what, text string, parts ...string) {
	m.t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			m.t.Errorf("%s holds %q:\n%.4000s", what, p, text)
		}
	}
}

// injected is how the client hands our block to its model.
const injected = `SessionStart hook additional context: [anamnesis:begin]`

// TestClient drives the released Claude Code, connected by init.
func TestClient(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is driven on Unix")
	}
	client, program := theClient(t)
	model := llmtest.NewScripted(t)
	m := newMachine(t, model, client, program)
	settings := filepath.Join(m.home, ".claude", "settings.json")
	// Nothing that the client itself moves elsewhere and rewrites the file for.
	before := "{\n\t\"cleanupPeriodDays\": 30,\r\n  \"env\": {\"A\": \"1\"}   }"
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("client %s", m.claude("--version"))
	m.has("init", m.ours("init", "--yes", "--machine-id", "testbox"), "mcp: registered", "hooks: installed")
	m.ours("add", "--type", "procedural", "--title", "Regenerate gRPC clients after editing payments.proto", "--body", "Run make proto-gen.",
		"--when", "path:payments.proto")
	m.has("claude mcp list", m.claude("mcp", "list"), "anamnesis", "Connected")

	const tools = "Bash,Write,mcp__anamnesis__memory_search,mcp__anamnesis__memory_write"
	const first = "11111111-1111-4111-8111-111111111111"
	t.Run("a session is injected, asks, writes and becomes a note", func(t *testing.T) {
		m.t = t
		model.Forget()
		out := m.person(first, `Order 48213 is off by one cent, please fix the rounding.
@tool Bash {"command":"echo hi"}
@tool Write {"file_path":"`+m.project+`/vat.go","content":"package main\n"}
@tool mcp__anamnesis__memory_search {"query":"regenerate clients"}
@tool mcp__anamnesis__memory_write {"type":"semantic","title":"Money is int64 cents","body":"Since order 48213."}
@say Fixed: VAT is rounded per line, half up, in `+m.project+`/vat.go.`, "--allowedTools", tools)
		m.has("the answer", out, "rounded per line")
		m.has("what the model read", model.Requests(), injected, "holds 100 % of the question")
		m.has("the tools of the model", model.Requests(), `"name":"mcp__anamnesis__memory_write"`, `"name":"mcp__anamnesis__memory_get"`)
		m.has("the note", m.note(first), "title: Order 48213 is off by one cent", "vat.go\n", "**Outcome:** Fixed: VAT is rounded per line, half up, in vat.go.")
		m.lacks("the note", m.note(first), m.project)
		m.has("a note of the agent", m.ours("search", "--json", "money is int64 cents"), "Money is int64 cents", "github.com/acme/storefront")
	})
	t.Run("a session that goes on stays one note", func(t *testing.T) {
		m.t = t
		const id = "22222222-2222-4222-8222-222222222222"
		model.Forget()
		m.person(id, "The search index is stale after a deploy.\n@say The deploy never called reindex; always run make reindex after a deploy.")
		m.has("what the next session is told", model.Requests(), "- Done: Fixed: VAT is rounded")
		m.person(id, "No, never run it by hand. The deploy script has to call make reindex.\n@say The deploy script calls make reindex now, as its last step.")
		m.person(id, "Great, thanks!\n@say You're welcome!")
		m.has("the note", m.note(id), "**Said by the user:**\n", "- No, never run it by hand.", "**Outcome:** The deploy script calls make reindex now")
		m.lacks("the note", m.note(id), "**Outcome:** You're")
	})
	t.Run("a correction is written by the agent and injected into the next session", func(t *testing.T) {
		m.t = t
		const id, typed = "12121212-1212-4212-8212-121212121210", "no, we use pnpm here and never npm, the lockfile is the one of pnpm"
		m.person(id, "Install zod in the web package.\n@say I installed zod with npm.")
		model.Forget()
		m.person(id, `no, we use pnpm here and never npm, the lockfile is the one of pnpm
@tool mcp__anamnesis__memory_write {"type":"semantic","title":"Use pnpm, never npm","body":"","why":"The lockfile is the one of pnpm.",`+
			`"quote":"we use pnpm here and never npm","when":["cmd:npm"]}
@say Done with pnpm.`, "--allowedTools", tools)
		model.Forget()
		m.session("12121212-1212-4212-8212-121212121211", "Add vite to the project.\n@say I added vite with pnpm.")
		for request := range strings.Lines(model.Requests()) {
			if n := strings.Count(request, "- "+typed); n > 1 {
				t.Errorf("a request holds the rule %d times", n)
			}
		}
		m.has("what the next session is told", model.Requests(), "- "+typed)
		m.has("the inbox", m.ours("review"), "“"+typed+"”")
	})
	t.Run("a prompt is told what it is about, once", func(t *testing.T) {
		m.t = t
		m.ours("config", "set", "inject.page.max_tokens", "1") // no line of it at the start
		defer m.ours("config", "set", "inject.page.max_tokens", "1500")
		const id, block = "55555555-5555-4555-8555-555555555555", "# Memory for this prompt"
		model.Forget()
		m.session(id, "I edited payments.proto, how do I regenerate the gRPC clients?\n@say Run make proto-gen.")
		m.has("what the model read", model.Requests(), block, "Regenerate gRPC clients after editing", "Run make proto-gen")
		m.has("the explanation", m.ours("why", "--last"), "shown: 1 note", "Regenerate gRPC clients")
		for _, prompt := range []string{"Which command regenerates the gRPC clients of payments.proto?\n@say make proto-gen", "thanks"} {
			model.Forget()
			n := m.captured(id)
			m.claude("-p", "--resume", id, "--", prompt)
			m.eventually("the resumed session to be captured", func() bool { return m.captured(id) > n })
			for request := range strings.Lines(model.Requests()) {
				if n := strings.Count(request, block); n > 1 {
					t.Errorf("the conversation holds %d blocks after %q", n, prompt)
				}
			}
			m.has("the explanation", m.ours("why", "--last"), "shown: nothing")
		}
	})
	t.Run("a command in the shell of the agent is the agent's", func(t *testing.T) {
		m.t = t
		m.agentAdds("anamnesis", "Bash", "command", func(prompt string) { m.claude("-p", "--allowedTools", "Bash", "--", prompt) })
	})
	clientTools(t, m)
	t.Run("a compaction is followed by the page", func(t *testing.T) {
		m.t = t
		const id = "66666666-6666-4666-8666-666666666661"
		m.session(id, "Rename the tax table, please.\n@say The table has its new name.")
		m.claude("-p", "--resume", id, "--", "/compact")
		model.Forget()
		m.claude("-p", "--resume", id, "--", "What is next?\n@say Nothing that I know of.")
		last := ""
		for request := range strings.Lines(model.Requests()) {
			if strings.Contains(request, "What is next?") && len(request) > len(last) {
				last = request
			}
		}
		if n := strings.Count(last, "# Memory of github.com/acme/storefront"); n != 1 {
			t.Errorf("after the compaction the page is there %d times:\n%.6000s", n, last)
		}
	})
	t.Run("a prompt and a tool start no process", func(t *testing.T) {
		m.t = t
		data, err := os.ReadFile(settings)
		if err != nil {
			t.Fatal(err)
		}
		m.has("the settings", string(data), `"type": "mcp_tool"`, `"tool": "memory_hook"`)
		m.lacks("the settings", string(data), "hook claude UserPromptSubmit", "hook claude PreToolUse")
	})
	t.Run("a fork is told", func(t *testing.T) {
		m.t = t
		model.Forget()
		m.claude("-p", "--resume", first, "--fork-session", "--", "What else is open?\n@say Nothing that I know of.")
		m.has("what the model read", model.Requests(), "[anamnesis:begin]", "Regenerate gRPC clients")
	})
	t.Run("what is not worth a note", func(t *testing.T) {
		m.t = t
		m.ours("handoff", "leave", "--title", "Printer next", "--body", "see printer.go")
		for i, prompt := range []string{
			"Reply with exactly: ok\n@say ok", "Write a commit message\n@say chore: x", "/compact", "/usage", "Upgrade the linter to version 2.\n@fail 400",
			"hello there\n@say Hello! How can I help?",
		} {
			id := "33333333-3333-4333-8333-33333333333" + string(rune('0'+i))
			m.session(id, prompt)
			if got := m.note(id); got != "" {
				t.Errorf("%q became a note:\n%s", prompt, got)
			}
		}
		m.claude("mcp", "list")
		for line := range strings.Lines(m.ours("log", "tail", "-n", "200")) {
			m.lacks("a line of the event log", line, "FAILED")
		}
		m.has("the handoffs", m.ours("handoff", "list"), "Printer next")
	})
	t.Run("the session of a killed client is found", func(t *testing.T) {
		m.t = t
		const id = "44444444-4444-4444-8444-444444444444"
		ctx, kill := context.WithCancel(t.Context())
		defer kill()
		cmd := m.command(ctx, client, "-p", "--session-id", id, "--allowedTools", "Write", "--", `Begin with the printer driver.
@tool Write {"file_path":"`+m.project+`/printer.go","content":"package main\n"}
@tool Write {"file_path":"`+m.project+`/driver.go","content":"package main\n"}
@hang`)
		model.Forget()
		cmd.Cancel = func() error { return cmd.Process.Kill() }
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		m.eventually("the client to ask", func() bool { return strings.Contains(model.Requests(), "printer driver") })
		m.eventually("the client to write its transcript", func() bool {
			files, _ := filepath.Glob(filepath.Join(m.home, ".claude", "projects", "*", id+".jsonl"))
			if len(files) != 1 {
				return false
			}
			data, err := os.ReadFile(files[0])
			return err == nil && bytes.Contains(data, []byte("printer driver"))
		})
		kill()
		_ = cmd.Wait()
		m.eventually("the session to be found", func() bool {
			m.ours("--set", "capture.idle=1", "--set", "capture.headless=true", "drain")
			return m.captured(id) > 0
		})
		m.has("the note", m.note(id), "Begin with the printer driver.")
	})
	t.Run("uninstall leaves nothing", func(t *testing.T) {
		m.t = t
		m.ours("uninstall")
		if data, err := os.ReadFile(settings); err != nil || string(data) != before {
			t.Errorf("settings.json is %q, %v", data, err)
		}
		m.lacks("claude mcp list", m.claude("mcp", "list"), "anamnesis")
	})
}

// TestClientPlugin drives the released Claude Code with our plugin in it, in a
// separate configuration folder.
func TestClientPlugin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is driven on Unix")
	}
	client, program := theClient(t)
	model := llmtest.NewScripted(t)
	m := newMachine(t, model, client, program)
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	childReads(t, "../../plugin", "../../.claude-plugin")
	for _, dir := range []string{checkout, filepath.Join(checkout, "plugin")} {
		m.lacks("claude plugin validate", m.claude("plugin", "validate", "--strict", dir), "✘", "rror")
	}
	m.ours("add", "--type", "procedural", "--title", "Regenerate gRPC clients after editing payments.proto", "--body", "Run make proto-gen.")
	m.claude("plugin", "marketplace", "add", checkout)
	m.claude("plugin", "install", "anamnesis@anamnesis")

	const id = "55555555-5555-4555-8555-555555555555"
	m.session(id, `What does the memory say?
@tool mcp__plugin_anamnesis_anamnesis__memory_search {"query":"regenerate clients"}
@tool mcp__plugin_anamnesis_anamnesis__memory_forget {"id":"01M8DKN00QWTEGWAV4FMV208FP"}
@say Run make proto-gen.`)
	m.has("what the model read, without a question", model.Requests(), injected, "holds 100 % of the question")
	m.has("the record", m.record(id), "memory_forget, but you haven't granted it yet")
	m.has("the note", m.note(id), "What does the memory say?")

	const command = "66666666-6666-4666-8666-666666666666"
	m.lacks("the plugin's command", m.session(command, "/anamnesis:recall staging"), "Unknown")
	if got := m.note(command); got != "" {
		t.Errorf("a command of the plugin became a note:\n%s", got)
	}

	// doctor and init see the plugin and leave it alone.
	m.lacks("doctor", m.ours("doctor"), "1 wrong", "holds no hook of ours")
	m.ours("doctor", "--fix", "--yes")
	m.has("init", m.ours("init", "--yes"), "the plugin anamnesis@anamnesis brings them")
	if data, err := os.ReadFile(filepath.Join(m.home, ".claude", "settings.json")); err != nil || strings.Contains(string(data), "ANAMNESIS_HOOK") {
		t.Errorf("a second set of hooks was installed: %v\n%s", err, data)
	}
}

// TestClientFolder: with CLAUDE_CONFIG_DIR everything of the client stands elsewhere,
// and doctor looks there.
func TestClientFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is driven on Unix")
	}
	client, program := theClient(t)
	m := newMachine(t, llmtest.NewScripted(t), client, program)
	folder := filepath.Join(m.home, "elsewhere")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(m.home, ".claude.json"), filepath.Join(folder, ".claude.json")); err != nil {
		t.Fatal(err)
	}
	m.env = []string{"CLAUDE_CONFIG_DIR=" + folder}
	m.has("init", m.ours("init", "--yes"), "mcp: registered", folder)
	m.has("doctor", m.ours("doctor", "--all"), "registered for every project")
	const id = "77777777-7777-4777-8777-777777777777"
	m.session(id, "Make a plan for the release.\n@tool Bash {\"command\":\"echo hi\"}\n@say First the changelog, then the tag.", "--allowedTools", "Bash")
	m.has("the note", m.note(id), "First the changelog, then the tag.")
}
