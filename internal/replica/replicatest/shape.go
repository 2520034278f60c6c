package replicatest

import (
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

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
		o.Merger = func(theirs fs.FS) (replica.Merge, error) {
			asked++
			names, err := fs.Glob(theirs, "tombstones/*.json")
			if d := cmp.Diff([]string{"tombstones/1.json", "tombstones/2.json"}, names); d != "" || err != nil {
				t.Errorf("Glob: %v, %s", err, d)
			}
			sub, err := fs.Sub(theirs, "tombstones")
			if err != nil {
				t.Error(err)
			} else if data, err := fs.ReadFile(sub, "2.json"); err != nil || string(data) != "{2}" {
				t.Errorf("read %q, %v", data, err)
			}
			if _, err := fs.ReadFile(theirs, "semantic/none.md"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a missing file: %v", err)
			}
			if err := fstest.TestFS(theirs, "semantic/a.md", "tombstones/1.json", "tombstones/2.json", "slots/x/y/z"); err != nil {
				t.Error(err)
			}
			return Lines, nil
		}
	})
	b.sync()
	if asked != 1 {
		t.Errorf("the merger was asked %d times", asked)
	}
	refuse := errors.New("no model of theirs")
	b.with(func(o *replica.Options) { o.Merger = func(fs.FS) (replica.Merge, error) { return nil, refuse } })
	a.write(map[string]string{"semantic/a.md": "a\nb\na2\n"})
	a.sync()
	b.write(map[string]string{"semantic/a.md": "a\nb\nb2\n"})
	if _, err := b.b.Sync(t.Context()); !errors.Is(err, refuse) {
		t.Errorf("got %v", err)
	}
	b.has(map[string]string{"semantic/a.md": "a\nb\nb2\n", "tombstones/1.json": "{}", "tombstones/2.json": "{2}", "slots/x/y/z": ""})
}
