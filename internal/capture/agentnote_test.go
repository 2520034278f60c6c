package capture_test

import (
	"fmt"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// A note of an agent becomes the user's word when the quote was typed before. One that only the
// agent vouches for stays when the session shows something of it, and is archived when it does
// not: what the agent says in its note shows nothing.
func TestAgentNotes(t *testing.T) {
	r := newRoom(t)
	rec := capture.New(r.store, r.ingester, r.redactor, capture.Options{MachineID: "box", Learn: true})
	wrote := func(title, quote string) (note.ID, string) {
		t.Helper()
		out, err := r.ingester.Admit(t.Context(), ingest.Draft{By: ingest.Agent, Here: "app", Note: &note.Note{
			Type: note.Semantic, Project: "app", Title: title, Provenance: note.Provenance{Source: note.Agent, Confidence: 0.8, Session: "s1"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		use := fmt.Sprintf(`{"type":"assistant","sessionId":"s1","cwd":"/src/app","timestamp":"2026-05-01T10:00:09Z","message":{"role":"assistant","content":[`+
			`{"type":"tool_use","id":%q,"name":"mcp__anamnesis__memory_write","input":{"title":%q,"quote":%q,"command":"run parseSeat"}}]}}`+"\n", "w-"+title, title, quote)
		result := fmt.Sprintf(`{"type":"user","sessionId":"s1","timestamp":"2026-05-01T10:00:09Z","message":{"role":"user","content":[`+
			`{"type":"tool_result","tool_use_id":%q,"content":%q}]}}`+"\n", "w-"+title, fmt.Sprintf(`{"outcome":"created","id":%q}`, out.Note.ID))
		return out.Note.ID, use + result
	}
	said, one := wrote("Lock the row in parseRow", "lock the row before you read it")
	shown, two := wrote("parseHall reads the hall in hall/read.go", "")
	invented, three := wrote("parseSeat holds a lock on the seat", "you said that it holds a lock")
	var b strings.Builder
	b.WriteString(user(1, "fix the import") + assistant(2, "Done.") + user(3, "no, lock the row before you read it"))
	b.WriteString(edit(4, "Edit", "file_path", "/src/app/hall/read.go") + one + two + three)
	if _, err := rec.Capture(t.Context(), capture.Request{
		Harness: agent.Default(), Transcript: r.file("s1.jsonl", b.String()), Source: "session-end", Project: "app",
	}); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[note.ID]string{said: note.User, shown: note.Agent, invented: "archived"} {
		ref, err := r.store.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		n, _, _, err := r.store.Read(ref.Path)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Status; got != "archived" && n.Provenance.Source != want || got == "archived" && got != want {
			t.Errorf("%q: status %q, source %s, want %s", n.Title, got, n.Provenance.Source, want)
		}
		if id == said && (len(n.Evidence) != 1 || !strings.Contains(n.Evidence[0].Quote, "lock the row")) {
			t.Errorf("the words of the user: %+v", n.Evidence)
		}
	}
}
