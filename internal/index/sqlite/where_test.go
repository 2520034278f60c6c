package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Each origin reads its own copy of a note, else the one that was updated last,
// else that of the first origin, after any order of writes. For the origin ""
// the answer was worked out when the copies were written.
func TestVisibleCopy(t *testing.T) {
	var dbs [3]*sqlite.DB
	origins := [3]string{"", "b", "c"}
	path := filepath.Join(t.TempDir(), "index.db")
	for i, origin := range origins {
		dbs[i] = openWith(t, sqlite.Options{Path: path, Origin: origin})
		t.Cleanup(func() { dbs[i].Close() })
	}
	random := rand.New(rand.NewPCG(1, 2))
	type copies map[int]int // the hour of the last update, by the number of the origin
	model := [2]copies{{}, {}}
	for step := range 200 {
		of, which := random.IntN(3), random.IntN(2)
		id := note.ID(fmt.Sprintf("note-%d", which))
		ref := store.Ref{Path: store.NotePath(note.Portable, note.Semantic, id), Scope: note.Portable}
		batch := index.Batch{Drop: []string{ref.Path}}
		if hour := random.IntN(4); hour > 0 {
			at := note.At(time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC))
			n := &note.Note{ID: id, Type: note.Semantic, Scope: note.Portable, Title: "t", Body: fmt.Sprint(step), Project: "p", CreatedAt: at, UpdatedAt: at}
			batch.Put, model[which][of] = append(batch.Put, index.NewEntry(n, ref, n.Format(), nil)), hour
		} else {
			delete(model[which], of)
		}
		if err := dbs[of].Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		for reader, db := range dbs {
			rows, err := db.Select(t.Context(), index.Filter{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[note.ID]string)
			for _, r := range rows {
				got[r.ID] += r.Origin + "."
			}
			want := make(map[note.ID]string)
			for i, held := range model {
				best := -1
				for o := range origins {
					if hour, ok := held[o]; ok && best != reader && (best < 0 || o == reader || hour > held[best]) {
						best = o
					}
				}
				if best >= 0 {
					want[note.ID(fmt.Sprintf("note-%d", i))] = origins[best] + "."
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("step %d, reader %q: %v, want %v", step, origins[reader], got, want)
			}
		}
	}
}

// What a status line counts is counted without reading a note: there may be many.
func TestCountWithoutRows(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"))
	plan, err := db.PlanPerProject(t.Context(), index.Filter{Projects: []string{"p", "q"}, Now: time.Now()})
	if err != nil || !strings.Contains(plan, "COVERING INDEX notes_recent") {
		t.Errorf("%q, %v", plan, err)
	}
}

// What sessions taught is found without reading the other notes of a project, and is the same
// as without the index that finds it.
func TestLearntWithoutOthers(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"))
	var want []note.ID
	for i := range 40 {
		at := note.At(time.Date(2026, 3, 1, 12, 0, i%7, 0, time.UTC))
		n := &note.Note{
			ID: note.ID(fmt.Sprintf("note-%02d", i)), Type: note.Semantic, Scope: note.Portable, Title: "t", Body: fmt.Sprint(i),
			Project: fmt.Sprint("p", i%2), CreatedAt: at, UpdatedAt: at,
		}
		n.AddTags([]string{"learning", "learnings", "other"}[i%3])
		ref := store.Ref{Path: store.NotePath(note.Portable, note.Semantic, n.ID), Scope: note.Portable}
		if err := db.Apply(t.Context(), index.Batch{Put: []index.Entry{index.NewEntry(n, ref, n.Format(), nil)}}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := db.Select(t.Context(), index.Filter{Projects: []string{"p1", "p0"}}, 100)
	if err != nil || len(all) != 40 {
		t.Fatal(len(all), err)
	}
	for _, r := range all {
		if slices.Contains(r.Tags, "learning") {
			want = append(want, r.ID)
		}
	}
	f := index.Filter{Projects: []string{"p1", "p0"}, Types: []note.Type{note.Semantic}, Tags: []string{"learning"}, Now: time.Now()}
	rows, err := db.Select(t.Context(), f, 5)
	if err != nil || len(rows) != 5 || len(want) != 14 {
		t.Fatalf("%d rows, %d wanted in all, %v", len(rows), len(want), err)
	}
	for i, r := range rows {
		if r.ID != want[i] {
			t.Errorf("row %d is %s, want %s", i, r.ID, want[i])
		}
	}
	plan, err := db.PlanSelect(t.Context(), f, 5)
	if err != nil || strings.Count(plan, "INDEX notes_learnt") != 2 || strings.Contains(plan, "notes_recent") {
		t.Errorf("%s, %v", plan, err)
	}
}

// Whether a sidecar names a thing is not looked for in all notes that speak of it.
func TestDeclaredWithoutMentions(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"))
	plan, err := db.PlanDeclared(t.Context())
	if err != nil || !strings.Contains(plan, "mentions_declared") {
		t.Errorf("%s, %v", plan, err)
	}
}

// An id is shortened without reading all of them.
func TestSharingWithoutScan(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"))
	plan, err := db.PlanSharing(t.Context())
	if err != nil || !strings.Contains(plan, "notes_end") || strings.Contains(plan, "SCAN") {
		t.Errorf("%s, %v", plan, err)
	}
}
