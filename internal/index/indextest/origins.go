package indextest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func busy(t *testing.T, s *suite) {
	if s.db.Hold == nil {
		t.Skip("nobody else can write")
	}
	n := entry(&note.Note{ID: "a", Title: "title"})
	s.apply(index.Batch{})
	keeps := s.keeps()
	release := s.db.Hold(t)
	failed := map[string]error{
		"Apply": s.Apply(s.ctx, index.Batch{Put: []index.Entry{n}}),
		"Embed": s.Embed(s.ctx, "m", map[int64]index.Vector{1: index.Quantize(leaning(0))}),
		"Count": s.Count(s.ctx, nil, map[string]int64{}, map[string]int64{"2026-07.jsonl": 10}),
		"Reset": s.Reset(s.ctx),
	}
	if keeps {
		failed["SetMemo"] = s.SetMemo(s.ctx, "kind", "key", index.Memo{Value: []byte("x"), At: noon}, 0)
	}
	for what, err := range failed {
		if !errors.Is(err, index.ErrBusy) {
			t.Errorf("%s while another one writes: %v, want ErrBusy", what, err)
		}
	}
	equal(t, "a question is answered", []note.ID{}, s.selected(index.Filter{}))
	release()
	s.apply(index.Batch{Put: []index.Entry{n}})
	equal(t, "afterwards", []note.ID{"a"}, s.selected(index.Filter{}))
}

func texts(t *testing.T, s *suite) {
	there := s.there()
	front := "---\nid: %s\ntype: semantic\ntitle: t\n---\n"
	all := map[note.ID]string{
		"crlf":    "---\r\nid: crlf\r\ntype: semantic\r\ntitle: t\r\n---\r\na\r\nb\r\n",
		"invalid": front + "caf\xe9 \xff\xfe \xed\xa0\x80",
		"odd":     front + "\x00\x01\x1b[31m\u2028\ufeff 'quotes' \"and\" \\ % ? $1 :name --",
		"empty":   front,
		"blank":   front + "\n \n\t\n\n",
		"unended": front + "no line feed",
		"huge":    front + strings.Repeat("A line of the note.\n", 40_000),
	}
	keys := make(map[note.ID]int64)
	for id, text := range all {
		if strings.Contains(text, "%s") {
			text = strings.Replace(text, "%s", string(id), 1)
			all[id] = text
		}
		n := &note.Note{ID: id, Type: note.Semantic, Scope: note.Portable, Title: "t"}
		ref := store.Ref{Path: store.NotePath(n.Scope, n.Type, id), Scope: n.Scope, Size: int64(len(text)), ModTime: noon}
		s.apply(index.Batch{Put: []index.Entry{index.NewEntry(n, ref, []byte(text), nil)}})
		keys[id] = s.key(id)
	}
	for _, who := range []*suite{s, there} {
		for id, want := range all {
			got, err := who.Texts(who.ctx, []int64{keys[id], 1 << 40})
			if err != nil || len(got) != 1 || !bytes.Equal(got[keys[id]], []byte(want)) {
				t.Errorf("%s for %q: %d texts, %d bytes, %v", id, who.Origin(), len(got), len(got[keys[id]]), err)
			}
		}
	}
	s.put(&note.Note{ID: "empty", Title: "t", Body: "said again"})
	if got, err := s.Texts(s.ctx, []int64{keys["empty"], s.key("empty")}); err != nil || !strings.Contains(string(got[s.key("empty")]),
		"said again") {
		t.Errorf("after a change: %q, %v", got[s.key("empty")], err)
	}
}

