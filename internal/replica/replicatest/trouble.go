package replicatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/replica"
)

func offline(t *testing.T, w World) {
	a := w.machine(t, "a")
	a.write(map[string]string{"semantic/a.md": "a\n"})
	a.sync()
	w.Cut(t, w.Remote, true)
	a.write(map[string]string{"semantic/a.md": "b\n"})
	out, err := a.b.Sync(t.Context())
	if err != nil || !out.Offline || !out.Committed || out.Pushed || out.Ahead != 1 || !strings.HasPrefix(out.Detail,
		"committed locally; the remote could not be reached: ") {
		t.Errorf("got %+v, %v", out, err)
	}
	if s, err := a.b.State(t.Context()); err != nil || s.Ahead != 1 || s.Behind != 0 {
		t.Errorf("State = %+v, %v", s, err)
	}
	w.Cut(t, w.Remote, false)
	if out := a.sync(); !out.Pushed || out.Ahead != 0 {
		t.Errorf("got %+v", out)
	}
	w.has(t, map[string]string{"semantic/a.md": "b\n"})
}

func backoff(t *testing.T, w World) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	a := w.machine(t, "a", func(o *replica.Options) { o.Now, o.Automatic = func() time.Time { return now }, true })
	a.write(map[string]string{"semantic/a.md": "a\n"})
	w.Cut(t, w.Remote, true)
	tried := func(want bool) {
		t.Helper()
		out, err := a.b.Sync(t.Context())
		if err != nil || !out.Offline || strings.Contains(out.Detail, "next automatic attempt") == want {
			t.Errorf("at %v: %+v, %v", now, out, err)
		}
	}
	for i, minutes := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		wait := time.Duration(minutes) * time.Minute
		tried(true)
		now = now.Add(wait - time.Second)
		tried(false)
		now = now.Add(time.Second)
		if i == 1 { // the user may always try
			a.with(func(o *replica.Options) { o.Automatic = false })
			tried(true)
			tried(true)
			a.with(func(o *replica.Options) { o.Automatic = true })
			now = now.Add(8 * time.Minute)
			tried(true)
			w.Cut(t, w.Remote, false)
			now = now.Add(16 * time.Minute)
			if out := a.sync(); !out.Pushed {
				t.Errorf("got %+v", out)
			}
			w.Cut(t, w.Remote, true)
			tried(true)
			now = now.Add(time.Minute)
			tried(true)
			now = now.Add(2 * time.Minute)
		}
	}
	// The clock was set back: that is no reason to wait for months.
	now = now.AddDate(0, -6, 0)
	tried(true)
}

func later(t *testing.T, w World) {
	a := w.machine(t, "a", func(o *replica.Options) { o.Remote = "" })
	b := w.machine(t, "b")
	a.write(map[string]string{"semantic/a.md": "a\n"})
	if out := a.sync(); out.Detail != "committed locally; no remote configured" {
		t.Errorf("got %+v", out)
	}
	b.write(map[string]string{"semantic/b.md": "b\n"})
	b.sync()
	a.with(func(o *replica.Options) { o.Remote = w.Remote })
	if out := a.sync(); !out.Pushed || out.Pulled != 1 {
		t.Errorf("got %+v", out)
	}
	w.has(t, map[string]string{"semantic/a.md": "a\n", "semantic/b.md": "b\n"})
	a.with(func(o *replica.Options) { o.Remote = w.Other })
	if out := a.sync(); !out.Pushed || out.Detail != "synced" {
		t.Errorf("got %+v", out)
	}
	if got := w.Files(t, w.Other); len(got) != 2 {
		t.Errorf("the other remote has %v", got)
	}
}

func emptied(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	files := map[string]string{"semantic/a.md": "a\n", "semantic/b.md": "b\n"}
	a.write(files)
	a.sync()
	b.sync()
	w.Point(t, w.Remote, w.Other)
	if out := b.sync(); !out.Pushed || len(out.Changed) != 0 || !strings.Contains(out.Detail, "the remote was empty again") {
		t.Errorf("got %+v", out)
	}
	b.has(files)
	w.has(t, files)
	if out := a.sync(); out.Pulled != 0 || out.Detail != "synced" {
		t.Errorf("got %+v", out)
	}
	a.has(files)
}

func unrelated(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	a.write(map[string]string{"semantic/a.md": "a\n", "semantic/both.md": "a\n"})
	b.write(map[string]string{"semantic/b.md": "b\n", "semantic/both.md": "b\n"})
	a.sync()
	if out := b.sync(); !out.Pushed || out.Pulled != 1 || out.Detail != "synced" {
		t.Errorf("got %+v", out)
	}
	a.sync()
	want := map[string]string{"semantic/a.md": "a\n", "semantic/b.md": "b\n", "semantic/both.md": "a\nb\n"}
	a.has(want)
	b.has(want)
}

