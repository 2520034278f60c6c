package replicatest

import (
	"fmt"
	"strings"
	"testing"

	"anamnesis/internal/replica"
)

func tooMany(t *testing.T, w World) {
	careful := func(o *replica.Options) { o.MaxDelete = 0.5 }
	a, b := w.machine(t, "a"), w.machine(t, "b", careful)
	files := make(map[string]string)
	for i := range 10 {
		files[fmt.Sprintf("semantic/%d.md", i)] = "x\n"
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
		b.has(files)
	}
	b.with(func(o *replica.Options) { o.AllowDelete = true })
	if out := b.sync(); out.Held || !out.Pushed || len(out.Changed) != 6 {
		t.Errorf("got %+v", out)
	}
	b.with(func(o *replica.Options) { o.AllowDelete = false })
	a.sync()
	a.remove("semantic/6.md", "semantic/7.md", "semantic/8.md", "semantic/9.md") // five may always go
	a.sync()
	if out := b.sync(); out.Held || len(out.Changed) != 4 {
		t.Errorf("got %+v", out)
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
