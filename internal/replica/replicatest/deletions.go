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
		for _, want := range []string{`(deleted by "a"): "Note 0", "Note 1", "Note 2" and 3 more; `, "refs/anamnesis/theirs"} {
			if !strings.Contains(out.Detail, want) {
				t.Errorf("no %s in %s", want, out.Detail)
			}
		}
		if out.Result != replica.Held || out.Removed != 0 || !strings.HasPrefix(out.Why, "the remote would delete 6 of 1") {
			t.Errorf("got %+v", out)
		}
		// What waits is told: it was fetched, and is not here.
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
