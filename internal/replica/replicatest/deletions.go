package replicatest

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"anamnesis/internal/replica"
)

func tooMany(t *testing.T, w World) {
	careful := func(o *replica.Options) {
		o.MaxDelete, o.Title = 0.5, func(data []byte) string { return strings.TrimSpace(string(data)) }
	}
	a, b := w.machine(t, "a"), w.machine(t, "b", careful)
	files := make(map[string]string)
	for i := range 10 {
		files[fmt.Sprintf("semantic/%d.md", i)] = fmt.Sprintf("Note %d\n", i)
	}
	a.write(files)
	a.sync()
	b.sync()
	for i := range 6 {
		a.remove(fmt.Sprintf("semantic/%d.md", i))
	}
	a.sync()
	for _, ahead := range []bool{false, true} {
		if ahead {
			b.write(map[string]string{"semantic/new.md": "x\n"})
			files["semantic/new.md"] = "x\n"
		}
		out := b.sync()
		if !out.Held || out.Pushed || len(out.Changed) != 0 || out.Behind != 1 || !strings.Contains(out.Detail, "would delete 6 of 1") {
			t.Errorf("got %+v", out)
		}
		for _, want := range []string{`(deleted by "a"): "Note 0", "Note 1", "Note 2", "Note 3", "Note 4", "Note 5"; `, "refs/anamnesis/theirs"} {
			if !strings.Contains(out.Detail, want) {
				t.Errorf("no %s in %s", want, out.Detail)
			}
		}
		if out.Result != replica.Held || out.Removed != 0 || !strings.HasPrefix(out.Why, "the remote would delete 6 of 1") {
			t.Errorf("got %+v", out)
		}
		// What waits is shown: it was fetched, and is not here.
		if s, err := b.b.State(t.Context()); err != nil || s.Behind != 1 {
			t.Errorf("State = %+v, %v", s, err)
		}
		b.has(files)
	}
	b.with(func(o *replica.Options) { o.AllowDelete = true })
	if out := b.sync(); out.Held || !out.Pushed || len(out.Changed) != 6 || out.Removed != 6 || out.Result != replica.Synced {
		t.Errorf("got %+v", out)
	}
	b.with(func(o *replica.Options) { o.AllowDelete = false })
	a.sync()
	for _, name := range []string{"semantic/6.md", "semantic/7.md", "semantic/8.md", "semantic/9.md"} { // one at a time
		a.remove(name)
		a.sync()
		if out := b.sync(); out.Held || len(out.Changed) != 1 || out.Removed != 1 {
			t.Errorf("got %+v", out)
		}
	}
	left := map[string]string{"semantic/new.md": "x\n"}
	b.has(left)
	a.remove("semantic/new.md") // but not all that is left
	a.sync()
	if out := b.sync(); !out.Held || len(out.Changed) != 0 || !strings.Contains(out.Detail, "would delete 1 of 1") {
		t.Errorf("got %+v", out)
	}
	b.has(left)
	a.write(map[string]string{"procedural/new.md": "x\n"}) // it only moved
	a.sync()
	if out := b.sync(); out.Held {
		t.Errorf("got %+v", out)
	}
	a.remove("procedural/new.md")
	a.write(map[string]string{"tombstones/new.json": "{}\n"}) // it was forgotten
	a.sync()
	if out := b.sync(); out.Held {
		t.Errorf("got %+v", out)
	}
	b.has(map[string]string{"tombstones/new.json": "{}\n"})
}

