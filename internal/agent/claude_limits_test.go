package agent_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"anamnesis/internal/agent"
)

func TestClaudeLimits(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("QUJD", 500)
	long := strings.Repeat("word ", 300)
	lines := user(`"`+long+`"`) + "\n" +
		assistant(`[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make","env":"`+long+`"}},
			{"type":"tool_use","id":"t2","name":"Write","input":{"file_path":"/f","content":"<!-- anamnesis:begin -->x<!-- anamnesis:end -->"}}]`)
	lines = strings.ReplaceAll(lines, "\n\t\t\t", "") + "\n" +
		user(`[{"type":"tool_result","tool_use_id":"t1","content":"ok\n`+strings.ReplaceAll(key, "\n", `\n`)+`"}]`)
	s, err := agent.Claude{}.ReadSession(strings.NewReader(lines), agent.Limits{Text: 12, Input: 200, Result: 1000})
	if err != nil || len(s.Turns) != 2 {
		t.Fatalf("%v, %+v", err, s)
	}
	if got, want := s.Turns[0].Text, "word word"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	use := s.Turns[1].Tools
	if got, want := string(use[0].Input), `{"command":"make","env":"(cut, 1502 bytes)"}`; got != want {
		t.Errorf("input = %s, want %s", got, want)
	}
	if got, want := use[0].Result, "ok"; got != want {
		t.Errorf("result = %q: half a private key is left", got)
	}
	if got, want := string(use[1].Input), `{"file_path":"/f","content":""}`; got != want {
		t.Errorf("input = %s, want %s", got, want)
	}

	first, _, _ := strings.Cut(lines, "\n")
	s, err = agent.Claude{}.ReadSession(strings.NewReader(lines), agent.Limits{Bytes: int64(len(first)) + 9})
	if err != nil || len(s.Turns) != 1 || s.Next != int64(len(first))+1 {
		t.Errorf("with a limit of bytes: %v, %d turns, next %d", err, len(s.Turns), s.Next)
	}
}

// generator makes a transcript of any length without holding it.
type generator struct {
	left, n int
	line    []byte
}

func (g *generator) Read(p []byte) (int, error) {
	if len(g.line) == 0 {
		if g.left <= 0 {
			return 0, io.EOF
		}
		g.n++
		pad := strings.Repeat("All work and no play. ", 180)
		switch g.n % 3 {
		case 0:
			g.line = fmt.Appendf(nil, `{"type":"user","uuid":"u%d","message":{"content":"question %d"}}`+"\n", g.n, g.n)
		case 1:
			g.line = fmt.Appendf(nil, `{"type":"assistant","uuid":"u%d","message":{"content":[{"type":"text","text":"%s"},{"type":"tool_use","id":"t%d","name":"Edit","input":{"file_path":"/f%d","new_string":"%s"}}]}}`+"\n", g.n, pad, g.n, g.n%50, pad)
		default:
			g.line = fmt.Appendf(nil, `{"type":"user","uuid":"u%d","toolUseResult":"%s","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}}`+"\n", g.n, pad, g.n-1, pad)
		}
		g.left -= len(g.line)
	}
	n := copy(p, g.line)
	g.line = g.line[n:]
	return n, nil
}

func TestClaudeBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 64 MB")
	}
	const total = 4 << 20
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := agent.Claude{}.ReadSession(&generator{left: 64 << 20}, agent.Limits{Total: total})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > 3*total {
		t.Errorf("holds %d MB after a transcript of 64 MB with a limit of %d MB", held>>20, total>>20)
	}
	if sys := int64(after.HeapSys) - int64(before.HeapSys); sys > 48<<20 {
		t.Errorf("the heap grew by %d MB", sys>>20)
	}
	if s.Skipped.Dropped == 0 || s.FirstPrompt() != "question 3" || len(s.FilesTouched()) != 50 {
		t.Errorf("dropped %d, first prompt %q, %d files", s.Skipped.Dropped, s.FirstPrompt(), len(s.FilesTouched()))
	}
	last := s.Turns[len(s.Turns)-1]
	if want := fmt.Sprintf("question %d", 3*(sessionRecords(s)/3)); last.Role == agent.User && last.Text != want {
		t.Errorf("last prompt %q, want %q", last.Text, want)
	}
	runtime.KeepAlive(s)
}

// sessionRecords is the number of the last record, which its uuid tells.
func sessionRecords(s *agent.Session) (n int) {
	_, _ = fmt.Sscanf(s.Turns[len(s.Turns)-1].UUID, "u%d", &n)
	return n
}

// A line without an end must not be held.
func TestClaudeEndlessLine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	endless := io.LimitReader(zeros{}, 256<<20)
	s, err := agent.Claude{}.ReadSession(endless, agent.Limits{Line: 1 << 20})
	runtime.ReadMemStats(&after)
	if err != nil || s.Skipped.Partial != 1 {
		t.Errorf("%v, %+v", err, s.Skipped)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16<<20 {
		t.Errorf("allocated %d MB", grown>>20)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
