package replica_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"

	"github.com/google/go-cmp/cmp"
)

func TestHistory(t *testing.T) {
	dir, remote := t.TempDir(), bare(t)
	o := options(t, dir)
	now := o.Now()
	o.Now, o.Remote = func() time.Time { return now }, remote
	b := open(t, o)
	h := b.(replica.Historian)
	if list, err := h.Log(t.Context(), "", 0); err != nil || len(list) != 0 {
		t.Errorf("Log of nothing = %v, %v", list, err)
	}
	if _, err := h.Show(t.Context(), "HEAD", "semantic/a.md"); !errors.Is(err, replica.ErrNoRevision) {
		t.Errorf("Show of nothing: %v", err)
	}
	if list, err := h.Machines(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("Machines of nothing = %v, %v", list, err)
	}
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "one\n", "semantic/b.md": "b\n"})
	mustCommit(t, b, true)
	now = now.Add(time.Hour)
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "two\r\n"})
	if out, err := b.Sync(t.Context()); err != nil || !out.Pushed {
		t.Fatal(out, err)
	}
	now = now.Add(time.Hour)
	o.MachineID = "laptop"
	replicatest.Write(t, dir, map[string]string{"semantic/é.md": "x\n"})
	mustCommit(t, open(t, o), true)
	run(t, dir, "commit", "-q", "--allow-empty", "-m", "by hand")

	list, err := h.Log(t.Context(), "", 0)
	if err != nil || len(list) != 4 {
		t.Fatalf("Log = %+v, %v", list, err)
	}
	var got []string
	for _, c := range list {
		got = append(got, c.Author+"|"+c.Machine+"|"+strings.Join(c.Paths, " "))
	}
	if d := cmp.Diff([]string{"user||", "anamnesis|laptop|semantic/é.md", "anamnesis|studio-desktop|semantic/a.md", "anamnesis|studio-desktop|.gitattributes semantic/a.md semantic/b.md"}, got); d != "" {
		t.Errorf("Log (-want +got):\n%s", d)
	}
	if c := list[2]; !c.At.Equal(now.Add(-time.Hour)) || c.Subject != "anamnesis: sync from studio-desktop at 2026-11-20T11:00:00+00:00" || c.Merge {
		t.Errorf("got %+v", c)
	}
	if list, err := h.Log(t.Context(), "semantic/a.md", 1); err != nil || len(list) != 1 || list[0].ID == "" || cmp.Diff([]string{"semantic/a.md"}, list[0].Paths) != "" {
		t.Errorf("Log of a path = %+v, %v", list, err)
	}
	first := list[3].ID
	if data, err := h.Show(t.Context(), first, "semantic/a.md"); err != nil || string(data) != "one\n" {
		t.Errorf("Show = %q, %v", data, err)
	}
	if data, err := h.Show(t.Context(), "HEAD~1", "semantic/a.md"); err != nil || string(data) != "two\r\n" {
		t.Errorf("Show = %q, %v", data, err)
	}
	text, err := h.Diff(t.Context(), first, "main", "semantic/a.md")
	if err != nil || !strings.Contains(text, "-one\n+two\r\n") || !strings.Contains(text, "--- a/semantic/a.md\n") {
		t.Errorf("Diff = %q, %v", text, err)
	}
	replicatest.Write(t, dir, map[string]string{"semantic/b.md": "changed\n"})
	if text, err := h.Diff(t.Context(), "HEAD", "", ""); err != nil || !strings.Contains(text, "+changed\n") {
		t.Errorf("Diff with the tree = %q, %v", text, err)
	}
	machines, err := h.Machines(t.Context())
	want := []replica.Machine{
		{Name: "laptop", Last: now, Commits: 1, Waiting: 1, Known: true},
		{Name: "studio-desktop", Last: now.Add(-time.Hour), Commits: 2, Here: true, Known: true},
	}
	if d := cmp.Diff(want, machines); d != "" || err != nil {
		t.Errorf("Machines: %v\n%s", err, d)
	}
	for _, rev := range []string{"", "-x", "--output=/tmp/x", "a..b", "^HEAD", ":/x", "HEAD:x y", "no", strings.Repeat("a", 300), "a\nb", "refs/heads/*", "HEAD^{/x y}"} {
		if _, err := h.Show(t.Context(), rev, "semantic/a.md"); !errors.Is(err, replica.ErrNoRevision) {
			t.Errorf("Show(%q): %v", rev, err)
		}
		if _, err := h.Diff(t.Context(), rev, "", ""); !errors.Is(err, replica.ErrNoRevision) {
			t.Errorf("Diff(%q): %v", rev, err)
		}
	}
	for _, name := range []string{"-x", "../x", "/etc/passwd", "a//b", ".git/config", "a/../b", "x\x00y", "\xff", "."} {
		if _, err := h.Show(t.Context(), "HEAD", name); err == nil {
			t.Errorf("Show of %q is accepted", name)
		}
		if _, err := h.Log(t.Context(), name, 1); err == nil {
			t.Errorf("Log of %q is accepted", name)
		}
	}
	if _, err := h.Show(t.Context(), "HEAD", "semantic"); !errors.Is(err, replica.ErrNoRevision) {
		t.Errorf("Show of a folder: %v", err)
	}
	if _, ok := open(t, replica.Options{Backend: "none"}).(replica.Historian); ok {
		t.Error("none has a history")
	}
}
