package web_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// Evidence names a session with its agent, the event log without: the link leads to its page.
func TestEvidenceLeadsToItsSession(t *testing.T) {
	s := entered(t)
	r := other(t, s)
	_, _, err := storetest.Put(r.Store, &note.Note{
		ID: "01JZZZZZZZZZZZZZZZZZZZZZE1", Type: note.Semantic, Scope: note.Portable, Project: note.Global, Title: "Use pnpm", Body: "Never npm.",
		MachineID: "box", CreatedAt: "2026-01-01T00:00:00+00:00", UpdatedAt: "2026-01-01T00:00:00+00:00",
		Provenance: note.Provenance{Source: note.User, Confidence: 0.9, Session: "5e0cc2f4-aaaa-bbbb-cccc-1234567890ab"},
		Evidence: []note.Evidence{
			{Session: "claude/5e0cc2f4-aaaa-bbbb-cccc-1234567890ab", Chunk: "0000000000000000", Quote: "no, pnpm here"},
			{Session: "claude/imported", Chunk: "0000000000000000", Quote: "pnpm, as always"},
		},
	}, store.Ref{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Store.Events().Log(store.Record{Kind: store.Injected, Session: "5e0cc2f4-aaaa-bbbb-cccc-1234567890ab", Out: 120}); err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`<blockquote class="evidence">.*?href="(/sessions/[^"]+)"`).FindAllStringSubmatch(s.page("/notes/01JZZZZZZZZZZZZZZZZZZZZZE1"), -1)
	if len(links) != 2 {
		t.Fatalf("the note's page has %d links to sessions", len(links))
	}
	for i, want := range []string{"was shown at its start", "The event log has nothing of this session"} {
		if code, text := s.get(html.UnescapeString(links[i][1])); code != 200 || !strings.Contains(text, want) {
			t.Errorf("%s answers %d and lacks %q", links[i][1], code, want)
		}
	}
	if code, _ := s.get("/sessions/nothing-of-this-name"); code != 404 {
		t.Errorf("a session that nothing names: %d", code)
	}
}

// What the overview says was shown unasked is what the pages of its sessions say together.
func TestOverviewSums(t *testing.T) {
	s := serve(t, nil)
	log := other(t, s).Store.Events()
	for i, kind := range []string{store.Injected, store.Prompted, store.ToolShown, store.SubagentShown, store.Recalled} {
		rec := store.Record{Kind: kind, Session: fmt.Sprintf("session-%d", i%2), Notes: []note.ID{"01JZZZZZZZZZZZZZZZZZZZZZE1"}, Out: 100 << i}
		if err := log.Log(rec); err != nil {
			t.Fatal(err)
		}
	}
	s.enter() // the overview is kept for a moment once it was shown
	const all = 100 + 200 + 400 + 800
	sum := 0
	for _, id := range []string{"session-0", "session-1"} {
		var page struct{ Tokens int }
		s.api("GET", "/sessions/"+id, nil, &page)
		sum += page.Tokens
	}
	var page struct {
		Week struct {
			Unasked int `json:"unasked_tokens"`
		}
	}
	s.api("GET", "/overview", nil, &page)
	if page.Week.Unasked != all || sum != all || !strings.Contains(s.page("/"), "<b>1,500</b><span>tokens shown unasked") {
		t.Errorf("the overview says %d, its sessions %d, want %d", page.Week.Unasked, sum, all)
	}
}