// fewNotes is about a small memory, most of which is soon gone.
func fewNotes(t *testing.T, w World) {
	careful := func(o *replica.Options) {
		o.MaxDelete, o.Says = 0.2, func(data []byte) []string {
			if strings.HasPrefix(string(data), "a copy") {
				return []string{"a copy"}
			}
			return []string{string(data)}
		}
	}
	copies, stones := make(map[string]string), make(map[string]string)
	for i := range 4 {
		copies[fmt.Sprintf("semantic/copy%d.md", i)] = fmt.Sprintf("a copy %d\n", i)
	}
	for i := range 24 {
		stones[fmt.Sprintf("tombstones/gone%d.json", i)] = "{}\n"
	}
	for _, tt := range []struct {
		name    string
		also    map[string]string // there from the beginning
		do      func(a *machine)
		held    bool
		removed int
	}{
		{"one goes", nil, func(a *machine) { a.remove("semantic/0.md") }, false, 1},
		{"one goes, with its entities", nil, func(a *machine) { a.remove("semantic/5.md", "semantic/5.entities.yaml") }, false, 1},
		{"two go", nil, func(a *machine) { a.remove("semantic/0.md", "semantic/1.md") }, true, 0},
		{"five go", nil, func(a *machine) {
			a.remove("semantic/0.md", "semantic/1.md", "semantic/2.md", "semantic/3.md", "semantic/4.md")
		}, true, 0},
		{"two were forgotten", nil, func(a *machine) {
			a.remove("semantic/0.md", "semantic/1.md")
			a.write(map[string]string{"tombstones/0.json": "{}\n", "tombstones/1.json": "{}\n"})
		}, false, 2},
		{"two moved", nil, func(a *machine) {
			a.remove("semantic/0.md", "semantic/1.md")
			a.write(map[string]string{"procedural/0.md": "0\n", "procedural/1.md": "1\n"})
		}, false, 0},
		{"five go, beside tombstones", stones, func(a *machine) {
			a.remove("semantic/0.md", "semantic/1.md", "semantic/2.md", "semantic/3.md", "semantic/4.md")
		}, true, 0},
		{"three go, and a fourth says the same", copies, func(a *machine) {
			a.remove("semantic/copy1.md", "semantic/copy2.md", "semantic/copy3.md")
		}, false, 3},
		{"all four go", copies, func(a *machine) {
			a.remove("semantic/copy0.md", "semantic/copy1.md", "semantic/copy2.md", "semantic/copy3.md")
		}, true, 0},
	} {
		w.Point(t, w.Remote, w.Other) // empty
		a, b := w.machine(t, "a"), w.machine(t, "b", careful)
		files := map[string]string{"semantic/5.entities.yaml": "x\n"}
		for i := range 6 {
			files[fmt.Sprintf("semantic/%d.md", i)] = fmt.Sprintf("%d\n", i)
		}
		maps.Copy(files, tt.also)
		a.write(files)
		a.sync()
		b.sync()
		tt.do(a)
		a.sync()
		if out := b.sync(); out.Held != tt.held || out.Removed != tt.removed || out.Held != (len(out.Changed) == 0) {
			t.Errorf("%s: %+v", tt.name, out)
		}
	}
}

