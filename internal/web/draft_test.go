package web_test

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/store/storetest"
)

// draftAgainst leaves a draft that contradicts a note.
func draftAgainst(t *testing.T, s *site, id, against string) {
	t.Helper()
	r := other(t, s)
	err := storetest.Writer(r.Store).Hold(&note.Note{
		ID: note.ID(id), Type: note.Semantic, Scope: note.Portable, Project: note.Global, Title: "Indent with spaces", Body: "Use two spaces.",
		MachineID: "box", CreatedAt: "2026-01-01T00:00:00+00:00", UpdatedAt: "2026-01-01T00:00:00+00:00", ConflictOf: note.ID(against),
		Provenance: note.Provenance{Source: note.Learning, Confidence: 0.7},
		Evidence:   []note.Evidence{{Session: "claude/s1", Chunk: "0000000000000000", Quote: "no, use spaces <b>"}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A draft that contradicts a note shows both sides, and one choice decides for both.
func TestReviewSides(t *testing.T) {
	for _, tc := range []struct {
		choice, said   string
		old, new, what string // what each is afterwards
	}{
		{"retire", "takes the place of the other", "superseded", "live", "the other is retired"},
		{"keep", "is a note now", "live", "live", "both stay"},
		{"reject", "does not come back on its own", "live", "", "the draft is rejected"},
	} {
		s := serve(t, nil)
		s.enter()
		old := s.add("Indent with tabs", "Use tabs.")
		draft := "01JZZZZZZZZZZZZZZZZZZZZZD1"
		draftAgainst(t, s, draft, old)
		page := s.page("/review")
		for _, want := range []string{"It contradicts what stands", "Use tabs.", "Use two spaces.", "no, use spaces &lt;b&gt;", `value="retire"`} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page lacks %q", tc.what, want)
			}
		}
		code, to, text := s.post("/review/draft/"+draft, "choice", tc.choice)
		if code != 303 {
			t.Fatalf("%s: %d %s", tc.what, code, text)
		}
		if page := s.page(to); !strings.Contains(page, tc.said) {
			t.Errorf("%s: the page does not say %q", tc.what, tc.said)
		}
		for id, want := range map[string]string{old: tc.old, draft: tc.new} {
			if want == "" {
				if page := s.page("/review"); strings.Contains(page, id) {
					t.Errorf("%s: it waits again", tc.what)
				}
				continue
			}
			n := s.page("/notes/" + id)
			state := "live"
			switch {
			case strings.Contains(n, "archived"):
				state = "archived"
			case strings.Contains(n, "superseded") || strings.Contains(n, "Superseded"):
				state = "superseded"
			}
			if state != want {
				t.Errorf("%s: %s is %s, want %s", tc.what, id, state, want)
			}
		}
	}
	s := serve(t, nil)
	s.enter()
	if code, _, _ := s.post("/review/draft/01JZZZZZZZZZZZZZZZZZZZZZD1", "choice", "retire"); code < 400 {
		t.Errorf("a draft that is not there: %d", code)
	}
}

// A decision about a draft is taken back by the button of the next page, and the undo by its own.
func TestReviewUndo(t *testing.T) {
	for _, choice := range []string{"reject", "keep", "retire"} {
		s := serve(t, nil)
		s.enter()
		old := s.add("Indent with tabs", "Use tabs.")
		draft := "01JZZZZZZZZZZZZZZZZZZZZZD1"
		draftAgainst(t, s, draft, old)
		_, to, _ := s.post("/review/draft/"+draft, "choice", choice)
		if page := s.page(to); !strings.Contains(page, `action="/undo/1"`) {
			t.Fatalf("%s: the page has no button that takes it back", choice)
		}
		code, to, text := s.post("/undo/1")
		if code != 303 {
			t.Fatalf("%s: %d %s", choice, code, text)
		}
		page := s.page(to)
		if !strings.Contains(page, "It is taken back") || !strings.Contains(page, `action="/undo/2"`) || !strings.Contains(page, draft) {
			t.Errorf("%s: it does not wait again:\n%s", choice, page)
		}
		if page := s.page("/notes/" + old); strings.Contains(page, "superseded") {
			t.Errorf("%s: the other note is replaced still", choice)
		}
		if code, _, text := s.post("/undo/1"); code < 400 {
			t.Errorf("%s: undone twice: %d %s", choice, code, text)
		}
	}
	s := serve(t, nil)
	s.enter()
	if code, _, _ := s.post("/undo/7"); code != 404 {
		t.Errorf("a decision that there is not: %d", code)
	}
}
