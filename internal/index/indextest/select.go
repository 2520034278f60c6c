package indextest

import (
	"slices"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func choose(t *testing.T, s *suite) {
	at := func(d time.Duration) note.Stamp { return note.At(noon.Add(d)) }
	s.put(
		&note.Note{ID: "a", Title: "a", UpdatedAt: at(0), Provenance: note.Provenance{Confidence: 0.3}, UserID: "u1"},
		&note.Note{ID: "b", Title: "b", UpdatedAt: at(time.Hour), UserID: "u2", WorkspaceID: "w"},
		&note.Note{ID: "c", Title: "c", UpdatedAt: at(0), Provenance: note.Provenance{Confidence: 0.9}, UserID: "u1"},
		&note.Note{ID: "d", Title: "d", UpdatedAt: "2026-07-02T12:00:00Z", Provenance: note.Provenance{Confidence: 0.9}, UserID: "u1"},
	)
	equal(t, "newest first, then id", []note.ID{"b", "d", "c", "a"}, s.selected(index.Filter{}))
	equal(t, "user", []note.ID{"d", "c", "a"}, s.selected(index.Filter{UserID: "u1"}))
	equal(t, "workspace", []note.ID{"b"}, s.selected(index.Filter{WorkspaceID: "w"}))
	rows, err := s.Select(s.ctx, index.Filter{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "limit", []note.ID{"b", "d"}, ids(rows))

	s.put(
		&note.Note{ID: "p1", Title: "a", Project: "x", UpdatedAt: at(0), Provenance: note.Provenance{Confidence: 0.3}},
		&note.Note{ID: "q1", Title: "b", Project: "y", UpdatedAt: at(0), Provenance: note.Provenance{Confidence: 0.9}, Kind: note.Handoff},
		&note.Note{ID: "p2", Title: "c", Project: "x", UpdatedAt: at(time.Minute), Kind: note.Handoff},
		&note.Note{ID: "P3", Title: "d", Project: "x", UpdatedAt: at(0), Provenance: note.Provenance{Confidence: 0.5}},
		&note.Note{ID: "r1", Title: "e", Project: "z", UpdatedAt: at(time.Hour), Kind: note.Handoff},
	)
	for _, c := range []struct {
		name   string
		filter index.Filter
		limit  int
		want   []note.ID
	}{
		{"one project", index.Filter{Projects: []string{"x"}}, 2, []note.ID{"p2", "P3"}},
		{"several", index.Filter{Projects: []string{"x", "y", "x", "none"}}, 3, []note.ID{"p2", "q1", "P3"}},
		{"several, all", index.Filter{Projects: []string{"x", "y"}}, 0, []note.ID{"p2", "q1", "P3", "p1"}},
		{"more than there are", index.Filter{Projects: []string{"x", "y"}}, 9, []note.ID{"p2", "q1", "P3", "p1"}},
		{"a kind of several", index.Filter{Projects: []string{"x", "y"}, Kind: note.Handoff}, 1, []note.ID{"p2"}},
		{"a kind of all", index.Filter{Kind: note.Handoff}, 0, []note.ID{"r1", "p2", "q1"}},
		{"without a kind", index.Filter{Projects: []string{"x", "y"}, WithoutKinds: []note.Kind{note.Handoff}}, 1, []note.ID{"P3"}},
		{"the beginning of an id, in any case", index.Filter{Part: "P"}, 0, []note.ID{"p2", "P3", "p1"}},
		{"the end of an id", index.Filter{Part: "1"}, 1, []note.ID{"r1"}},
		{"no wildcard", index.Filter{Part: "_1"}, 0, []note.ID{}},
		{"no wildcard either", index.Filter{Part: "%"}, 0, []note.ID{}},
		{"some of a project", index.Filter{Projects: []string{"x"}, Only: []note.ID{"p1", "q1"}}, 1, []note.ID{"p1"}},
	} {
		rows, err := s.Select(s.ctx, c.filter, c.limit)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		equal(t, c.name, c.want, ids(rows))
	}
	perProject, err := s.PerProject(s.ctx, index.Filter{WithoutKinds: []note.Kind{note.Handoff}})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "notes of each project", map[string]int{"p": 4, "x": 2}, perProject)
	tallied, inW := map[string]int{}, 0
	all, err := s.Tally(s.ctx, index.Filter{WithoutKinds: []note.Kind{note.Handoff}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tally := range all {
		tallied[tally.Project] += tally.Notes
		if tally.Workspace == "w" {
			inW += tally.Notes
		}
	}
	equal(t, "notes of a workspace", 1, inW)
	equal(t, "notes of each tally", perProject, tallied)

	s.put(
		&note.Note{ID: "l1", Title: "one", Body: "Use make to build.", Project: "l", UpdatedAt: at(0)},
		&note.Note{ID: "l2", Title: "ONE", Body: "- use `make` to build", Project: "l", UpdatedAt: at(time.Hour)},
		&note.Note{ID: "l3", Title: "one", Body: "Use make to build.", Project: "l", UpdatedAt: at(0), Type: note.Procedural},
		&note.Note{ID: "l4", Title: "one", Project: "l", UpdatedAt: at(0)},
		&note.Note{ID: "l5", Title: "one", Project: "l", UpdatedAt: at(0)},
	)
	alike, err := s.Alike(s.ctx, index.Filter{Projects: []string{"l"}})
	if err != nil {
		t.Fatal(err)
	}
	got := ids(alike) // there may be more
	equal(t, "alike", []note.ID{"l2", "l1"}, slices.DeleteFunc(got, func(id note.ID) bool { return id != "l1" && id != "l2" }))
	alike, err = s.Alike(s.ctx, index.Filter{Projects: []string{"p"}})
	equal(t, "alike in another project", false, err != nil || slices.Contains(ids(alike), "l1"))

	by := func(source string) note.Provenance { return note.Provenance{Source: source} }
	s.put(
		&note.Note{ID: "w1", Title: "a", Project: "w", UpdatedAt: at(0), Provenance: by(note.Merge)},
		&note.Note{ID: "w2", Title: "b", Project: "w", UpdatedAt: at(time.Minute), Provenance: by(note.Learning), Status: "archived"},
		&note.Note{ID: "w3", Title: "c", Project: "w", UpdatedAt: at(time.Hour), Provenance: by(note.Human), Quarantine: true},
		&note.Note{ID: "w4", Title: "d", Project: "w", UpdatedAt: at(time.Hour), Provenance: by(note.Human), Supersedes: []note.ID{"w1"}},
	)
	made := []string{note.Merge, note.Learning}
	equal(t, "of some sources", []note.ID{"w2", "w1"}, s.selected(index.Filter{Sources: made, Dead: true}))
	equal(t, "of some sources, live", []note.ID{}, s.selected(index.Filter{Sources: made}))
	equal(t, "dead by themselves", []note.ID{"w3", "w2"}, s.selected(index.Filter{Projects: []string{"w"}, Dead: true, OnlyDead: true}))
	s.put(
		&note.Note{ID: "o1", Title: "a", Project: "o", UpdatedAt: at(0), ForgetAfter: at(time.Minute)},
		&note.Note{ID: "o2", Title: "b", Project: "o", UpdatedAt: at(0), ForgetAfter: at(time.Hour)},
		&note.Note{ID: "o3", Title: "c", Project: "o", UpdatedAt: at(0)},
	)
	over := index.Filter{Projects: []string{"o"}, Dead: true, Over: true}
	for now, want := range map[time.Duration][]note.ID{time.Second: {}, time.Minute: {"o1"}, 2 * time.Hour: {"o2", "o1"}} {
		over.Now, _ = at(now).Time()
		equal(t, "their time is over", want, s.selected(over))
	}
}

func sharing(t *testing.T, s *suite) {
	var notes []*note.Note
	for _, id := range []note.ID{"ABCDX0001", "abcd-zz9", "x-aBCd", "abcdé", "bcd", "a_cd", "xyzZ", "zzzzz"} {
		notes = append(notes, &note.Note{ID: id, Title: "x", Status: "archived"})
	}
	s.put(notes...)
	for part, want := range map[string][]note.ID{
		"abcd": {"ABCDX0001", "abcd-zz9", "abcdé", "x-aBCd"}, "ABCDX": {"ABCDX0001"}, "xyzz": {"xyzZ"}, "0001": {"ABCDX0001"}, "zzzz": {"zzzzz"},
		"bcd": {"bcd", "x-aBCd"}, "a_cd": {"a_cd"}, "a%": nil, "bcdé": {"abcdé"}, "nothing": nil,
	} {
		got, err := s.Sharing(s.ctx, part)
		slices.Sort(got)
		if got = slices.Compact(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", part, got, err, want)
		}
	}
}

func supersede(t *testing.T, s *suite) {
	old, now := note.At(noon), note.At(noon.Add(time.Hour))
	s.put(
		&note.Note{ID: "old", Title: "x", UpdatedAt: old},
		&note.Note{ID: "new", Title: "x", UpdatedAt: now, Supersedes: []note.ID{"old", "absent"}},
		&note.Note{ID: "self", Title: "x", UpdatedAt: old, Supersedes: []note.ID{"self"}},
		&note.Note{ID: "c1", Title: "x", UpdatedAt: old, Supersedes: []note.ID{"c2"}},
		&note.Note{ID: "c2", Title: "x", UpdatedAt: now, Supersedes: []note.ID{"c1"}},
	)
	equal(t, "live", []note.ID{"new", "c2", "self"}, s.selected(index.Filter{Now: noon}))
	row, _, _ := s.Lookup(s.ctx, "old")
	if row.SupersededBy != "new" || !row.Dead {
		t.Errorf("old: superseded by %q, dead %v", row.SupersededBy, row.Dead)
	}
	s.put(&note.Note{ID: "absent", Title: "came later", UpdatedAt: now})
	if row, _, _ := s.Lookup(s.ctx, "absent"); row.SupersededBy != "new" {
		t.Errorf("a note that came after its successor is visible")
	}
	s.apply(index.Batch{Drop: []string{store.NotePath(note.Portable, note.Semantic, "new")}})
	if row, _, _ := s.Lookup(s.ctx, "old"); row.Dead {
		t.Error("old stays hidden although its successor is gone")
	}
}
