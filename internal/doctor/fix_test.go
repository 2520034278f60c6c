package doctor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/doctor"

	"github.com/google/go-cmp/cmp"
)

// TestPlan plans for a sick installation, sees that nothing happens before it
// is done, does it, and looks again.
func TestPlan(t *testing.T) {
	b := healthy(t, 2)
	var called []string
	call := func(what string) func(context.Context) error {
		return func(context.Context) error { called = append(called, what); return nil }
	}
	b.Reindex, b.Drain, b.Harnesses[0].Install = call("reindex"), call("drain"), call("install")

	chmod(t, b.root, 0o755)
	b.put(t, "config.json", "{}")
	chmod(t, b.Store.Path("config.json"), 0o644)
	symlink(t, "/etc/passwd", b.Store.Path("link"))
	b.put(t, "memory/semantic/.tmp-anamnesis-1", "x")
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(b.Store.Path("memory/semantic/.tmp-anamnesis-1"), old, old); err != nil {
		t.Fatal(err)
	}
	aside := "index.db.foreign-20260101T000000"
	b.put(t, aside, "x")
	remove(t, b.settings)
	b.addNote(t, b.Store, "New", "Something new.")
	b.enqueue(t)
	b.put(t, "spool/poisoned/x.json", "{")
	b.conflict(t)
	later(b, 2*time.Hour)

	before := tree(t, b.dir)
	plan := doctor.Plan(t.Context(), b.Target, doctor.Examine(t.Context(), b.Target, nil))
	if diff := cmp.Diff(before, tree(t, b.dir)); diff != "" || len(called) > 0 {
		t.Errorf("the plan did something: %v\n%s", called, diff)
	}
	var got []string
	for _, f := range plan {
		line := f.Check
		if f.Asks {
			line += " asks"
		}
		got = append(got, line)
		if f.What == "" || f.Asks != strings.HasPrefix(f.What, "delete ") {
			t.Errorf("%+v", f)
		}
	}
	want := []string{"permissions", "permissions", "leftovers", "hooks", "drift", "spool", "set-aside asks"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for range 2 { // the second time there is nothing to do
		for _, f := range plan {
			if err := f.Do(t.Context()); err != nil {
				t.Errorf("%s: %v", f.What, err)
			}
		}
	}
	if diff := cmp.Diff("install reindex drain install reindex drain", strings.Join(called, " ")); diff != "" {
		t.Error(diff)
	}
	for _, id := range []string{"permissions", "leftovers", "set-aside"} {
		if r := b.one(t, id); r.State != doctor.OK {
			t.Errorf("after it was mended: %+v", r)
		}
	}
	for name, there := range map[string]bool{aside: false, "spool/poisoned/x.json": true, "link": true} {
		if _, err := os.Lstat(b.Store.Path(name)); errors.Is(err, os.ErrNotExist) == there {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPlanOnce wants one cure for two checks that need the same.
func TestPlanOnce(t *testing.T) {
	b := healthy(t, 0)
	b.Reindex = func(context.Context) error { return nil }
	plan := doctor.Plan(t.Context(), b.Target, []doctor.Result{{ID: "index", State: doctor.Bad}, {ID: "drift", State: doctor.Warn}})
	if len(plan) != 1 {
		t.Errorf("got %+v", plan)
	}
}

// TestPlanWithout plans without anything to mend with.
func TestPlanWithout(t *testing.T) {
	results := make([]doctor.Result, 0, len(doctor.Checks))
	for _, id := range doctor.IDs() {
		results = append(results, doctor.Result{ID: id, State: doctor.Bad})
	}
	if plan := doctor.Plan(t.Context(), &doctor.Target{}, results); len(plan) > 0 {
		t.Errorf("plan without seams: %+v", plan)
	}
}

// TestPrivateLink lets a link take the place of a file between plan and deed.
func TestPrivateLink(t *testing.T) {
	b := healthy(t, 0)
	b.put(t, "config.json", "{}")
	chmod(t, b.Store.Path("config.json"), 0o644)
	outside := filepath.Join(b.dir, "outside")
	b.write(t, outside, "x", 0o644)
	plan := doctor.Plan(t.Context(), b.Target, []doctor.Result{{ID: "permissions", State: doctor.Warn}})
	remove(t, b.Store.Path("config.json"))
	symlink(t, outside, b.Store.Path("config.json"))
	for _, f := range plan {
		if err := f.Do(t.Context()); err == nil {
			t.Errorf("%s: it followed a link", f.What)
		}
	}
	if fi, err := os.Stat(outside); err != nil || fi.Mode().Perm() != 0o644 {
		t.Errorf("outside: %v %v", fi.Mode(), err)
	}
}