// overwritten is about notes that lose their text: here they are not committed, and
// from elsewhere many are asked about and what is no note any more is not taken.
func overwritten(t *testing.T, w World) {
	careful := func(o *replica.Options) {
		o.MaxDelete = 0.2
		o.Loss = func(_ string, was, now []byte, _ bool) (replica.Loss, string) {
			switch {
			case len(now) == 0 && len(was) > 0:
				return replica.Unreadable, "empty"
			case len(now) < len(was)/2:
				return replica.Shrunk, "shrunk"
			case strings.HasPrefix(string(now), "other"):
				return replica.Rewritten, "rewritten"
			}
			return replica.NoLoss, ""
		}
	}
	text := func(i int) string { return fmt.Sprintf("the text of note %d is here\n", i) }
	name := func(i int) string { return fmt.Sprintf("semantic/%d.md", i) }
	for _, tt := range []struct {
		name    string
		now     func(i int) string // what becomes of a note
		of      int                // how many notes
		careful bool               // the machine that changes them looks
		held    int                // files that it holds
		asked   bool               // the other machine asks
	}{
		{"three are emptied", func(int) string { return "" }, 3, true, 3, false},
		{"one loses most", func(int) string { return "the\n" }, 1, true, 1, false},
		{"two are rewritten", func(int) string { return "other words in this file\n" }, 2, true, 0, false},
		{"four are rewritten", func(int) string { return "other words in this file\n" }, 4, true, 4, false},
		{"all get a line more", func(i int) string { return text(i) + "and more\n" }, 10, true, 0, false},
		{"three lose most, of an older version", func(int) string { return "the\n" }, 3, false, 0, true},
		{"one loses most, of an older version", func(int) string { return "the\n" }, 1, false, 0, false},
		{"three are emptied, of an older version", func(int) string { return "" }, 3, false, 0, false},
	} {
		w.Point(t, w.Remote, w.Other) // empty
		a, b := w.machine(t, "a"), w.machine(t, "b", careful)
		files, changed := make(map[string]string), make(map[string]string)
		for i := range 10 {
			files[name(i)] = text(i)
		}
		for i := range tt.of {
			changed[name(i)] = tt.now(i)
		}
		a.write(files)
		a.sync()
		b.sync()
		if tt.careful {
			a.with(careful)
		}
		a.write(changed)
		if out := a.sync(); len(out.HeldFiles) != tt.held || out.Conflicted != (tt.held > 0) {
			t.Errorf("%s: %+v", tt.name, out)
		}
		out := b.sync()
		if out.Held != tt.asked || tt.asked && (len(out.Changed) > 0 || out.Pushed) {
			t.Errorf("%s: %+v", tt.name, out)
		}
		if lost := tt.held > 0 || tt.asked || tt.now(0) == ""; lost {
			b.has(files)
		} else {
			maps.Copy(files, changed)
			b.has(files)
		}
		if tt.careful || tt.now(0) != "" {
			continue
		}
		if !out.Pushed || !strings.Contains(out.Detail, "cannot be read any more") {
			t.Errorf("%s: %+v", tt.name, out)
		}
		a.sync() // and it heals
		a.has(files)
	}
}

// erasing is about tombstones that come without the deletions.
func erasing(t *testing.T, w World) {
	for _, tt := range []struct {
		stones int
		held   bool
	}{{2, false}, {5, false}, {6, true}, {10, true}} {
		w.Point(t, w.Remote, w.Other) // empty
		files := make(map[string]string)
		for i := range 10 {
			files[fmt.Sprintf("semantic/%d.md", i)] = fmt.Sprintf("%d\n", i)
		}
		a, b := w.machine(t, "a"), w.machine(t, "b", func(o *replica.Options) {
			o.MaxDelete = 0.2
			o.Erases = func(changes []replica.Change) (all []replica.Change, err error) {
				for _, ch := range changes {
					if id, ok := strings.CutPrefix(ch.Path, "tombstones/"); ok && ch.New != nil {
						name := "semantic/" + strings.TrimSuffix(id, ".json") + ".md"
						all = append(all, replica.Change{Path: name, Old: []byte(files[name])})
					}
				}
				return all, nil
			}
		})
		a.write(files)
		a.sync()
		b.sync()
		stones := make(map[string]string)
		for i := range tt.stones {
			stones[fmt.Sprintf("tombstones/%d.json", i)] = "{}\n"
		}
		a.write(stones)
		a.sync()
		out := b.sync()
		if out.Held != tt.held || tt.held && (out.Pushed || len(out.Changed) > 0 || out.Deletes != tt.stones) {
			t.Errorf("%d tombstones: %+v", tt.stones, out)
		}
		if tt.held && !strings.Contains(out.Detail, fmt.Sprintf("with tombstones for %d of them", tt.stones)) {
			t.Errorf("%d tombstones: %s", tt.stones, out.Detail)
		}
		b.with(func(o *replica.Options) { o.AllowDelete = true })
		if out := b.sync(); out.Held {
			t.Errorf("%d tombstones, allowed: %+v", tt.stones, out)
		}
	}
}
