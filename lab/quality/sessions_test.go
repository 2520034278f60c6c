package quality_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"anamnesis/internal/note"
	"anamnesis/lab/quality"
)

// What the report counts: questions by half, what is found and what is printed of it, errors, nonsense.
func TestSessionsReport(t *testing.T) {
	text := ""
	line := func(role, content string) {
		text += fmt.Sprintf(`{"type":%q,"sessionId":"one","uuid":"u%d","timestamp":"2026-05-01T10:00:00Z","message":{"role":%q,"content":%s}}`+"\n",
			role, len(text), role, content)
	}
	line("user", `[{"type":"text","text":"test it"}]`)
	line("assistant", `[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"go test ./pay"}}]`)
	line("user", `[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"vat.go:3: undefined: roundHalf"}]`)
	line("assistant", `[{"type":"tool_use","id":"t2","name":"Edit","input":{"file_path":"/a/round.go"}},{"type":"tool_use","id":"t3","name":"Bash","input":{"command":"go test ./pay"}}]`)
	line("user", `[{"type":"tool_result","tool_use_id":"t3","content":"ok  pay"}]`)
	all, err := quality.ReadLabelled(fstest.MapFS{
		"labels.jsonl": {Data: []byte(`{"kind":"question","session":"a+b/one.jsonl","question":"why","key":"round.?half"}
{"kind":"question","session":"a+b/one.jsonl","question":"where","key":"nowhere"}`)},
		"a+b/one.jsonl": {Data: []byte(text)},
	})
	if err != nil || len(all) != 1 || len(all[0].Questions) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	open := func(context.Context, string) (*quality.SessionBox, error) {
		return &quality.SessionBox{
			Capture: func(context.Context, string, string, string) (*note.Note, error) {
				return &note.Note{Title: "fix it", Body: "four"}, nil
			},
			Index: func(context.Context) error { return nil },
			Kept:  func() (int64, error) { return int64(len(text) / 10), nil },
			Close: func() {},
			Search: func(_ context.Context, question, project string) (quality.SessionFound, error) {
				f := quality.SessionFound{}
				if question == "why" && project == "a/b" {
					f = quality.SessionFound{Printed: []string{"something"}, Whole: []string{quality.OfExchange("roundHalf was removed")}}
				}
				return f, nil
			},
			Fix: func(_ context.Context, text, _ string) ([]quality.SessionFix, error) {
				if strings.Contains(text, ":3:") || !strings.Contains(text, "roundHalf") {
					t.Errorf("the error is asked for as %q: its numbers should differ and nothing else", text)
				}
				return []quality.SessionFix{{Session: "one", Exchange: 1}}, nil
			},
		}, nil
	}
	rep, err := quality.Sessions(t.Context(), all, open, nil)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Questions[0] != 1 || rep.Answered[0] != 1 || rep.Printed[0] != 0 || rep.Questions[1] != 1 || rep.Answered[1] != 0 {
		t.Errorf("questions %v, answered %v, printed %v", rep.Questions, rep.Answered, rep.Printed)
	}
	if rep.Errors != 1 || rep.Fixed != 1 || rep.Fooled != 0 || rep.Nonsense == 0 || rep.Body != 4 || rep.Empty != 1 || rep.Kept < .05 || rep.Kept > .15 {
		t.Errorf("%+v", rep)
	}
}
