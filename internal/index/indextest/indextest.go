// Package indextest is the contract of index.Backend as a suite: an
// implementation's own test file is ten lines.
package indextest

import (
	"context"
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
)

// A Database is a new, empty database for one case of the suite. The backends
// that it opens are closed by the suite, before what t.Cleanup got before them.
type Database struct {
	// Open opens the database for an origin: again for one that is open, and for
	// one after the other.
	Open func(t *testing.T, origin string) index.Backend
	// Private says that the database is of one tree alone: it is opened for the
	// origin "" once, and keeps no texts.
	Private bool
	// Hold makes another writer hold the database until release is called, for
	// longer than its backends wait; nil when there is none that could.
	Hold func(t *testing.T) (release func())
}

// Run runs the suite on databases that create returns: each call a new, empty
// one. What passes it may stand behind an index.Index.
func Run(t *testing.T, create func(t *testing.T) Database) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *suite)
	}{
		{"an empty backend answers", empty},
		{"put, look up, replace, drop", lifecycle},
		{"a batch replaces what its path and its id held", replace},
		{"state follows the files", state},
		{"problems are kept and forgiven", problems},
		{"match finds, filters and counts", match},
		{"frequencies and statistics follow changes", statistics},
		{"words in few and in many passages", counts},
		{"select orders and filters", choose},
		{"ids that begin or end alike", sharing},
		{"superseded notes are hidden, circles are not", supersede},
		{"twins", twins},
		{"counters are counted once", counters},
		{"vectors are compared with those of their model", vectors},
		{"the nearest are the nearest", manyVectors},
		{"passages are fetched", passages},
		{"neighbours were written in one second", neighbours},
		{"entities and edges", graph},
		{"branches", branches},
		{"times, confidence and lists of ids", ranges},
		{"memos and generations", memos},
		{"a check changes nothing", check},
		{"a purge takes what is left of dropped notes", purge},
		{"a reset empties one origin", reset},
		{"somebody else writes", busy},
		{"texts come back byte for byte", texts},
		{"origins have states of their own", origins},
		{"a note of two origins is shown once", copies},
		{"notes of the own origin alone", own},
		{"who speaks for a note of two origins", speakers},
		{"counters and memos of two origins", tallies},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &suite{t: t, db: create(t), ctx: t.Context()}
			origin := "here"
			if s.db.Private {
				origin = ""
			}
			s.Backend = s.open(origin).Backend
			c.run(t, s)
		})
	}
}

type suite struct {
	t *testing.T
	index.Backend
	db  Database
	ctx context.Context
}

// open opens the database of the suite for another origin.
func (s *suite) open(origin string) *suite {
	s.t.Helper()
	b := s.db.Open(s.t, origin)
	s.t.Cleanup(func() { _ = b.Close() })
	return &suite{t: s.t, Backend: b, db: s.db, ctx: s.ctx}
}

// there opens it for the origin of another machine.
func (s *suite) there() *suite {
	s.t.Helper()
	if s.db.Private {
		s.t.Skip("a database of one tree alone")
	}
	return s.open("there")
}

var noon = time.Date(2026, 7, 2, 12, 0, 0, 0, time.UTC)

// entry makes the entry of a note, as Sync would.
func entry(n *note.Note) index.Entry {
	if n.Type == "" {
		n.Type = note.Semantic
	}
	if n.Scope == "" {
		n.Scope = note.Portable
	}
	if n.Project == "" {
		n.Project = "p"
	}
	if n.UpdatedAt == "" {
		n.UpdatedAt = note.At(noon)
	}
	data := n.Format()
	return index.NewEntry(n, store.Ref{
		Path: store.NotePath(n.Scope, n.Type, n.ID), Scope: n.Scope, Size: int64(len(data)), ModTime: noon,
	}, data, nil)
}

func (s *suite) apply(b index.Batch) {
	s.t.Helper()
	if err := s.Apply(s.ctx, b); err != nil {
		s.t.Fatal(err)
	}
}