func origins(t *testing.T, s *suite) {
	there := s.there()
	ours, theirs := entry(&note.Note{ID: "a", Title: "apple"}), entry(&note.Note{ID: "b", Title: "banana"})
	theirs.Ref.Path = ours.Ref.Path // the same path in another tree is another file
	bad := map[string]index.FileState{"memory/x.md": {Size: 3, ModTime: 4, Problem: "no front matter"}}
	s.apply(index.Batch{Put: []index.Entry{ours}, Walked: noon})
	if sum, files, walked, err := there.State(s.ctx); sum != 0 || files != 0 || !walked.IsZero() || err != nil {
		t.Errorf("an origin that was never walked: %x %d %v %v", sum, files, walked, err)
	}
	there.apply(index.Batch{Put: []index.Entry{theirs}, Problems: bad, Walked: noon.Add(time.Hour)})
	state := func(who *suite, wantFiles, wantProblems int, want time.Time) {
		t.Helper()
		sum, files, walked, err := who.State(s.ctx)
		known, ferr := who.Files(s.ctx, nil)
		found, perr := who.Problems(s.ctx)
		var print uint64
		for path, f := range known {
			print ^= index.Fingerprint(path, f.Size, f.ModTime)
		}
		if sum != print || files != wantFiles || len(known) != wantFiles || len(found) != wantProblems || !walked.Equal(want) ||
			errors.Join(err, ferr, perr) != nil {
			t.Errorf("%s: %d files, %d known, %d problems, walked %v, %v", who.Origin(), files, len(known), len(found), walked,
				errors.Join(err, ferr, perr))
		}
	}
	state(s, 1, 0, noon)
	state(there, 2, 1, noon.Add(time.Hour))
	for _, who := range []*suite{s, there} {
		equal(t, "notes of all, for "+who.Origin(), []note.ID{"b", "a"}, who.selected(index.Filter{}))
		equal(t, "origins", []string{"here", "there"}, []string{who.row("a").Origin, who.row("b").Origin})
		equal(t, "words of all", []note.ID{"b"}, who.found("banana", index.Filter{}))
	}
	st, err := s.Statistics(s.ctx)
	if err != nil || st.Notes != 2 || st.Passages != 2 {
		t.Errorf("statistics of all: %+v, %v", st, err)
	}
	if _, missing, all, err := s.Unembedded(s.ctx, "m", 10); missing != 1 || all != 1 || err != nil {
		t.Errorf("%d of %d passages of ours have no vector, %v", missing, all, err)
	}
	s.apply(index.Batch{Drop: []string{ours.Ref.Path}})
	state(s, 0, 0, noon)
	state(there, 2, 1, noon.Add(time.Hour))
	equal(t, "what is left", []note.ID{"b"}, s.selected(index.Filter{}))
	again := s.open("there") // a later process
	state(again, 2, 1, noon.Add(time.Hour))
	again.apply(index.Batch{Drop: []string{theirs.Ref.Path, "memory/x.md"}})
	equal(t, "nothing is left", []note.ID{}, s.selected(index.Filter{}))
}

