package agent_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"anamnesis/internal/agent"
)

func readFixture(t *testing.T, name string) *agent.Session {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "claude", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	s, err := agent.Claude{}.ReadSession(f, agent.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, lines ...string) *agent.Session {
	t.Helper()
	s, err := agent.Claude{}.ReadSession(strings.NewReader(strings.Join(lines, "\n")), agent.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClaudeFixtures(t *testing.T) {
	for _, tt := range []struct {
		file, id, dir, branch, version string
		first, last                    string
		prompts, files, summaries      []string
		tools                          string
		skipped                        agent.Skipped
	}{
		{
			file: "v1-hang.jsonl", id: "2f1c7b90-0a3e-4d55-9b7d-6f0e1c2d3a41",
			dir: "/home/lin/src/parser", branch: "main", version: "1.0.64",
			first: "The parser hangs on an unterminated string. Where does it loop?",
			last:  "The loop in str() never checked for the end of input. It does now, and go vet is clean.",
			prompts: []string{
				"The parser hangs on an unterminated string. Where does it loop?",
				"always run go vet before you say you are done",
				"Leave the notebook alone, please.\nDoes `<command-name>` appear in a grammar?",
			},
			files:     []string{"/home/lin/src/parser/lex.go", "/home/lin/src/parser/bench.ipynb"},
			summaries: []string{"Lexer rewritten with a state table"},
			tools:     "Read MultiEdit NotebookEdit!",
			skipped:   agent.Skipped{Meta: 1},
		},
		{
			file: "v2-retry.jsonl", id: "b4f8e2d6-5c71-4a0e-8f39-2d6a7c1e9b05",
			dir: "/home/lin/src/queue", branch: "retry/backoff", version: "2.1.14",
			first: "The retry policy gives up too early, see the graph.",
			last:  "Jitter is in, the cap is unchanged. `retry.go` reads well otherwise.",
			prompts: []string{
				"The retry policy gives up too early, see the graph.",
				"no, don't touch the cap, add jitter instead",
			},
			files:   []string{"/home/lin/src/queue/retry.go"},
			tools:   "Edit",
			skipped: agent.Skipped{Other: 7, Sidechain: 2, Meta: 4, Duplicate: 1},
		},
		{
			file: "v2-clear.jsonl", id: "7d3a9c10-4b2e-4f68-8a17-3e5d0f9b6c22",
			dir: "/home/lin/src/queue", branch: "main", version: "2.1.14",
			first: "/clear",
		},
		{
			file: "v2-echo.jsonl", id: "91be5f37-c0d4-4a86-b2f1-6a7e8d9c0b13",
			dir: "/home/lin/src/queue", branch: "main", version: "2.1.14",
		},
	} {
		t.Run(tt.file, func(t *testing.T) {
			s := readFixture(t, tt.file)
			for _, f := range []struct{ name, got, want string }{
				{"ID", s.ID, tt.id},
				{"Dir", s.Dir, tt.dir},
				{"Branch", s.Branch, tt.branch},
				{"Version", s.Version, tt.version},
				{"FirstPrompt", s.FirstPrompt(), tt.first},
				{"LastOutcome", lastOutcome(s.Dialogue()), tt.last},
				{"tools", strings.Join(toolNames(s), " "), tt.tools},
			} {
				if f.got != f.want {
					t.Errorf("%s = %q, want %q", f.name, f.got, f.want)
				}
			}
			got := [][]string{s.Prompts(), s.FilesTouched(), s.Summaries}
			want := [][]string{tt.prompts, tt.files, tt.summaries}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("prompts, files, summaries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.skipped, s.Skipped); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
		})
	}
}

// toolNames lists the tools in order, a failed one with an exclamation mark.
func toolNames(s *agent.Session) (out []string) {
	for _, turn := range s.Turns {
		for _, u := range turn.Tools {
			name := u.Name
			if u.Error {
				name += "!"
			}
			out = append(out, name)
		}
	}
	return out
}

func TestClaudeToolUse(t *testing.T) {
	s := readFixture(t, "v1-hang.jsonl")
	var uses []agent.ToolUse
	for _, turn := range s.Turns {
		uses = append(uses, turn.Tools...)
	}
	if got, want := uses[0].Result, "1\tpackage parser\n2\t\n3\tfunc (l *lexer) str() {\n"; got != want {
		t.Errorf("result = %q, want %q without the reminder", got, want)
	}
	if uses[0].Path != "" {
		t.Errorf("a file that was only read is listed as edited: %q", uses[0].Path)
	}
	if got, want := string(uses[1].Input), `{"file_path":"/home/lin/src/parser/lex.go","edits":[{"old_string":"for {","new_string":"for !l.eof() {"}]}`; got != want {
		t.Errorf("input = %s, want %s", got, want)
	}
	if !uses[2].Error || !strings.Contains(uses[2].Result, "rejected") {
		t.Errorf("rejected use = %+v", uses[2])
	}
}

// user is a record of a user who said content, a JSON value.
func user(content string, more ...string) string {
	return `{"type":"user","message":{"role":"user","content":` + content + `}` + strings.Join(more, "") + `}`
}

func assistant(content string, more ...string) string {
	return `{"type":"assistant","message":{"role":"assistant","content":` + content + `}` + strings.Join(more, "") + `}`
}

func TestClaudePrompts(t *testing.T) {
	for _, tt := range []struct{ name, content, text, command string }{
		{"string", `"hello"`, "hello", ""},
		{"blocks", `[{"type":"text","text":"a"},{"type":"image"},"b",7,null,{"type":"text","text":3},{"type":"text","text":"c"}]`, "a\nb\nc", ""},
		{"white space", `" \n "`, "", ""},
		{"command", `"<command-name>/clear</command-name>\n  <command-message>clear</command-message>\n  <command-args></command-args>"`, "/clear", "/clear"},
		{"command without slash", `"<command-name>clear</command-name>"`, "/clear", "/clear"},
		{"command with arguments", `"<command-message>fix is running…</command-message>\n<command-name>/fix</command-name>\n<command-args>issue 7</command-args>"`, "/fix issue 7", "/fix"},
		{"command and its expansion", `[{"type":"text","text":"<command-name>/fix</command-name>"},{"type":"text","text":"Fix the issue."}]`, "/fix", "/fix"},
		{"bare command", `"/clear"`, "/clear", "/clear"},
		{"plugin command", `"/tools:run"`, "/tools:run", "/tools:run"},
		{"path", `"/etc/hosts"`, "/etc/hosts", ""},
		{"command output", `"<local-command-stdout>Set model</local-command-stdout>"`, "", ""},
		{"caveat", `"Caveat: The messages below were generated by the user while running local commands. DO NOT respond."`, "", ""},
		{"caveat before a command", `"Caveat: The messages below were generated by the user while running local commands.<command-name>/model</command-name>"`, "/model", "/model"},
		{"caveat before words", `"Caveat: The messages below were generated by the user while running local commands.\nhello"`, "hello", ""},
		{"reminder before", `"<system-reminder>\nx\n</system-reminder>\nhello"`, "hello", ""},
		{"reminder between", `"a\n<system-reminder>x</system-reminder>\nb"`, "a\n\nb", ""},
		{"reminder without end", `"hello\n<system-reminder>x"`, "hello", ""},
		{"reminder in a sentence", `"what is a <system-reminder>x</system-reminder>?"`, "what is a <system-reminder>x</system-reminder>?", ""},
		{"command in a sentence", `"what is <command-name>/x</command-name>?"`, "what is <command-name>/x</command-name>?", ""},
		{"command after words", `"see this:\n<command-name>/x</command-name>"`, "see this:\n<command-name>/x</command-name>", ""},
		{"other elements", `"<b>bold</b> < 3\n<div>\nx <y"`, "<b>bold</b> < 3\n<div>\nx <y", ""},
		{"shell", `"<bash-input>ls</bash-input><bash-stdout>a</bash-stdout>"`, "", ""},
		{"memory", `"<user-memory-input>use tabs</user-memory-input>"`, "use tabs", ""},
		{"continued", `"This session is being continued from a previous conversation that ran out of context."`, "", ""},
		{"injected", `"<!-- anamnesis:begin -->\nx\n<!-- anamnesis:end -->"`, "", ""},
		{"injected, no end", `[{"type":"text","text":"<!-- anamnesis:begin -->\nx"},{"type":"text","text":"y"}]`, "y", ""},
		{"no content", `null`, "", ""},
		{"object", `{"type":"text","text":"x"}`, "", ""},
		{"surrogates", `"\ud83d\ude00 \ud83d x"`, "😀 \ufffd x", ""},
		{"invalid UTF-8", "\"caf\xe9\"", "caf\ufffd", ""},
	} {
		s := read(t, user(tt.content))
		var got agent.Turn
		if len(s.Turns) > 0 {
			got = s.Turns[0]
		}
		if got.Text != tt.text || got.Command != tt.command {
			t.Errorf("%s: text %q, command %q; want %q, %q", tt.name, got.Text, got.Command, tt.text, tt.command)
		}
		if human := tt.text != "" && tt.command == ""; got.Human() != human {
			t.Errorf("%s: Human() = %v", tt.name, got.Human())
		}
	}
}

func TestFirstPrompt(t *testing.T) {
	model := user(`"<command-name>/model</command-name><command-args>opus</command-args>"`)
	fix := user(`"<command-name>/fix</command-name><command-args>7</command-args>"`)
	clearing := user(`"<command-name>/clear</command-name>"`)
	answer := assistant(`[{"type":"text","text":"done"}]`)
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"nothing", nil, ""},
		{"answer only", []string{answer}, ""},
		{"a setting before the prompt", []string{model, user(`"go on"`), answer}, "go on"},
		{"clear before the prompt", []string{clearing, user(`"go on"`)}, "go on"},
		{"a command that is a prompt", []string{clearing, fix, answer, user(`"thanks"`)}, "/fix 7"},
		{"commands only", []string{clearing, model}, "/clear"},
		{"interrupted", []string{user(`[{"type":"text","text":"[Request interrupted by user]"}]`), user(`"go"`)}, "go"},
	} {
		if got := read(t, tt.lines...).FirstPrompt(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestClaudeDamage(t *testing.T) {
	hello, bye := user(`"hello"`, `,"uuid":"u1"`), assistant(`[{"type":"text","text":"bye"}]`)
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, tt := range []struct {
		name  string
		input string
		turns int
		want  agent.Skipped
	}{
		{"empty", "", 0, agent.Skipped{}},
		{"byte order mark", "\xef\xbb\xbf" + hello + "\n" + bye + "\n", 2, agent.Skipped{}},
		{"CRLF", hello + "\r\n\r\n" + bye + "\r\n", 2, agent.Skipped{Blank: 1}},
		{"NUL", "\x00\x00" + hello + "\n\x00\x00\n" + bye + "\x00\n", 2, agent.Skipped{NotJSON: 2}},
		{"CR alone is no line end", hello + "\r" + bye + "\n", 0, agent.Skipped{NotJSON: 1}},
		{"U+2028 is no line end", user("\"a\u2028b\u0085c\"") + "\n" + bye, 2, agent.Skipped{}},
		{"garbage", "\x89PNG\r\n\x1a\n\xff\xfe\x00\n" + hello + "\n{]\n", 1, agent.Skipped{NotJSON: 4}},
		{"no objects", "42\n[1]\n\"x\"\nnull\ntrue\n" + hello, 1, agent.Skipped{NotObject: 5}},
		{"half-written end", hello + "\n" + bye[:len(bye)-2], 1, agent.Skipped{Partial: 1}},
		{"no newline at the end", hello + "\n" + bye, 2, agent.Skipped{}},
		{"too deep", `{"type":"user","x":` + deep + "}\n" + hello, 1, agent.Skipped{NotJSON: 1}},
		{"twice", hello + "\n" + hello + "\n" + bye + "\n", 2, agent.Skipped{Duplicate: 1}},
		{"broken, then whole", `{"type":"user","uuid":"u1","message":"x"}` + "\n" + hello, 1, agent.Skipped{Other: 1}},
		{"foreign types", `{"type":"progress"}` + "\n{}\n" + `{"type":7}` + "\n" + `{"type":"user","message":null}`, 0, agent.Skipped{Other: 4}},
		{"meta", user(`"x"`, `,"isMeta":true`) + "\n" + user(`"x"`, `,"isMeta":false`), 1, agent.Skipped{Meta: 1}},
		{"orphan", user(`[{"type":"tool_result","tool_use_id":"t","content":"x"}]`), 0, agent.Skipped{Orphan: 1}},
		{"long line", hello + "\n" + strings.Repeat("x", 70_000) + "\n" + bye + "\n", 2, agent.Skipped{Oversized: 1}},
		{"long last line", hello + "\n" + strings.Repeat("x", 70_000), 1, agent.Skipped{Partial: 1}},
	} {
		s, err := agent.Claude{}.ReadSession(strings.NewReader(tt.input), agent.Limits{Line: 66_000})
		if tt.name == "too deep" {
			s, err = agent.Claude{}.ReadSession(strings.NewReader(tt.input), agent.Limits{})
		}
		if err != nil || len(s.Turns) != tt.turns {
			t.Errorf("%s: %d turns, %v; want %d", tt.name, len(s.Turns), err, tt.turns)
		}
		if diff := cmp.Diff(tt.want, s.Skipped); diff != "" {
			t.Errorf("%s: skipped (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestClaudeFacts(t *testing.T) {
	s := read(t,
		`{"type":"summary","summary":" s ","timestamp":"yesterday","sessionId":"../../etc/passwd","cwd":"relative","gitBranch":"--upload-pack=x"}`,
		`{"type":"summary","timestamp":"0001-01-01T00:00:00Z","sessionId":7,"cwd":"/a\u0000b","gitBranch":"HEAD"}`,
		`{"type":"x","timestamp":"2026-01-02T03:04:05.678+01:00","sessionId":"one","cwd":"C:\\src","gitBranch":"a\nb","version":"2.0"}`,
		`{"type":"x","timestamp":"2026-01-02T03:05:05Z","sessionId":"two","cwd":"/src","gitBranch":"main"}`,
		`{"type":"x","sessionId":"one"}`, `{"type":"x","sessionId":"two"}`,
	)
	want := agent.Session{
		ID: "one", Also: []string{"two"}, Dir: `C:\src`, Branch: "main", Version: "2.0", Summaries: []string{"s"},
		Started: time.Date(2026, 1, 2, 2, 4, 5, 678e6, time.UTC), Ended: time.Date(2026, 1, 2, 3, 5, 5, 0, time.UTC),
	}
	opts := cmp.Options{cmpopts.IgnoreUnexported(agent.Session{}), cmpopts.IgnoreFields(agent.Session{}, "Skipped", "Next")}
	if diff := cmp.Diff(&want, s, opts); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
}

// A transcript can be read in stretches: each begins where the last one ended.
func TestClaudeStretches(t *testing.T) {
	data, err := os.ReadFile("testdata/claude/v2-retry.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	whole := readFixture(t, "v2-retry.jsonl")
	var prompts []string
	var next int64
	for cut := 100; cut < len(data)+1000; cut += 1000 {
		stretch := data[next:min(cut, len(data))]
		s, err := agent.Claude{}.ReadSession(bytes.NewReader(stretch), agent.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range s.Turns {
			if line, _, _ := bytes.Cut(stretch[turn.Offset:], []byte("\n")); !bytes.Contains(line, []byte(turn.UUID)) {
				t.Fatalf("offset %d is not where turn %s stands", turn.Offset, turn.UUID)
			}
		}
		prompts = append(prompts, s.Prompts()...)
		next += s.Next
	}
	if diff := cmp.Diff(whole.Prompts(), prompts); diff != "" || next != int64(len(data)) {
		t.Errorf("read to %d of %d (-whole +stretches):\n%s", next, len(data), diff)
	}
}
