package capture_test

import (
	"fmt"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	words "anamnesis/internal/session" // session is a line of a transcript here
)

// TestRewind holds that what the user took back is kept word for word, with a mark, and teaches nothing.
func TestRewind(t *testing.T) {
	r := newRoom(t)
	kept := words.New(r.store, words.Options{Keep: true})
	r.Recorder = capture.New(r.store, r.ingester, r.redactor, capture.Options{MachineID: "box", Learn: true}).Keeping(kept)
	line := func(id, parent, role, text string) string {
		content := fmt.Sprintf("%q", text)
		if role == "assistant" {
			content = `[{"type":"text","text":` + content + `},{"type":"tool_use","id":"t` + id + `","name":"Edit","input":{"file_path":"/src/app/` + id + `.go"}}]`
		}
		return fmt.Sprintf(`{"parentUuid":%q,"isSidechain":false,"type":%q,"uuid":%q,"sessionId":"s1","cwd":"/src/app","timestamp":"2026-05-01T10:00:00Z","message":{"role":%q,"content":%s}}`+"\n",
			parent, role, id, role, content)
	}
	first := line("u1", "", "user", "Move the invoices to the ledger") + line("a1", "u1", "assistant", "The invoices are in the ledger.")
	gone := line("u2", "a1", "user", "remember: money is always a float64") + line("a2", "u2", "assistant", "Floats it is.")
	after := line("u3", "a1", "user", "remember: money is always int64 cents") + line("a3", "u3", "assistant", "Cents it is.")
	c := r.capture(first + gone + after)
	if c.Kept != nil || c.Learnt != 1 {
		t.Fatalf("%+v: %d learnt, want 1", c.Kept, c.Learnt)
	}
	h := words.Head{Session: "s1", Agent: agent.Default().Name}
	_, all, err := kept.Read(h.Key())
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %d exchanges", err, len(all))
	}
	for i, e := range all {
		if want := i == 1; e.TakenBack != want || strings.Contains(e.Text(), "taken back by the user") != want || e.N != i+1 {
			t.Errorf("exchange %d, %q: taken back %v", e.N, e.Ask, e.TakenBack)
		}
	}
	if got := c.Outcome.Note.Body; strings.Contains(got, "a2.go") || strings.Contains(got, "Floats") || !strings.Contains(got, "a3.go") {
		t.Errorf("the note of the session: %s", got)
	}
}
