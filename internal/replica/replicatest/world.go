package replicatest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/replica"

	"github.com/google/go-cmp/cmp"
)

// A World is a set of machines and two remotes, Remote and Other, both empty.
type World struct {
	Remote, Other string
	// Open opens a backend; the defaults of the test are filled in.
	Open func(t *testing.T, o replica.Options) replica.Backend
	// Cut takes a remote away, or brings it back.
	Cut func(t *testing.T, remote string, down bool)
	// Point makes a remote have exactly what another one has.
	Point func(t *testing.T, remote, like string)
	// Files returns what a remote has, without what the backend adds.
	Files func(t *testing.T, remote string) map[string]string
}

// Lines merges sets of lines: what either side added, and what both kept. It is
// commutative and loses nothing. Two versions of Clash cannot be merged.
func Lines(path string, base, ours, theirs []byte) (merged, other []byte, err error) {
	if path == Clash && ours != nil && theirs != nil {
		if bytes.Compare(ours, theirs) > 0 {
			return ours, theirs, nil
		}
		return theirs, ours, nil
	}
	b, o, t := lines(base), lines(ours), lines(theirs)
	var all []string
	for _, line := range append(slices.Clone(o), t...) {
		in := func(set []string) bool { return slices.Contains(set, line) }
		if in(o) && in(t) || !in(b) {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) == 0 && base != nil && (ours == nil || theirs == nil) {
		return nil, nil, nil
	}
	return []byte(strings.Join(all, "")), nil, nil
}

// Clash is the path that Lines does not merge.
const Clash = "semantic/clash.md"

func lines(data []byte) []string { return slices.Collect(strings.Lines(string(data))) }

// merger gives Lines to a merge.
func merger(replica.Tree) (replica.Merge, error) { return Lines, nil }

// A machine is a tree with a backend, synced with the remote of its world.
type machine struct {
	t   *testing.T
	w   World
	dir string
	o   replica.Options
	b   replica.Backend
}

func (w World) machine(t *testing.T, name string, change ...func(*replica.Options)) *machine {
	t.Helper()
	m := &machine{t: t, w: w, dir: filepath.Join(t.TempDir(), name)}
	m.o = replica.Options{Dir: m.dir, MachineID: name, Remote: w.Remote, Merger: merger}
	m.with(change...)
	return m
}

// with opens the machine again with other options.
func (m *machine) with(change ...func(*replica.Options)) {
	m.t.Helper()
	for _, f := range change {
		f(&m.o)
	}
	m.b = m.w.Open(m.t, m.o)
}

func (m *machine) write(files map[string]string) { m.t.Helper(); Write(m.t, m.dir, files) }

func (m *machine) remove(names ...string) {
	m.t.Helper()
	for _, name := range names {
		if err := os.Remove(filepath.Join(m.dir, filepath.FromSlash(name))); err != nil {
			m.t.Fatal(err)
		}
	}
}

// sync expects the sync to reach the remote.
func (m *machine) sync() replica.Outcome {
	m.t.Helper()
	out, err := m.b.Sync(m.t.Context())
	if err != nil || out.Offline {
		m.t.Fatalf("%s: Sync = %+v, %v", m.o.MachineID, out, err)
	}
	return out
}

// has compares the tree of the machine.
func (m *machine) has(want map[string]string) {
	m.t.Helper()
	if d := cmp.Diff(want, tree(m.t, m.dir)); d != "" {
		m.t.Errorf("the tree of %s (-want +got):\n%s", m.o.MachineID, d)
	}
}

func (w World) has(t *testing.T, want map[string]string) {
	t.Helper()
	if d := cmp.Diff(want, w.Files(t, w.Remote)); d != "" {
		t.Errorf("the remote (-want +got):\n%s", d)
	}
}

// tree reads the files of a folder, without hidden ones.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || at == dir {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, at)
			data, err := os.ReadFile(at)
			files[filepath.ToSlash(rel)] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// clean checks that a machine has nothing left to commit.
func (m *machine) clean() {
	m.t.Helper()
	if s, err := m.b.State(m.t.Context()); err != nil || s.Dirty || s.Detail != "ok" {
		m.t.Errorf("State of %s = %+v, %v", m.o.MachineID, s, err)
	}
}

// RunWorld runs the part of the contract that needs a remote.
func RunWorld(t *testing.T, open func(t *testing.T) World) {
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, w World)
	}{
		{"first push and first pull", firstPush},
		{"nothing anywhere", nothing},
		{"fast forward", forward},
		{"merge", merge},
		{"conflict", conflict},
		{"settle fails", settleFails},
		{"delete against edit", deleteEdit},
		{"merge by bytes", byBytes},
		{"crossed merges", crossed},
		{"offline", offline},
		{"backoff", backoff},
		{"remote later", later},
		{"remote emptied", emptied},
		{"unrelated histories", unrelated},
		{"remote replaced", replaced},
		{"held", heldBack},
		{"held and changed there", heldAndChanged},
		{"too many deletions", tooMany},
		{"deletions among a few notes", fewNotes},
		{"notes that lose their text", overwritten},
		{"tombstones without deletions", erasing},
		{"edit during the sync", editDuring},
		{"crash after the files", crash},
		{"remote moves during the sync", moves},
		{"names in another case", cases},
		{"file and folder", fileFolder},
		{"the view of theirs", theView},
		{"cancelled", cancelled},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

func firstPush(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	files := map[string]string{"semantic/a.md": "a\r\n", "semantic/x/b.md": "", "slots/é 日本": "c\n", "projects.yaml": "d\n"}
	a.write(files)
	if out := a.sync(); !out.Committed || !out.Pushed || out.Pulled != 0 || out.Detail != "synced" || out.Ahead != 0 ||
		out.Head == "" || len(out.Changed) != 0 {
		t.Errorf("first push: %+v", out)
	}
	w.has(t, files)
	out := b.sync()
	if out.Committed || out.Pushed || out.Pulled != 1 || out.Detail != "synced" || len(out.Changed) != 4 || !slices.IsSorted(out.Changed) {
		t.Errorf("first pull: %+v", out)
	}
	b.has(files)
	b.clean()
	for _, m := range []*machine{a, b} {
		if got := m.sync(); got.Committed || got.Pushed || got.Pulled != 0 || len(got.Changed) != 0 || got.Head != out.Head {
			t.Errorf("a sync of nothing: %+v", got)
		}
	}
}

func nothing(t *testing.T, w World) {
	a := w.machine(t, "a")
	for range 2 {
		if out := a.sync(); out.Committed || out.Pushed || out.Head != "" || out.Detail != "synced" {
			t.Errorf("got %+v", out)
		}
	}
}

func forward(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	a.write(map[string]string{"semantic/a.md": "1\n", "semantic/b.md": "1\n"})
	a.sync()
	b.sync()
	a.write(map[string]string{"semantic/a.md": "2\n", "semantic/c.md": "1\n"})
	a.remove("semantic/b.md")
	head := a.sync().Head
	out := b.sync()
	if out.Head != head || out.Pushed || out.Pulled != 1 || cmp.Diff([]string{"semantic/a.md", "semantic/b.md", "semantic/c.md"},
		out.Changed) != "" {
		t.Errorf("got %+v, want the head %s", out, head)
	}
	b.has(map[string]string{"semantic/a.md": "2\n", "semantic/c.md": "1\n"})
	b.clean()
}

func merge(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	a.write(map[string]string{"semantic/a.md": "1\n2\n", "semantic/b.md": "1\n", "semantic/gone.md": "1\n"})
	a.sync()
	b.sync()
	a.write(map[string]string{"semantic/a.md": "1\n2\na\n", "semantic/both.md": "a\n", "semantic/ofa.md": "a\n"})
	b.write(map[string]string{"semantic/a.md": "2\nb\n", "semantic/both.md": "b\n", "semantic/b.md": "2\n"})
	a.remove("semantic/gone.md")
	a.sync()
	out := b.sync()
	if !out.Committed || !out.Pushed || out.Pulled != 1 || out.Conflicts != 0 || out.Conflicted ||
		cmp.Diff([]string{"semantic/a.md", "semantic/both.md", "semantic/gone.md", "semantic/ofa.md"}, out.Changed) != "" {
		t.Errorf("got %+v", out)
	}
	want := map[string]string{"semantic/a.md": "2\na\nb\n", "semantic/both.md": "a\nb\n", "semantic/b.md": "2\n", "semantic/ofa.md": "a\n"}
	b.has(want)
	b.clean()
	w.has(t, want)
	if got := a.sync(); got.Pulled != 2 || got.Pushed || got.Head != out.Head {
		t.Errorf("the other side: %+v", got)
	}
	a.has(want)
	a.clean()
}

func conflict(t *testing.T, w World) {
	var kept []replica.Conflict
	a, b := w.machine(t, "a"), w.machine(t, "b", func(o *replica.Options) {
		o.Settle = func(c replica.Conflict) error { kept = append(kept, c); return nil }
	})
	a.write(map[string]string{Clash: "0\n"})
	a.sync()
	b.sync()
	a.write(map[string]string{Clash: "2\n"})
	b.write(map[string]string{Clash: "1\n", "semantic/new.md": "1\n"})
	a.sync()
	out := b.sync()
	if out.Conflicts != 1 || !out.Pushed || out.Conflicted {
		t.Errorf("got %+v", out)
	}
	if len(kept) != 1 || kept[0].Path != Clash ||
		string(kept[0].Base)+string(kept[0].Ours)+string(kept[0].Theirs)+string(kept[0].Merged)+string(kept[0].Other) != "0\n1\n2\n2\n1\n" ||
		kept[0].OursAt == "" || kept[0].TheirsAt == "" || kept[0].OursAt == kept[0].TheirsAt {
		t.Errorf("kept %+v", kept)
	}
	b.has(map[string]string{Clash: "2\n", "semantic/new.md": "1\n"})
	if out := b.sync(); out.Conflicts != 0 || len(kept) != 1 {
		t.Errorf("once more: %+v", out)
	}
}

func settleFails(t *testing.T, w World) {
	full := errors.New("the disk is full")
	a, b := w.machine(t, "a"), w.machine(t, "b", func(o *replica.Options) {
		o.Settle = func(replica.Conflict) error { return full }
	})
	a.write(map[string]string{Clash: "2\n", "semantic/a.md": "a\n"})
	a.sync()
	b.write(map[string]string{Clash: "1\n"})
	before := w.Files(t, w.Remote)
	out, err := b.b.Sync(t.Context())
	if !errors.Is(err, full) || !strings.Contains(err.Error(), Clash) || out.Pushed || len(out.Changed) != 0 {
		t.Errorf("got %+v, %v", out, err)
	}
	b.has(map[string]string{Clash: "1\n"})
	w.has(t, before)
	b.with(func(o *replica.Options) { o.Settle = nil })
	b.sync()
	b.has(map[string]string{Clash: "2\n", "semantic/a.md": "a\n"})
}

func deleteEdit(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	a.write(map[string]string{"semantic/a.md": "1\n", "semantic/b.md": "1\n", "semantic/both.md": "1\n"})
	a.sync()
	b.sync()
	a.remove("semantic/a.md", "semantic/both.md")
	a.write(map[string]string{"semantic/b.md": "1\n2\n"})
	b.remove("semantic/b.md", "semantic/both.md")
	b.write(map[string]string{"semantic/a.md": "1\n2\n"})
	a.sync()
	b.sync()
	a.sync()
	want := map[string]string{"semantic/a.md": "2\n", "semantic/b.md": "2\n"}
	a.has(want)
	b.has(want)
}

func byBytes(t *testing.T, w World) {
	var other []string
	plain := func(o *replica.Options) {
		o.Merger = nil
		o.Settle = func(c replica.Conflict) error { other = append(other, string(c.Other)); return nil }
	}
	a, b := w.machine(t, "a", plain), w.machine(t, "b", plain)
	a.write(map[string]string{"semantic/a.md": "a\n", "semantic/same.md": "s\n"})
	b.write(map[string]string{"semantic/a.md": "b\n", "semantic/same.md": "s\n"})
	a.sync()
	b.sync()
	a.sync()
	got := tree(t, a.dir)
	b.has(got)
	if text := got["semantic/a.md"]; len(other) != 1 || text+other[0] != "a\nb\n" && text+other[0] != "b\na\n" {
		t.Errorf("got %q, and kept %q", got, other)
	}
}

// Two machines merge each other's state crosswise, through two remotes.
func crossed(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	to := func(remote string) func(*replica.Options) { return func(o *replica.Options) { o.Remote = remote } }
	a.write(map[string]string{"semantic/x.md": "of a\nof b\nstay\n", "semantic/y.md": "y\n"})
	a.sync()
	b.sync()
	b.with(to(w.Other))
	b.sync()
	a.write(map[string]string{"semantic/x.md": "of b\nnew a\nstay\n"})
	b.write(map[string]string{"semantic/x.md": "of a\nnew b\nstay\n"})
	a.sync()
	b.sync()
	// Both merge what the other had, before they see each other's merge.
	a.with(to(w.Other))
	b.with(to(w.Remote))
	a.sync()
	b.sync()
	a.has(map[string]string{"semantic/x.md": "new a\nnew b\nstay\n", "semantic/y.md": "y\n"})
	// With one of the two bases alone, one of these lines would go or come wrongly.
	a.write(map[string]string{"semantic/x.md": "of a\nof b\nstay\n"})
	a.sync()
	b.write(map[string]string{"semantic/y.md": "y\nb\n"})
	b.sync()
	a.with(to(w.Remote))
	a.sync()
	b.sync()
	want := map[string]string{"semantic/x.md": "of a\nof b\nstay\n", "semantic/y.md": "y\nb\n"}
	a.has(want)
	b.has(want)
}
