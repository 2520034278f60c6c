package agent_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/agent"
)

func TestReadEvent(t *testing.T) {
	const start = `{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/src","hook_event_name":"SessionStart","source":"resume"}`
	whole := agent.Event{Harness: "claude", Name: "SessionStart", SessionID: "s1", TranscriptPath: "/t.jsonl", Dir: "/src", Source: "resume"}
	for _, tt := range []struct {
		name, in string
		want     agent.Event
		fails    bool
	}{
		{"whole", start, whole, false},
		{"byte order mark and white space", "\xef\xbb\xbf\n" + start + "\r\n", whole, false},
		{"unknown members", start[:len(start)-1] + `,"x":{"cwd":"/no"},"cwd2":1}`, whole, false},
		{"bad values", `{"session_id":"../x","transcript_path":"t.jsonl","cwd":"/a\u0000b","hook_event_name":"a b","source":{},"reason":7}`, agent.Event{Harness: "claude"}, false},
		{"long id", `{"session_id":"` + strings.Repeat("x", 129) + `"}`, agent.Event{Harness: "claude"}, false},
		{"Windows", `{"transcript_path":"C:\\t.jsonl","cwd":"\\\\host\\share"}`, agent.Event{Harness: "claude", TranscriptPath: `C:\t.jsonl`, Dir: `\\host\share`}, false},
		{"prompt", `{"prompt":" a\n<!-- anamnesis:begin -->b<!-- anamnesis:end -->"}`, agent.Event{Harness: "claude", Prompt: "a"}, false},
		{
			"tool", `{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":[1],"agent_type":"Explore","stop_hook_active":true,"trigger":"auto"}`,
			agent.Event{Harness: "claude", ToolName: "Bash", ToolInput: []byte(`{"command":"ls"}`), SubagentType: "Explore", Trigger: "auto"},
			false,
		},
		{"failure", `{"error":"Exit code 1\nb\u0000<!-- anamnesis:begin -->c<!-- anamnesis:end -->"}`, agent.Event{Harness: "claude", Failure: "Exit code 1\nb"}, false},
		{"failure that is no text", `{"error":{"message":"x"}}`, agent.Event{Harness: "claude"}, false},
		{"cut off", start[:len(start)-1], agent.Event{Harness: "claude"}, true},
		{"too long", start[:len(start)-1] + `,"tool_response":"` + strings.Repeat("x", 9000) + `"}`, whole, true},
	} {
		for _, r := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
			got, err := agent.ReadEvent(agent.Default(), r, 4096, 0)
			if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.fails {
				t.Errorf("%s: error %v (-want +got)\n%s", tt.name, err, diff)
			}
		}
	}
	if _, err := agent.ReadEvent(agent.Default(), strings.NewReader(""), 0, 0); !errors.Is(err, agent.ErrNoEvent) {
		t.Errorf("nothing: %v, want ErrNoEvent", err)
	}
	if e, err := agent.ReadEvent(agent.Default(), iotest.ErrReader(errors.New("pipe")), 0, 0); err == nil || e.Harness != "claude" {
		t.Errorf("failing reader: %v, %+v", err, e)
	}
}

// Of a long failure both ends are kept, in valid UTF-8.
func TestLongFailure(t *testing.T) {
	in := `{"error":"begin` + strings.Repeat("é", 200<<10) + `end"}`
	e, err := agent.ReadEvent(agent.Default(), strings.NewReader(in), 1<<20, 0)
	if err != nil || len(e.Failure) > 66<<10 || !strings.HasPrefix(e.Failure, "begin") || !strings.HasSuffix(e.Failure, "end") || !utf8.ValidString(e.Failure) {
		t.Errorf("%d bytes, %v", len(e.Failure), err)
	}
}

// A writer that stops in the middle and keeps its end open must not hold us.
func TestReadEventTimeout(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	go func() { _, _ = io.WriteString(w, `{"session_id":"s1","cwd":"/src","prompt":"never en`) }()
	begin := time.Now()
	e, err := agent.ReadEvent(agent.Default(), r, 0, 3*time.Second)
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %v", took)
	}
	if err == nil || e.SessionID != "s1" || e.Dir != "/src" || e.Prompt != "" {
		t.Errorf("%v, %+v", err, e)
	}
}

func TestClaudeReply(t *testing.T) {
	const answer = `{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":%s}}` + "\n"
	for _, tt := range []struct{ event, text, want string }{
		{"SessionStart", "a <b>\n", "a <b>\n"},
		{"SessionStart", "a", "a\n"},
		{"SessionStart", " {x", fmt.Sprintf(answer, "SessionStart", `" {x"`)},
		{"", "{x", "{x\n"},
		{"UserPromptSubmit", "a <b> & \"c\"\n", fmt.Sprintf(answer, "UserPromptSubmit", `"a <b> & \"c\"\n"`)},
		{"SubagentStart", "a", fmt.Sprintf(answer, "SubagentStart", `"a"`)},
		{"SessionEnd", "a", ""},
		{"PreCompact", "a", ""},
		{"Stop", "a", ""},
		{"SessionStart", " \n", ""},
		{"UserPromptSubmit", "", ""},
	} {
		if got := (agent.Claude{}).Reply(agent.Event{Name: tt.event}, tt.text); string(got) != tt.want {
			t.Errorf("%s: reply to %q is %q, want %q", tt.event, tt.text, got, tt.want)
		}
	}
}
