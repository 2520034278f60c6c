package agent_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
)

// transcript is about size bytes of a session as it is: mostly what tools returned.
func transcript(size int) []byte {
	code := strings.Repeat(`\tif err := s.write(ctx, \"note\", id); err != nil {\n\t\treturn fmt.Errorf(\"write %s: %w\", id, err)\n\t}\n`, 60)
	stamp := `,"sessionId":"s1","cwd":"/src","gitBranch":"main","version":"2.1.0","timestamp":"2026-01-01T00:00:00.123Z"`
	var out bytes.Buffer
	for i := 0; out.Len() < size; i++ {
		for _, line := range []string{
			user(`"please go on with the next file"`, stamp),
			assistant(`[{"type":"thinking","thinking":"`+code[:1200]+`","signature":"`+strings.Repeat("QUJD", 200)+`"}]`, stamp),
			assistant(`[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/src/a.go"}}]`, stamp),
			user(`[{"type":"tool_result","tool_use_id":"t1","content":"`+code+`"}]`, `,"toolUseResult":{"file":{"filePath":"/src/a.go","content":"`+code+`"}}`, stamp),
			assistant(`[{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"/src/a.go","old_string":"`+code[:800]+`","new_string":"`+code[:900]+`"}}]`, stamp),
			user(`[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]`, `,"toolUseResult":{"originalFile":"`+code+`"}`, stamp),
			`{"type":"progress","data":{"type":"hook_progress"}` + stamp + `}`,
			assistant(`[{"type":"text","text":"The error is wrapped now and the test passes.\n\nNext comes `+"`b.go`"+`."}]`, stamp),
		} {
			out.WriteString(line + "\n")
		}
	}
	return out.Bytes()
}

func BenchmarkReadSession(b *testing.B) {
	data := transcript(8 << 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (agent.Claude{}).ReadSession(bytes.NewReader(data), agent.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGlance2MB(b *testing.B) {
	data := transcript(8 << 20)
	b.ReportAllocs()
	for b.Loop() {
		g, err := agent.Claude{}.Peek(bytes.NewReader(data), int64(len(data)), 0, 0, time.Time{})
		if err != nil || lastOutcome(g.Dialogue) == "" || len(g.FilesTouched) == 0 {
			b.Fatal(err, g)
		}
	}
}

func BenchmarkReadEvent(b *testing.B) {
	const payload = `{"session_id":"s1","transcript_path":"/t.jsonl","cwd":"/src","hook_event_name":"Stop"}`
	for b.Loop() {
		if _, err := agent.ReadEvent(agent.Default(), io.MultiReader(strings.NewReader(payload)), 0, 0); err != nil {
			b.Fatal(err)
		}
	}
}