// Somebody pushes another history over the one that was there.
func replaced(t *testing.T, w World) {
	a := w.machine(t, "a")
	a.write(map[string]string{"semantic/a.md": "a\n", "semantic/both.md": "a\n"})
	a.sync()
	other := w.machine(t, "c", func(o *replica.Options) { o.Remote = w.Other })
	other.write(map[string]string{"semantic/c.md": "c\n", "semantic/both.md": "c\n"})
	other.sync()
	w.Point(t, w.Remote, w.Other)
	if out := a.sync(); !out.Pushed || !strings.Contains(out.Detail, "the history of the remote was replaced") {
		t.Errorf("got %+v", out)
	}
	want := map[string]string{"semantic/a.md": "a\n", "semantic/c.md": "c\n", "semantic/both.md": "a\nc\n"}
	a.has(want)
	w.has(t, want)
	// Set back to what it was before.
	w.Point(t, w.Remote, w.Other)
	if out := a.sync(); !out.Pushed || !strings.Contains(out.Detail, "set back to an older state") {
		t.Errorf("got %+v", out)
	}
	w.has(t, want)
}

// secret holds back what says so.
func secret(_ string, data []byte) string {
	if strings.Contains(string(data), "secret") {
		return "it looks like a secret"
	}
	return ""
}

func heldBack(t *testing.T, w World) {
	a := w.machine(t, "a", func(o *replica.Options) { o.Hold = secret })
	a.write(map[string]string{"semantic/a.md": "a\n", "semantic/s.md": "secret\n"})
	committed, err := a.b.Commit(t.Context(), nil)
	if !committed || !errors.Is(err, replica.ErrHeld) || !strings.Contains(err.Error(), "semantic/s.md: it looks like a secret") {
		t.Errorf("Commit = %v, %v", committed, err)
	}
	if out := a.sync(); !out.Pushed || !out.Conflicted || !strings.Contains(out.Detail, "held back: semantic/s.md: it looks like a secret") {
		t.Errorf("got %+v", out)
	}
	w.has(t, map[string]string{"semantic/a.md": "a\n"})
	a.has(map[string]string{"semantic/a.md": "a\n", "semantic/s.md": "secret\n"})
	a.write(map[string]string{"semantic/s.md": "fine\n"})
	if out := a.sync(); !out.Pushed || out.Conflicted {
		t.Errorf("got %+v", out)
	}
	w.has(t, map[string]string{"semantic/a.md": "a\n", "semantic/s.md": "fine\n"})
}

func heldAndChanged(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b", func(o *replica.Options) { o.Hold = secret })
	a.write(map[string]string{"semantic/a.md": "1\n2\n", "semantic/b.md": "1\n"})
	a.sync()
	b.sync()
	for i, ahead := range []bool{false, true} { // by fast forward, and by a merge
		b.write(map[string]string{"semantic/a.md": "2\nsecret\n"}) // deletes 1
		if ahead {
			b.write(map[string]string{"semantic/c.md": "c\n"})
		}
		a.write(map[string]string{"semantic/a.md": fmt.Sprintf("1\n2\n3\nr%d\n", i)})
		a.sync()
		if out := b.sync(); !out.Conflicted || out.Pushed != ahead || !slices.Contains(out.Changed, "semantic/a.md") {
			t.Errorf("got %+v", out)
		}
		want := "2\n3\nr0\nsecret\n"
		if ahead {
			want = "2\nr1\nsecret\n"
		}
		if got := tree(t, b.dir)["semantic/a.md"]; got != want {
			t.Errorf("the held file reads %q, want %q", got, want)
		}
		if got := w.Files(t, w.Remote)["semantic/a.md"]; strings.Contains(got, "secret") || !strings.Contains(got, "3\n") {
			t.Errorf("the remote has %q", got)
		}
		again := tree(t, b.dir)
		b.sync()
		b.has(again)
	}
	b.with(func(o *replica.Options) { o.Hold = nil })
	b.sync()
	a.sync()
	a.has(tree(t, b.dir))
	if got := tree(t, a.dir)["semantic/a.md"]; strings.HasPrefix(got, "1\n") || !strings.Contains(got, "secret") {
		t.Errorf("the file that was held reads %q", got)
	}
}

