package agent_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
)

// An agent that keeps its end of the pipe open after the event is not waited for, however
// the event is cut into pieces and whatever stands in its strings.
func TestReadEventOfAnOpenPipe(t *testing.T) {
	payload := `{"session_id":"s1","tool_name":"Write","hook_event_name":"PostToolUse","tool_input":{"content":"if x {}\n}]\\"},` +
		`"list":[{"a":"}"},[]],"cwd":"/x"}` + "\n "
	for _, size := range []int{1, 2, 3, 7, len(payload)} {
		r, w := io.Pipe()
		go func() {
			for rest := payload; rest != ""; {
				n := min(size, len(rest))
				_, _ = w.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
		}()
		e, err := agent.ReadEvent(agent.Default(), r, 0, time.Minute)
		if err != nil || e.SessionID != "s1" || e.Dir != "/x" || e.ToolName != "Write" {
			t.Errorf("in pieces of %d: %+v, %v", size, e, err)
		}
		_ = r.Close()
	}
}

// An event of many braces is looked at as a whole once, not at each piece.
func BenchmarkReadLargeEvent(b *testing.B) {
	payload := `{"session_id":"s","cwd":"/x","tool_input":{"content":"` + strings.Repeat(`func f() { g(\"}\") }\n}`, 200_000) + `"}}`
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		r, w := io.Pipe()
		go func() {
			_, _ = io.Copy(w, strings.NewReader(payload))
			_ = w.Close()
		}()
		if _, err := agent.ReadEvent(agent.Default(), r, 16<<20, time.Minute); err != nil {
			b.Fatal(err)
		}
		_ = r.Close()
	}
}

// An event above the limit is refused, however slowly it comes.
func TestLongEvent(t *testing.T) {
	_, err := agent.ReadEvent(agent.Default(), strings.NewReader(`{"a":"`+strings.Repeat("x", 16<<20)), 16<<20, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "longer than 16777216 bytes") {
		t.Errorf("an event of more than 16 MiB: %v", err)
	}
}
