package store_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// decide holds and releases drafts as one decision.
func decide(ctx context.Context, t *testing.T, s *store.Store, f func(*store.Writer) error) {
	t.Helper()
	w, err := s.BeginWrite(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer w.End()
	if err := f(w); err != nil {
		t.Fatal(err)
	}
}

// The journal numbers decisions, has all that one wrote under one number, and nothing that was
// nobody's decision. A torn last line is passed over.
func TestJournal(t *testing.T) {
	s, _ := storetest.Open(t)
	hold := func(id note.ID) func(*store.Writer) error {
		return func(w *store.Writer) error { return w.Hold(storetest.Draft(id)) }
	}
	decide(t.Context(), t, s, hold("d0"))
	first := store.Deciding(t.Context(), s, "cli", "reject")
	decide(first, t, s, hold("d1"))
	second := store.Deciding(t.Context(), s, "dashboard", "keep")
	decide(second, t, s, func(w *store.Writer) error { return w.Release("d1") })
	decide(store.Deciding(first, s, "mcp", "part of it"), t, s, hold("d2"))
	unnamed, d := store.BeginDecision(t.Context(), s, "dashboard")
	decide(unnamed, t, s, hold("d3"))
	decide(t.Context(), t, s, func(w *store.Writer) error { return store.EndUndo(w) })

	all, err := store.Decisions(s)
	if err != nil || len(all) != 2 || d.Number() != 0 {
		t.Fatalf("%+v %v, the unnamed one is %d", all, err, d.Number())
	}
	if a := all[0]; a.N != 1 || a.What != "reject" || a.By != "cli" || len(a.Changes) != 2 || !a.About("d1") || !a.About("d2") || a.About("d0") {
		t.Errorf("%+v", a)
	}
	if c := all[1].Changes[0]; all[1].N != 2 || c.Kind != store.DraftChange || c.Text != string(storetest.Draft("d1").Format()) || c.Now != "" ||
		c.Former != store.Digest([]byte(c.Text)) || all[0].Changes[0].Now != c.Former {
		t.Errorf("%+v", all[1])
	}

	name := s.Path("journal/" + s.Now().UTC().Format("2006-01") + ".jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	storetest.WriteFile(t, name, string(whole)+`{"v":1,"n":3,"at":"2026-`)
	if all, err = store.Decisions(s); err != nil || len(all) != 2 {
		t.Fatalf("with a torn line: %+v %v", all, err)
	}
	decide(store.Deciding(t.Context(), s, "cli", "drop"), t, s, func(w *store.Writer) error { return w.Release("d2") })
	if all, err = store.Decisions(s); err != nil || len(all) != 3 || all[2].N != 3 || all[2].What != "drop" {
		t.Fatalf("after a torn line: %+v %v", all, err)
	}
}

// An undo counts when it is whole, and not when it is itself taken back.
func TestJournalUndone(t *testing.T) {
	line := func(n, undoes string, rest string) string {
		return `{"v":1,"n":` + n + `,"what":"x","undoes":` + undoes + rest + "}\n"
	}
	const done = `,"done":true`
	for text, want := range map[string]int{
		line("1", "0", ""):                                                                           0,
		line("1", "0", "") + line("2", "1", ""):                                                      0,
		line("1", "0", "") + line("2", "1", "") + line("2", "1", done):                               2,
		line("1", "0", "") + line("2", "1", done) + line("3", "2", done):                             0,
		line("1", "0", "") + line("2", "1", done) + line("3", "2", ""):                               2,
		line("1", "0", "") + line("2", "1", done) + line("3", "2", done) + line("4", "3", done):      2,
		line("1", "0", "") + line("2", "1", done) + line("3", "2", done) + line("4", "1", done):      4,
		line("1", "1", done) + line("1", "7", done) + line("1", "0", "") + "null\n[]\n{}\n" + "\x00": 0,
	} {
		all := store.ParseJournal([]byte(text))
		if len(all) == 0 || all[0].N != 1 || all[0].UndoneBy != want {
			t.Errorf("%s: %+v, want undone by %d", text, all, want)
		}
	}
}

// The text of a draft leaves the journal, and the rest of its line stays.
func TestEraseDecided(t *testing.T) {
	s, _ := storetest.Open(t)
	for _, id := range []note.ID{"d1", "d2"} {
		decide(t.Context(), t, s, func(w *store.Writer) error { return w.Hold(storetest.Draft(id)) })
		decide(store.Deciding(t.Context(), s, "cli", "drop"), t, s, func(w *store.Writer) error { return w.Release(id) })
	}
	name := s.Path("journal/" + s.Now().UTC().Format("2006-01") + ".jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.Replace(string(data), `{"v":1,`, `{"later":[1],"v":1,`, 1) + `{"torn":"half of d1`)
	storetest.WriteFile(t, name, string(data))
	err = store.EraseDecided(storetest.Writer(s), func(id note.ID, text []byte) bool {
		return id == "d1" && string(text) == string(storetest.Draft("d1").Format())
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.Decisions(s)
	if err != nil || len(all) != 2 || all[0].Changes[0].Text != "" || all[0].Changes[0].Former == "" || all[1].Changes[0].Text == "" {
		t.Errorf("%+v %v", all, err)
	}
	if data, _ = os.ReadFile(name); !strings.Contains(string(data), `"later":[1]`) || strings.Contains(string(data), "torn") {
		t.Errorf("%s", data)
	}
}

// Whatever stands in the journal: nothing that is read from it names a file outside the trees, and
// each number is there once, in order.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"v":1,"n":1,"at":"2026-11-27T05:00:00Z","what":"keep","by":"cli","change":{"kind":"note","id":"a","from":"memory/semantic/a.md","to":""}}`))
	f.Add([]byte(`{"v":1,"n":2,"what":"undo","undoes":1,"done":true,"change":{"kind":"draft","id":"../x","text":"t"}}` + "\n{\"v\":1"))
	f.Add([]byte(`{"v":1,"n":3,"change":{"kind":"alias","name":"a","to":"b","now":"b"}}` + "\n" + `{"v":1,"n":3,"change":{"kind":"trust","id":"a"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		last := 0
		for _, d := range store.ParseJournal(data) {
			if d.N <= last || d.Undoes >= d.N || d.UndoneBy != 0 && d.UndoneBy <= d.N {
				t.Fatalf("%+v after %d", d, last)
			}
			last = d.N
			for _, c := range d.Changes {
				if strings.Contains(c.From+c.To, "..") && c.Kind == store.NoteChange && strings.Contains("/"+c.From+"/"+c.To+"/", "/../") {
					t.Fatalf("%+v", c)
				}
			}
		}
	})
}