// copies looks at a note that three origins hold: each says something else.
func copies(t *testing.T, s *suite) {
	there, last := s.there(), s.open("zulu")
	at := func(d time.Duration) note.Stamp { return note.At(noon.Add(d)) }
	said := func(body string, d time.Duration) *note.Note {
		return &note.Note{ID: "a", Title: "kumquat", Body: body, UpdatedAt: at(d), CreatedAt: at(0), Provenance: note.Provenance{Session: "s"}}
	}
	s.put(said("ours", 0), &note.Note{ID: "b", Title: "kumquat", CreatedAt: at(0), Provenance: note.Provenance{Session: "s"}})
	there.put(said("theirs", time.Hour))
	last.put(said("latest", 2*time.Hour))
	asker := s.open("asker") // which holds none
	for _, c := range []struct {
		who  *suite
		want string
	}{{s, "here"}, {there, "there"}, {last, "zulu"}, {asker, "zulu"}} {
		who, name := c.who, c.who.Origin()
		equal(t, "row, for "+name, c.want, who.row("a").Origin)
		equal(t, "row of another case, for "+name, c.want, who.row("A").Origin)
		rows, err := who.Select(s.ctx, index.Filter{Only: []note.ID{"a"}}, 0)
		if err != nil || len(rows) != 1 || rows[0].Origin != c.want {
			t.Errorf("Select for %s: %v, %v", name, rows, err)
		}
		got, err := who.Match(s.ctx, []index.Term{{Token: "kumquat", Weight: 1}}, index.Filter{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		found := who.notesOf(got)
		slices.Sort(found)
		equal(t, "match, for "+name, []note.ID{"a", "b"}, found)
		if got, err := who.First(s.ctx, []int64{s.key("a"), there.key("a"), last.key("a")}, index.Filter{}); err != nil ||
			len(got) != 1 || got[0].Key != who.key("a") {
			t.Errorf("First for %s: %v, %v", name, got, err)
		}
		texts, err := who.Texts(s.ctx, []int64{who.key("a")})
		if err != nil || len(texts) != 1 {
			t.Errorf("Texts for %s: %d, %v", name, len(texts), err)
		}
		perProject, err := who.PerProject(s.ctx, index.Filter{})
		if err != nil || perProject["p"] != 2 {
			t.Errorf("PerProject for %s: %v, %v", name, perProject, err)
		}
		beside, err := who.Neighbours(s.ctx, []int64{who.key("b")}, index.Filter{})
		if err != nil || len(beside) != 1 || beside[0].With != who.key("a") {
			t.Errorf("Neighbours for %s: %v, %v", name, beside, err)
		}
	}
	for _, who := range []*suite{s, there, last} {
		given := make(map[int64]index.Vector)
		for _, key := range who.unembedded("m") {
			given[key] = index.Quantize(leaning(0))
		}
		if err := errors.Join(who.Embed(s.ctx, "m", given), who.Tidy(s.ctx)); err != nil {
			t.Fatal(err)
		}
	}
	if near, ok := s.nearest(leaning(0), index.Filter{}, -1); ok {
		found := s.notesOf(near)
		slices.Sort(found)
		equal(t, "the nearest of ours", []note.ID{"a", "b"}, found)
	}
	e := entry(said("theirs", time.Hour))
	if got, err := there.Twins(s.ctx, e.Statement, 0); err != nil || len(got) != 1 || got[0].Row.Origin != "there" {
		t.Errorf("twins there: %+v, %v", got, err)
	}
	if got, err := s.Twins(s.ctx, e.Statement, 0); err != nil || len(got) != 0 {
		t.Errorf("twins of what another copy says: %+v, %v", got, err)
	}
	for _, word := range []string{"theirs", "latest"} {
		equal(t, "what another copy says is not found", []note.ID{}, s.found(word, index.Filter{}))
	}
	// The copy is chosen before the filter is asked.
	archived := said("ours", 0)
	archived.Status = "archived"
	s.put(archived)
	equal(t, "archived here", []note.ID{"b"}, s.found("kumquat", index.Filter{}))
	equal(t, "and not there", 2, len(there.found("kumquat", index.Filter{})))
	s.apply(index.Batch{Drop: []string{s.row("a").Ref.Path}})
	equal(t, "gone here", "zulu", s.row("a").Origin)
	last.put(said("older now", -time.Hour))
	equal(t, "the latest of the others", "there", s.row("a").Origin)
	there.apply(index.Batch{Drop: []string{there.row("a").Ref.Path}})
	equal(t, "one is left", "zulu", there.row("a").Origin)
	last.apply(index.Batch{Drop: []string{last.row("a").Ref.Path}})
	if _, ok, err := s.Lookup(s.ctx, "a"); ok || err != nil {
		t.Errorf("gone everywhere: %v, %v", ok, err)
	}
}

// own asks two origins for what is theirs: by the filter, and through OwnOnly, where the
// notes of others cannot be met at all.
func own(t *testing.T, s *suite) {
	there := s.there()
	said := func(id note.ID) *note.Note {
		return &note.Note{ID: id, Title: "kumquat " + string(id), CreatedAt: note.At(noon), Provenance: note.Provenance{Session: "s"}}
	}
	s.put(said("a"), said("both"))
	there.put(said("b"), said("both"))
	for _, c := range []struct {
		who  *suite
		want []note.ID
		not  note.ID
	}{{s, []note.ID{"both", "a"}, "b"}, {there, []note.ID{"both", "b"}, "a"}} {
		name := c.who.Origin()
		equal(t, "select, for "+name, c.want, c.who.selected(index.Filter{Own: true}))
		equal(t, "match, for "+name, 2, len(c.who.found("kumquat", index.Filter{Own: true})))
		only := &suite{t: t, Backend: index.OwnOnly(c.who.Backend), db: s.db, ctx: s.ctx}
		equal(t, "select of theirs only, for "+name, c.want, only.selected(index.Filter{}))
		equal(t, "match of theirs only, for "+name, 2, len(only.found("kumquat", index.Filter{})))
		if row, ok, err := only.Lookup(s.ctx, c.not); ok || err != nil {
			t.Errorf("%s looks %s up: %v, %v", name, c.not, row, err)
		}
		if n, err := only.PerProject(s.ctx, index.Filter{}); err != nil || n["p"] != 2 {
			t.Errorf("%s counts %v, %v", name, n, err)
		}
		e := entry(said(c.not))
		if twins, err := only.Twins(s.ctx, e.Statement, e.Simhash); err != nil || slices.ContainsFunc(twins, func(w index.Twin) bool {
			return w.Row.Origin != name
		}) {
			t.Errorf("%s has twins %v, %v", name, twins, err)
		}
		beside, err := only.Neighbours(s.ctx, []int64{c.who.key("both")}, index.Filter{})
		if err != nil || slices.ContainsFunc(beside, func(n index.Neighbour) bool { return n.With == c.who.key(c.not) }) {
			t.Errorf("%s has neighbours %v, %v", name, beside, err)
		}
	}
}

func speakers(t *testing.T, s *suite) {
	there := s.there()
	newer := func(updated time.Duration, supersedes ...note.ID) *note.Note {
		return &note.Note{ID: "new", Title: "x", UpdatedAt: note.At(noon.Add(updated)), Supersedes: supersedes}
	}
	hidden := func(what string, want note.ID) {
		t.Helper()
		for _, who := range []*suite{s, there} {
			equal(t, what+", for "+who.Origin(), want, who.row("old").SupersededBy)
		}
	}
	s.put(&note.Note{ID: "old", Title: "x"}, newer(time.Hour, "old"))
	hidden("one origin says so", "new")
	there.put(&note.Note{ID: "old", Title: "x"})
	hidden("a copy that comes later", "new")
	there.put(newer(2 * time.Hour))
	hidden("a later copy does not say so", "")
	there.put(newer(time.Minute))
	hidden("an earlier one does not matter", "new")
	s.apply(index.Batch{Drop: []string{s.row("new").Ref.Path}})
	hidden("who said so is gone", "")
	if some, err := s.Superseding(s.ctx); some || err != nil {
		t.Errorf("Superseding = %v, %v", some, err)
	}
}

func tallies(t *testing.T, s *suite) {
	there, keeps := s.there(), s.keeps()
	for i, who := range []*suite{s, there} {
		at, err := who.Cursors(s.ctx)
		if err != nil || len(at) != 0 {
			t.Errorf("cursors of %s: %v, %v", who.Origin(), at, err)
		}
		add := map[note.ID]store.Tally{"a": {Injected: i + 1, Recalled: 1, Last: noon.Add(time.Duration(i) * time.Hour)}}
		if err := who.Count(s.ctx, add, at, map[string]int64{"2026-07.jsonl": 10}); err != nil {
			t.Fatal(err)
		}
		if err := who.SetMemo(s.ctx, "kind", "key", index.Memo{Value: fmt.Append(nil, i), At: noon}, 1); err != nil {
			t.Fatal(err)
		}
	}
	for i, who := range []*suite{s, there} {
		got, err := who.Counters(s.ctx, []note.ID{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "of all", map[note.ID]store.Tally{"a": {Injected: 3, Recalled: 2, Last: noon.Add(time.Hour)}}, got)
		m, ok, err := who.Memo(s.ctx, "kind", "key")
		if ok != keeps || keeps && string(m.Value) != fmt.Sprint(i) || err != nil {
			t.Errorf("memo of %s: %q %v %v", who.Origin(), m.Value, ok, err)
		}
	}
	before, _ := s.Generation(s.ctx)
	there.put(&note.Note{ID: "n", Title: "x"})
	if after, err := s.Generation(s.ctx); after <= before || err != nil {
		t.Errorf("a change of another origin left generation %d at %d, %v", before, after, err)
	}
}