func (s *suite) put(notes ...*note.Note) {
	s.t.Helper()
	var b index.Batch
	for _, n := range notes {
		b.Put = append(b.Put, entry(n))
	}
	s.apply(b)
}

func (s *suite) selected(f index.Filter) []note.ID {
	s.t.Helper()
	rows, err := s.Select(s.ctx, f, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return ids(rows)
}

func ids(rows []index.Row) []note.ID {
	list := []note.ID{}
	for _, r := range rows {
		list = append(list, r.ID)
	}
	return list
}

// found returns the ids of the notes that hold one of the words of a question.
func (s *suite) found(question string, f index.Filter) []note.ID {
	s.t.Helper()
	var terms []index.Term
	for _, tok := range index.Tokens(question) {
		terms = append(terms, index.Term{Token: tok, Weight: 1})
	}
	got, err := s.Match(s.ctx, terms, f, 50)
	if err != nil {
		s.t.Fatal(err)
	}
	var keys []int64
	for _, c := range got {
		if !slices.Contains(keys, c.Key) {
			keys = append(keys, c.Key)
		}
	}
	rows, err := s.Rows(s.ctx, keys)
	if err != nil {
		s.t.Fatal(err)
	}
	return ids(rows)
}

func equal[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func empty(t *testing.T, s *suite) {
	equal(t, "select", []note.ID{}, s.selected(index.Filter{}))
	if ids, err := s.Sharing(s.ctx, "some"); len(ids) > 0 || err != nil {
		t.Errorf("Sharing = %v, %v", ids, err)
	}
	equal(t, "match", []note.ID{}, s.found("anything", index.Filter{}))
	if _, ok, err := s.Lookup(s.ctx, "none"); ok || err != nil {
		t.Errorf("Lookup = %v, %v", ok, err)
	}
	if sum, files, walked, err := s.State(s.ctx); sum != 0 || files != 0 || !walked.IsZero() || err != nil {
		t.Errorf("State = %x %d %v %v", sum, files, walked, err)
	}
	df, err := s.Frequencies(s.ctx, []string{"anything"})
	if err != nil || df[0].Frequency != 0 {
		t.Errorf("Frequencies = %v, %v", df, err)
	}
}

func lifecycle(t *testing.T, s *suite) {
	n := &note.Note{
		ID: "Ab1", Type: note.Procedural, Title: "a title", Body: "first words", Project: "q", MachineID: "m", UserID: "u", WorkspaceID: "w",
		Provenance: note.Provenance{Source: "import", Confidence: 0.5, Session: "s"}, Tags: []string{"x", "y z"},
		CreatedAt: note.At(noon.Add(-time.Hour)), UpdatedAt: note.At(noon),
	}
	s.put(n)
	row, ok, err := s.Lookup(s.ctx, "aB1") // without regard to case
	if err != nil || !ok {
		t.Fatalf("Lookup = %v, %v", ok, err)
	}
	if row.Origin != s.Origin() {
		t.Errorf("origin %q, want %q", row.Origin, s.Origin())
	}
	row.Key, row.Origin = 0, ""
	e := entry(n)
	row.Ref.ModTime = row.Ref.ModTime.UTC()
	equal(t, "row", index.Row{
		ID: "Ab1", Ref: e.Ref, Hash: e.Hash, Type: note.Procedural, Title: "a title", Project: "q", MachineID: "m", UserID: "u", WorkspaceID: "w",
		Source: "import", Session: "s", Confidence: 0.5, Created: noon.Add(-time.Hour), Updated: noon, Tags: []string{"x", "y z"},
	}, row)
	n.Body = "second words"
	s.put(n)
	equal(t, "old words", []note.ID{}, s.found("first", index.Filter{}))
	equal(t, "new words", []note.ID{"Ab1"}, s.found("second", index.Filter{}))
	s.apply(index.Batch{Drop: []string{e.Ref.Path}})
	equal(t, "after drop", []note.ID{}, s.selected(index.Filter{Dead: true}))
	equal(t, "match after drop", []note.ID{}, s.found("second", index.Filter{}))
}

func replace(t *testing.T, s *suite) {
	a := entry(&note.Note{ID: "a", Title: "apple"})
	s.apply(index.Batch{Put: []index.Entry{a}})
	moved := entry(&note.Note{ID: "a", Title: "apple moved"})
	moved.Ref.Path = "memory/semantic/deep/a.md"
	s.apply(index.Batch{Put: []index.Entry{moved}})
	equal(t, "one note", []note.ID{"a"}, s.selected(index.Filter{}))
	other := entry(&note.Note{ID: "b", Title: "banana"})
	other.Ref.Path = moved.Ref.Path
	s.apply(index.Batch{Put: []index.Entry{other}})
	equal(t, "the path's new note", []note.ID{"b"}, s.selected(index.Filter{}))
	files, err := s.Files(s.ctx, nil)
	if err != nil || len(files) != 1 {
		t.Errorf("Files = %v, %v", files, err)
	}
}

func state(t *testing.T, s *suite) {
	a, b := entry(&note.Note{ID: "a", Title: "apple"}), entry(&note.Note{ID: "b", Title: "banana"})
	print := func(e index.Entry) uint64 {
		return index.Fingerprint(e.Ref.Path, e.Ref.Size, e.Ref.ModTime.UnixNano())
	}
	s.apply(index.Batch{Put: []index.Entry{a, b}, Walked: noon})
	sum, files, walked, err := s.State(s.ctx)
	if err != nil || sum != print(a)^print(b) || files != 2 || !walked.Equal(noon) {
		t.Errorf("State = %x %d %v %v", sum, files, walked, err)
	}
	s.apply(index.Batch{Drop: []string{a.Ref.Path, "memory/none.md"}})
	if sum, files, walked, _ = s.State(s.ctx); sum != print(b) || files != 1 || !walked.Equal(noon) {
		t.Errorf("State after drop = %x %d %v", sum, files, walked)
	}
	known, err := s.Files(s.ctx, []string{b.Ref.Path, a.Ref.Path})
	equal(t, "files", map[string]index.FileState{
		b.Ref.Path: {Size: b.Ref.Size, ModTime: noon.UnixNano(), Hash: b.Hash},
	}, known)
	if err != nil {
		t.Error(err)
	}
}

func problems(t *testing.T, s *suite) {
	bad := index.FileState{Size: 3, ModTime: 4, Hash: sha256.Sum256([]byte("bad")), Problem: "no front matter"}
	s.apply(index.Batch{Problems: map[string]index.FileState{"memory/README.md": bad}})
	got, err := s.Problems(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "problems", []index.Problem{{Path: "memory/README.md", Reason: "no front matter"}}, got)
	if sum, files, _, _ := s.State(s.ctx); sum != index.Fingerprint("memory/README.md", 3, 4) || files != 1 {
		t.Errorf("a problem is a file too: State = %x %d", sum, files)
	}
	good := entry(&note.Note{ID: "r", Title: "now a note"})
	good.Ref.Path = "memory/README.md"
	s.apply(index.Batch{Put: []index.Entry{good}})
	if got, _ := s.Problems(s.ctx); len(got) != 0 {
		t.Errorf("still %v", got)
	}
	if _, files, _, _ := s.State(s.ctx); files != 1 {
		t.Errorf("%d files, want 1", files)
	}
}

func match(t *testing.T, s *suite) {
	s.put(
		&note.Note{
			ID: "a", Title: "deploy staging", Body: "run the script twice twice", Project: "p1", Type: note.Procedural,
			Tags: []string{"ops"},
		},
		&note.Note{ID: "b", Title: "staging database", Body: "lives on db2", Project: "p2"},
		&note.Note{ID: "c", Title: "local secret place", Body: "staging keys", Project: "p1", Scope: note.Local},
		&note.Note{ID: "d", Title: "old staging", Project: "p1", Status: "archived"},
		&note.Note{ID: "e", Title: "short lived staging", Project: "p1", ForgetAfter: note.At(noon)},
		&note.Note{ID: "f", Title: "pinned staging", Project: "p4", Kind: note.Slot, Status: "archived"},
	)
	for _, c := range []struct {
		name string
		f    index.Filter
		want []note.ID
	}{
		{"live notes", index.Filter{Now: noon}, []note.ID{"a", "b", "c"}},
		{"before it expires", index.Filter{Now: noon.Add(-time.Minute)}, []note.ID{"a", "b", "c", "e"}},
		{"dead too", index.Filter{Dead: true, Now: noon}, []note.ID{"a", "b", "c", "d", "e", "f"}},
		{"kind", index.Filter{Kind: note.Slot, Dead: true, Now: noon}, []note.ID{"f"}},
		{"without a kind", index.Filter{WithoutKinds: []note.Kind{note.Slot}, Dead: true, Now: noon}, []note.ID{"a", "b", "c", "d", "e"}},
		{"project", index.Filter{Projects: []string{"p1"}, Now: noon}, []note.ID{"a", "c"}},
		{"projects", index.Filter{Projects: []string{"p1", "p2"}, Now: noon}, []note.ID{"a", "b", "c"}},
		{"unknown project", index.Filter{Projects: []string{"p3"}, Now: noon}, []note.ID{}},
		{"type", index.Filter{Types: []note.Type{note.Procedural}, Now: noon}, []note.ID{"a"}},
		{"scope", index.Filter{Scope: note.Local, Now: noon}, []note.ID{"c"}},
		{"portable", index.Filter{Scope: note.Portable, Now: noon}, []note.ID{"a", "b"}},
		{"tag", index.Filter{Tags: []string{"ops"}, Now: noon}, []note.ID{"a"}},
		{"part of a tag", index.Filter{Tags: []string{"op"}, Now: noon}, []note.ID{}},
		{"without a tag", index.Filter{WithoutTag: "ops", Now: noon}, []note.ID{"b", "c"}},
	} {
		got := s.found("staging", c.f)
		slices.Sort(got)
		equal(t, c.name, c.want, got)
	}
	cands, err := s.Match(s.ctx, []index.Term{{Token: "twice", Weight: 1}}, index.Filter{Now: noon}, 5)
	if err != nil || len(cands) != 1 {
		t.Fatalf("Match = %v, %v", cands, err)
	}
	var hashes []uint32
	for _, w := range []string{"run", "the", "script", "twice", "twice"} {
		hashes = append(hashes, index.TokenHash(w))
	}
	equal(t, "tokens in order", hashes, cands[0].Tokens[index.Body])
	equal(t, "span", [2]int{0, 26}, [2]int{cands[0].Start, cands[0].End})
	rare, err := s.Match(s.ctx, []index.Term{{Token: "stage", Weight: 0.1}, {Token: "db2", Weight: 3}}, index.Filter{Now: noon}, 1)
	if err != nil || len(rare) != 1 {
		t.Fatalf("Match = %v, %v", rare, err)
	}
	rows, _ := s.Rows(s.ctx, []int64{rare[0].Key})
	equal(t, "the rarer word decides", []note.ID{"b"}, ids(rows))
}

func statistics(t *testing.T, s *suite) {
	s.put(&note.Note{ID: "a", Title: "one two", Body: "three four five six", Tags: []string{"t"}}, &note.Note{
		ID: "b", Title: "one",
		Body: "three",
	})
	st, err := s.Statistics(s.ctx)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "statistics", index.Statistics{Notes: 2, Passages: 2, Length: [index.NumFields]float64{
		index.Title: 1.5, index.Tags: 0.5,
		index.Body: 2.5,
	}}, st)
	df, err := s.Frequencies(s.ctx, []string{"three", "four", "seven"})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "frequencies", []int{2, 1, 0}, []int{df[0].Frequency, df[1].Frequency, df[2].Frequency})
	s.put(&note.Note{ID: "a", Title: "one", Body: "seven"})
	st, _ = s.Statistics(s.ctx)
	equal(t, "statistics after a change", index.Statistics{Notes: 2, Passages: 2, Length: [index.NumFields]float64{
		index.Title: 1,
		index.Tags:  0, index.Body: 1,
	}}, st)
}
