package index_test

import (
	"database/sql"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"

	"github.com/google/go-cmp/cmp"
)

// What is wrong with a sidecar is shown as long as it is wrong, and the note is
// found all the same.
func TestSidecarProblems(t *testing.T) {
	const path = "memory/semantic/a.entities.yaml"
	for _, tt := range []struct {
		name, text string
		want       string // "" when there is nothing to say
	}{
		{"good", "entities:\n- {name: pool, type: config}\n", ""},
		{"empty", "", ""},
		{"no YAML", "entities: [", "YAML"},
		{"not a mapping", "- a\n- b\n", "line 1"},
		{"a bad time", "relationships:\n- {source: a, target: b, type: uses, tvalid: tomorrow}\n", `line 2: "tomorrow" is not a time`},
		{"ends before it begins", "relationships:\n- {source: a, target: b, type: uses, tvalid: '2026-03-01', tvalid_end: '2026-01-01'}\n", "precedes"},
		{"a relation nobody knows", "relationships:\n- {source: a, target: b, type: likes}\n", `unknown type "likes"`},
		{"a key nobody knows", "entites:\n- {name: pool, type: config}\n", `line 1: "entites" is no key`},
		{"much", "entities:\n" + strings.Repeat("- {type: config}\n", 9), "and 6 more like these"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.file("memory/semantic/a.md", "a", "apple", false)
			b.file("memory/semantic/b.md", "b", "banana", false)
			b.raw(path, tt.text, false)
			want := func(step string, some bool) {
				t.Helper()
				rep := b.sync()
				if again := b.sync(); again.Indexed != 0 || again.Removed != 0 || cmp.Diff(rep.Problems, again.Problems) != "" {
					t.Errorf("%s: the same files are taken again: %+v", step, again)
				}
				b.want(step, map[string]string{"memory/semantic/a.md": "apple", "memory/semantic/b.md": "banana"})
				st, err := b.Statistics(t.Context())
				if err != nil || st.Notes != 2 || rep.Files != 2 {
					t.Errorf("%s: %d notes of %d files, %v", step, st.Notes, rep.Files, err)
				}
				if !some {
					if len(rep.Problems) > 0 {
						t.Errorf("%s: %v", step, rep.Problems)
					}
					return
				}
				if len(rep.Problems) != 1 || rep.Problems[0].Path != path || !rep.Problems[0].Sidecar || !strings.Contains(rep.Problems[0].Reason, tt.want) {
					t.Errorf("%s: %+v", step, rep.Problems)
				}
			}
			want("at first", tt.want != "")
			if _, err := b.Sync(t.Context(), index.SyncOptions{All: true}); err != nil {
				t.Fatal(err)
			}
			want("made anew", tt.want != "")
			if err := b.Refresh(t.Context(), "memory/semantic/a.md", path); err != nil { // the note and its sidecar, as a pull tells them
				t.Fatal(err)
			}
			want("refreshed", tt.want != "")
			b.raw(path, "entities:\n- {name: pond, type: config}\n- {name: pool, type: config}\n", false)
			want("mended", false)
			b.raw(path, tt.text, false)
			want("broken again", tt.want != "")
			if err := os.Remove(b.store.Path(path)); err != nil {
				t.Fatal(err)
			}
			want("deleted", false)
		})
	}
}

// When the note goes, nothing is said about its sidecar, and no file is counted twice.
func TestSidecarProblemGoes(t *testing.T) {
	b := newBench(t)
	b.file("memory/semantic/a.md", "a", "apple", false)
	b.raw("memory/semantic/a.entities.yaml", "entities: [", false)
	if rep := b.sync(); len(rep.Problems) != 1 {
		t.Fatalf("%+v", rep)
	}
	b.raw("memory/semantic/a.md", "no note", false)
	if rep := b.sync(); len(rep.Problems) != 1 || rep.Problems[0].Sidecar || rep.Problems[0].Path != "memory/semantic/a.md" {
		t.Errorf("%+v", rep)
	}
	if err := os.Remove(b.store.Path("memory/semantic/a.md")); err != nil {
		t.Fatal(err)
	}
	b.now = b.now.Add(time.Minute)
	if rep := b.sync(); len(rep.Problems) != 0 || rep.Files != 0 {
		t.Errorf("%+v", rep)
	}
	if sum, files, _, err := b.State(t.Context()); err != nil || sum != 0 || files != 0 {
		t.Errorf("%x, %d files, %v", sum, files, err)
	}
}

// An index that lost an edge of a note is noticed, and one that has all of them is not.
func TestGraphDrift(t *testing.T) {
	b := newBench(t)
	b.file("memory/semantic/a.md", "a", "apple", false)
	b.raw("memory/semantic/a.entities.yaml", "entities:\n- {name: pool, type: config}\n- {name: leak, type: error}\n"+
		"relationships:\n- {source: pool, target: leak, type: causes}\n- {source: pools, target: leak, type: causes}\n", false)
	b.file("memory/semantic/b.md", "b", "banana", false)
	b.sync()
	want := func(step string, wantLooked int, want ...note.ID) {
		t.Helper()
		looked, ids, err := b.GraphDrift(t.Context(), b.store.Walk())
		if err != nil || looked != wantLooked || !slices.Equal(want, ids) {
			t.Errorf("%s: looked at %d, %v, %v", step, looked, ids, err)
		}
	}
	want("as it should be", 1)
	for _, statement := range []string{"DELETE FROM edges", "DELETE FROM mentions"} {
		db, err := sql.Open("sqlite", b.store.Path("index.db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		db.Close()
		want(statement, 1, "a")
		if _, err := b.Sync(t.Context(), index.SyncOptions{All: true}); err != nil {
			t.Fatal(err)
		}
		want("made anew", 1)
	}
}
