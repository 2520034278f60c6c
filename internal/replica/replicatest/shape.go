package replicatest

import (
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/replica"

	"github.com/google/go-cmp/cmp"
)

func cases(t *testing.T, w World) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a file system that tells case")
	}
	a, b := w.machine(t, "a"), w.machine(t, "b")
	a.write(map[string]string{"semantic/Note.md": "a\n", "semantic/x.md": "x\n"})
	b.write(map[string]string{"semantic/note.md": "b\n"})
	a.sync()
	if out := b.sync(); !strings.Contains(out.Detail, `not written here: "semantic/Note.md" (its name differs from semantic/note.md in `+
		`case only)`) {
		t.Errorf("got %+v", out)
	}
	b.has(map[string]string{"semantic/note.md": "b\n", "semantic/x.md": "x\n"})
	both := map[string]string{"semantic/Note.md": "a\n", "semantic/note.md": "b\n", "semantic/x.md": "x\n"}
	w.has(t, both)
	b.clean()
	for range 2 {
		b.write(map[string]string{"semantic/x.md": "y\n"})
		both["semantic/x.md"] = "y\n"
		b.sync()
		w.has(t, both) // what is not written is not deleted
	}
	a.sync()
	a.write(map[string]string{"semantic/Note.md": "a2\n"})
	a.sync()
	b.sync()
	b.clean()
	if got := w.Files(t, w.Remote)["semantic/Note.md"]; got != "a2\n" {
		t.Errorf("the remote has %q", got)
	}
}

func fileFolder(t *testing.T, w World) {
	for _, fileFirst := range []bool{true, false} {
		var kept []string
		keep := func(o *replica.Options) {
			o.Settle = func(c replica.Conflict) error { kept = append(kept, c.Path+" "+string(c.Other)); return nil }
		}
		a, b := w.machine(t, "a", keep), w.machine(t, "b", keep)
		a.write(map[string]string{"slots/a": "file\n", "semantic/x.md": "x\n"})
		b.write(map[string]string{"slots/a/b": "below\n"})
		first, second := a, b
		if !fileFirst {
			first, second = b, a
		}
		first.sync()
		second.sync()
		first.sync()
		want := map[string]string{"slots/a/b": "below\n", "semantic/x.md": "x\n"}
		a.has(want)
		b.has(want)
		if d := cmp.Diff([]string{"slots/a file\n"}, kept); d != "" {
			t.Errorf("kept: %s", d)
		}
		w.Point(t, w.Remote, w.Other)
	}
}

func theView(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	a.write(map[string]string{"semantic/a.md": "a\n", "tombstones/1.json": "{}", "tombstones/2.json": "{2}", "slots/x/y/z": ""})
	a.sync()
	b.write(map[string]string{"semantic/a.md": "b\n"})
	asked := 0
	b.with(func(o *replica.Options) {
		o.Merger = func(theirs replica.Tree) (replica.Merge, error) {
			asked++
			names, err := theirs.List()
			names = slices.DeleteFunc(names, func(name string) bool { return name == ".gitattributes" }) // git's own
			slices.Sort(names)
			if d := cmp.Diff([]string{"semantic/a.md", "slots/x/y/z", "tombstones/1.json", "tombstones/2.json"}, names); d != "" || err != nil {
				t.Errorf("List: %v, %s", err, d)
			}
			for name, want := range map[string]string{"semantic/a.md": "a\n", "tombstones/2.json": "{2}", "tombstones/1.json": "{}"} {
				if data, err := theirs.Read(name); err != nil || string(data) != want {
					t.Errorf("read %s: %q, %v", name, data, err)
				}
			}
			for _, name := range []string{"semantic/none.md", "semantic", "../a", ""} {
				if _, err := theirs.Read(name); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a missing file %q: %v", name, err)
				}
			}
			return Lines, nil
		}
	})
	b.sync()
	if asked != 1 {
		t.Errorf("the merger was asked %d times", asked)
	}
	refuse := errors.New("no model of theirs")
	b.with(func(o *replica.Options) { o.Merger = func(replica.Tree) (replica.Merge, error) { return nil, refuse } })
	a.write(map[string]string{"semantic/a.md": "a\nb\na2\n"})
	a.sync()
	b.write(map[string]string{"semantic/a.md": "a\nb\nb2\n"})
	if _, err := b.b.Sync(t.Context()); !errors.Is(err, refuse) {
		t.Errorf("got %v", err)
	}
	b.has(map[string]string{"semantic/a.md": "a\nb\nb2\n", "tombstones/1.json": "{}", "tombstones/2.json": "{2}", "slots/x/y/z": ""})
}
