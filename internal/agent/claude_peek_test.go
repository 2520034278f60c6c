package agent_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
)

func peek(t testing.TB, data string, head, tail int64) *agent.PeekResult {
	t.Helper()
	g, err := agent.Claude{}.Peek(strings.NewReader(data), int64(len(data)), head, tail, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const common = `,"sessionId":"s1","cwd":"/src","gitBranch":"main","version":"2.1.0","timestamp":"2026-01-01T00:00:%02dZ"`

// TestGlanceSeesWhatReadSessionSees generates transcripts and compares. Their times are in order: of others
// only who reads all of them knows which are damaged.
func TestGlanceSeesWhatReadSessionSees(t *testing.T) {
	stamp := func(i int) string { return fmt.Sprintf(common, i) }
	lines := []func(i int) string{
		func(i int) string { return user(fmt.Sprintf(`"prompt %d"`, i), stamp(i)) },
		func(int) string { return user(`"no facts"`) },
		func(i int) string {
			return user(`"<command-name>/fix</command-name><command-args>x</command-args>"`, stamp(i))
		},
		func(i int) string { return user(`"side"`, stamp(i), `,"isSidechain":true`) },
		func(i int) string { return assistant(fmt.Sprintf(`[{"type":"text","text":"answer %d"}]`, i), stamp(i)) },
		func(i int) string {
			return assistant(`[{"type":"text","text":"side"}]`, stamp(i), `,"isSidechain":true`)
		},
		func(i int) string { return assistant(`[{"type":"text","text":" "}]`, stamp(i)) },
		func(i int) string { return assistant(`[{"type":"thinking","thinking":"x"}]`, stamp(i)) },
		func(i int) string {
			return assistant(fmt.Sprintf(`[{"type":"text","text":"editing"},{"type":"tool_use","id":"a%d","name":"Edit","input":{"file_path":"/f%d"}},`+
				`{"type":"tool_use","id":"b%d","name":"NotebookEdit","input":{"notebook_path":"/n%d"}},{"type":"tool_use","name":"Read","input":{"file_path":"/r"}}]`, i, i%3, i, i%2), stamp(i))
		},
		func(i int) string {
			return user(`[{"type":"tool_result","content":"{\"type\":\"assistant\",\"text\":\"file_path\"}"}]`, stamp(i))
		},
		func(int) string { return "" },
		func(int) string { return "{broken" },
		func(int) string { return `{"type":"summary","summary":"\"assistant\" \"text\""}` },
		func(i int) string { return `{"type":"ai-title","aiTitle":"title ` + strconv.Itoa(i) + `"}` },
		func(i int) string { return user(`"headless"`, stamp(i), `,"entrypoint":"sdk-cli"`) },
		func(i int) string {
			return assistant(`[{"type":"text","text":"API Error: 529"}]`, stamp(i), `,"isApiErrorMessage":true`)
		},
		func(i int) string { return user(`"typed"`, stamp(i), `,"entrypoint":"cli"`) },
		func(i int) string { return user(`"again"`, stamp(i), `,"uuid":"u`+strconv.Itoa(i%3)+`"`) },
		func(i int) string {
			return user(`[{"type":"tool_result","tool_use_id":"x","content":"no"},{"type":"text","text":"[Request interrupted by user for tool use]"}]`, stamp(i))
		},
		func(i int) string {
			return `{"type":"attachment","attachment":{"type":"queued_command","prompt":"no, the other one"}` + stamp(i) + `}`
		},
		func(i int) string {
			return `{"type":"progress","data":"` + strings.Repeat("x", 3000) + `"` + stamp(i) + `}`
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		picks := rapid.SliceOfN(rapid.IntRange(0, len(lines)-1), 0, 60).Draw(t, "lines")
		var out []string
		for i, p := range picks {
			out = append(out, lines[p](i))
		}
		data := strings.Join(out, "\n") + rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end")
		s, err := agent.Claude{}.ReadSession(strings.NewReader(data), agent.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		g, err := agent.Claude{}.Peek(strings.NewReader(data), int64(len(data)), 0, 0, time.Time{})
		if err != nil || !g.Complete {
			t.Fatalf("%v, %+v", err, g)
		}
		if diff := cmp.Diff(agenttest.PeekResult(s), g, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-read +peek):\n%s\n%s", diff, data)
		}
	})
}

func TestGlanceWindow(t *testing.T) {
	begin := user(`"the question"`, fmt.Sprintf(common, 1)) + "\n" +
		assistant(`[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/early"}}]`) + "\n"
	noise := strings.Repeat(user(`[{"type":"tool_result","tool_use_id":"x","content":"`+strings.Repeat("y", 900)+`"}]`)+"\n", 100)
	end := assistant(`[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/late"}},{"type":"text","text":"the answer"}]`, fmt.Sprintf(common, 9), `,"entrypoint":"sdk-cli"`) + "\n"
	want := &agent.PeekResult{
		ID: "s1", Dir: "/src", Branch: "main", Version: "2.1.0",
		Started: time.Date(2026, 1, 1, 0, 0, 1, 0, time.UTC), Ended: time.Date(2026, 1, 1, 0, 0, 9, 0, time.UTC),
		FirstPrompt: "the question", FilesTouched: []string{"/late"}, Headless: true,
		Dialogue: []agent.Line{{Role: agent.Assistant, Text: "the answer", Tools: true}},
	}
	if diff := cmp.Diff(want, peek(t, begin+noise+end, 4096, 4096)); diff != "" {
		t.Errorf("a window at each end (-want +got):\n%s", diff)
	}
	want.Complete, want.FilesTouched = true, []string{"/early", "/late"}
	want.Dialogue = slices.Insert(want.Dialogue, 0, agent.Line{Role: agent.User, Text: "the question"}, agent.Line{Role: agent.Assistant, Tools: true})
	if diff := cmp.Diff(want, peek(t, begin+noise+end, 4096, 1<<20)); diff != "" {
		t.Errorf("everything in sight (-want +got):\n%s", diff)
	}

	// A first record that is longer than the head still tells where we are.
	image := `{"cwd":"/src","sessionId":"s1","gitBranch":"main","type":"user","message":{"content":[{"type":"image","data":"` + strings.Repeat("A", 9000) + `"}]}}` + "\n"
	g := peek(t, image+noise+end, 4096, 4096)
	if g.ID != "s1" || g.Dir != "/src" || g.Branch != "main" || lastOutcome(g.Dialogue) != "the answer" || g.Complete {
		t.Errorf("long first record: %+v", g)
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("disk") }

func TestGlanceErrors(t *testing.T) {
	if g, err := (agent.Claude{}).Peek(failing{}, 100, 0, 0, time.Time{}); err == nil || g == nil || g.Complete {
		t.Errorf("failing reader: %v, %+v", err, g)
	}
	// The file shrank after its size was taken.
	data := []byte(user(`"q"`) + "\n")
	g, err := agent.Claude{}.Peek(bytes.NewReader(data), 10_000, 0, 0, time.Time{})
	if err != nil || g.FirstPrompt != "q" || g.Complete {
		t.Errorf("shrunken file: %v, %+v", err, g)
	}
	for _, size := range []int64{0, -1} {
		if g, err := (agent.Claude{}).Peek(bytes.NewReader(nil), size, 0, 0, time.Time{}); err != nil || !g.Complete {
			t.Errorf("size %d: %v, %+v", size, err, g)
		}
	}
}
