package recall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// TestScopesAreDisjoint asks one question in 50 projects on 4 branches each,
// whose notes all answer it: every place is shown what it should be, and nothing
// of any other.
func TestScopesAreDisjoint(t *testing.T) {
	const projects = 50
	branches := []string{"", "feature/a", "feature/b", "release"}
	session := note.Provenance{Source: note.SessionEnd}
	notes := []note.Note{{ID: "everywhere", Title: "queue everywhere", Project: note.Global}}
	for p := range projects {
		for b, branch := range branches {
			notes = append(notes, note.Note{ID: place(p, b), Title: fmt.Sprintf("queue of %d on %d", p, b), Project: fmt.Sprintf("project-%02d", p), Branch: branch, Provenance: session})
		}
	}
	e, s := open(t, notes...)
	if err := project.AddAlias(storetest.Writer(s), "project-01", "project-00"); err != nil {
		t.Fatal(err)
	}
	found := func(q recall.Query) []note.ID {
		t.Helper()
		q.Text, q.K, q.NoCache = "queue", recall.MaxK, true
		res, err := e.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got := []note.ID{}
		for _, h := range res.Hits {
			got = append(got, h.Row.ID)
		}
		slices.Sort(got)
		return got
	}
	for p := 2; p < projects; p++ {
		for b, branch := range branches {
			at, err := e.Place(t.Context(), project.Identity{Key: fmt.Sprintf("project-%02d", p)}, branch, false, allOpen)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				name  string
				reach recall.ScopeOptions
				want  []note.ID
			}{
				{"here", recall.ScopeOptions{}, sorted("everywhere", place(p, 0), place(p, b))},
				{"only", recall.ScopeOptions{Only: true}, sorted(place(p, 0), place(p, b))},
				{"all branches", recall.ScopeOptions{AllBranches: true}, sorted("everywhere", place(p, 0), place(p, 1), place(p, 2), place(p, 3))},
			} {
				var q recall.Query
				recall.ScopeOf(at, c.reach).Apply(&q)
				if d := cmp.Diff(c.want, found(q)); d != "" {
					t.Fatalf("project %d, branch %q, %s (-want +got):\n%s", p, branch, c.name, d)
				}
			}
		}
	}

	// Two names of one project are one project.
	at, err := e.Place(t.Context(), project.Identity{Key: "project-00"}, "", false, allOpen)
	if err != nil {
		t.Fatal(err)
	}
	var q recall.Query
	recall.ScopeOf(at, recall.ScopeOptions{}).Apply(&q)
	if d := cmp.Diff(sorted("everywhere", place(0, 0), place(1, 0)), found(q)); d != "" {
		t.Errorf("an alias (-want +got):\n%s", d)
	}

	// What the trunk holds by now, it knows; the others are counted.
	at, err = e.Place(t.Context(), project.Identity{Key: "project-07"}, "", false, func(others []string) []string {
		if d := cmp.Diff([]string{"feature/a", "feature/b", "release"}, others); d != "" {
			t.Errorf("asked about (-want +got):\n%s", d)
		}
		return []string{"feature/a", "release"}
	})
	if err != nil {
		t.Fatal(err)
	}
	recall.ScopeOf(at, recall.ScopeOptions{}).Apply(&q)
	if d := cmp.Diff(sorted("everywhere", place(7, 0), place(7, 2)), found(q)); d != "" {
		t.Errorf("a merged branch (-want +got):\n%s", d)
	}
	q.Text = "queue"
	if n, err := recall.ScopeOf(at, recall.ScopeOptions{}).HeldBack(t.Context(), e, q); n != 2 || err != nil {
		t.Errorf("held back: %d, %v", n, err)
	}
	if n, err := recall.ScopeOf(at, recall.ScopeOptions{AllBranches: true}).HeldBack(t.Context(), e, q); n != 0 || err != nil {
		t.Errorf("held back of all branches: %d, %v", n, err)
	}
	q.Text = "zebra"
	if n, err := recall.ScopeOf(at, recall.ScopeOptions{}).HeldBack(t.Context(), e, q); n != 0 || err != nil {
		t.Errorf("held back of another subject: %d, %v", n, err)
	}

	// Where the clone cannot say, no branch is open.
	at, err = e.Place(t.Context(), project.Identity{Key: "project-07"}, "", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	recall.ScopeOf(at, recall.ScopeOptions{}).Apply(&q)
	if d := cmp.Diff(sorted("everywhere", place(7, 0), place(7, 1), place(7, 2), place(7, 3)), found(q)); d != "" {
		t.Errorf("nobody says (-want +got):\n%s", d)
	}

	// A project without notes is not all projects.
	at, err = e.Place(t.Context(), project.Identity{Key: "unheard-of"}, "", true, allOpen)
	if err != nil {
		t.Fatal(err)
	}
	scope := recall.ScopeOf(at, recall.ScopeOptions{})
	scope.Apply(&q)
	if d := cmp.Diff([]note.ID{"everywhere"}, found(q)); d != "" || !strings.Contains(scope.Fallback, "unheard-of") {
		t.Errorf("fallback %q (-want +got):\n%s", scope.Fallback, d)
	}

	// All of them, on the trunk.
	scope = recall.ScopeOf(at, recall.ScopeOptions{Global: true})
	scope.Apply(&q)
	if got := found(q); len(got) != projects+1 || scope.Fallback != "" {
		t.Errorf("--global finds %d notes, want %d; fallback %q", len(got), projects+1, scope.Fallback)
	}
}

// allOpen says that every branch is there and not merged.
func allOpen(others []string) []string { return others }

func place(project, branch int) note.ID { return note.ID(fmt.Sprintf("note-%02d-%d", project, branch)) }

func sorted(ids ...note.ID) []note.ID {
	slices.Sort(ids)
	return slices.Compact(ids)
}
