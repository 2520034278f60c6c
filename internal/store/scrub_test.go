package store_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A line of the log that loses text keeps its place: readers go on where they were,
// and what is appended at the same time stays.
func TestScrub(t *testing.T) {
	s, _ := open(t)
	for i, query := range []string{"about swordfish", "about tabs", "swordfish again"} {
		if err := s.Events().Log(store.Record{Kind: store.Recalled, Query: query, Notes: []note.ID{"a"}, Count: i + 1}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := s.Events().Files()
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	end, err := s.Events().Records(files[0], 0, func(store.Record) {})
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.Events().Scrub(func(r *store.Record) bool {
		if r.Count == 1 { // another process appends
			if err := s.Events().Log(store.Record{Kind: store.Recalled, Query: "later"}); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(r.Query, "swordfish") {
			return false
		}
		r.Query = ""
		return true
	})
	if n != 2 || err != nil {
		t.Errorf("Scrub = %d, %v; want 2 records", n, err)
	}
	data, _ := os.ReadFile(s.Path("events/" + files[0]))
	if strings.Contains(string(data), "swordfish") {
		t.Errorf("the text is still there:\n%s", data)
	}
	var later []string
	if _, err := s.Events().Records(files[0], end, func(r store.Record) { later = append(later, r.Query) }); err != nil || !slices.Equal(later, []string{"later"}) {
		t.Errorf("whoever goes on at byte %d reads %q, %v", end, later, err)
	}
	tally := make(map[note.ID]store.Tally)
	if _, err := s.Events().Records(files[0], 0, func(r store.Record) { r.Add(tally) }); err != nil || tally["a"].Recalled != 3 {
		t.Errorf("%d records count, %v; want 3", tally["a"].Recalled, err)
	}
}