func editDuring(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	a.write(map[string]string{"semantic/a.md": "1\n", "semantic/b.md": "1\n"})
	a.sync()
	b.sync()
	a.write(map[string]string{"semantic/a.md": "1\na\n", "semantic/b.md": "2\n"})
	a.sync()
	edits := 0
	b.with(func(o *replica.Options) {
		o.Apply = func(changes []replica.Change) (changed []string, err error) {
			if edits++; edits == 1 {
				Write(t, b.dir, map[string]string{"semantic/a.md": "1\nb\n"})
			}
			return apply(b.dir, changes)
		}
	})
	if out := b.sync(); !out.Committed || !out.Pushed || edits < 2 {
		t.Errorf("got %+v after %d attempts", out, edits)
	}
	want := map[string]string{"semantic/a.md": "1\na\nb\n", "semantic/b.md": "2\n"}
	b.has(want)
	w.has(t, want)
	// A file that never rests ends in a message.
	a.sync()
	a.write(map[string]string{"semantic/a.md": "z\n"})
	a.sync()
	b.with(func(o *replica.Options) {
		o.Apply = func(changes []replica.Change) (changed []string, err error) {
			edits++
			Write(t, b.dir, map[string]string{"semantic/a.md": fmt.Sprintf("edit %d\n", edits)})
			return apply(b.dir, changes)
		}
	})
	if out := b.sync(); out.Pushed || !strings.Contains(out.Detail, "semantic/a.md was edited during the sync 6 times in a row") {
		t.Errorf("got %+v", out)
	}
	b.with(func(o *replica.Options) { o.Apply = nil })
	b.sync()
	a.sync()
	a.has(tree(t, b.dir))
}

// apply is an Options.Apply on a folder.
func apply(dir string, changes []replica.Change) (changed []string, err error) {
	for _, ch := range changes {
		at := filepath.Join(dir, filepath.FromSlash(ch.Path))
		data, err := os.ReadFile(at)
		if (err == nil) != (ch.Old != nil) || string(data) != string(ch.Old) {
			changed = append(changed, ch.Path)
			continue
		}
		if ch.New == nil {
			err = os.Remove(at)
		} else if err = os.MkdirAll(filepath.Dir(at), 0o700); err == nil {
			err = os.WriteFile(at, ch.New, 0o600)
		}
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// A machine dies when all or some of the files are written and the branch has not moved.
func crash(t *testing.T, w World) {
	for _, ahead := range []bool{false, true} {
		for _, part := range []int{1, 2, 3} {
			a, b := w.machine(t, "a"), w.machine(t, "b")
			a.sync() // what the round before left
			a.write(map[string]string{"semantic/a.md": "1\n2\n", "semantic/b.md": "1\n", "semantic/new.md": ""})
			a.remove("semantic/new.md")
			a.sync()
			b.sync()
			a.write(map[string]string{"semantic/a.md": "1\n2\na\n", "semantic/new.md": "new\n"})
			a.remove("semantic/b.md")
			a.sync()
			if ahead {
				b.write(map[string]string{"semantic/a.md": "2\nb\n", "semantic/mine.md": "m\n"})
			}
			died := errors.New("power cut")
			b.with(func(o *replica.Options) {
				o.Apply = func(changes []replica.Change) ([]string, error) {
					_, err := apply(b.dir, changes[:min(part, len(changes))])
					return nil, errors.Join(died, err)
				}
			})
			if _, err := b.b.Sync(t.Context()); !errors.Is(err, died) {
				t.Fatal(err)
			}
			b.with(func(o *replica.Options) { o.Apply = nil })
			b.sync()
			want := map[string]string{"semantic/a.md": "1\n2\na\n", "semantic/new.md": "new\n"}
			if ahead {
				want["semantic/a.md"], want["semantic/mine.md"] = "2\na\nb\n", "m\n"
			}
			b.has(want)
			b.clean()
			a.sync()
			a.has(want)
			w.Point(t, w.Remote, w.Other)
		}
	}
}

func moves(t *testing.T, w World) {
	a, b := w.machine(t, "a"), w.machine(t, "b")
	a.write(map[string]string{"semantic/a.md": "1\n"})
	a.sync()
	b.sync()
	round := 0
	b.with(func(o *replica.Options) {
		o.Merger = func(replica.Tree) (replica.Merge, error) {
			if round++; round <= 2 {
				a.write(map[string]string{"semantic/a.md": fmt.Sprintf("1\na\na%d\n", round)})
				a.sync()
			}
			return Lines, nil
		}
	})
	a.write(map[string]string{"semantic/a.md": "1\na\n"})
	a.sync()
	b.write(map[string]string{"semantic/a.md": "1\nb\n"})
	if out := b.sync(); !out.Pushed || round != 3 || out.Pulled != 3 || out.Behind != 0 {
		t.Errorf("got %+v after %d rounds", out, round)
	}
	w.has(t, map[string]string{"semantic/a.md": "1\na\na2\nb\n"})
}

func cancelled(t *testing.T, w World) {
	a := w.machine(t, "a")
	a.write(map[string]string{"semantic/a.md": "a\n"})
	a.sync()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	if _, err := a.b.Sync(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("it took %v", d)
	}
	a.sync()
}
