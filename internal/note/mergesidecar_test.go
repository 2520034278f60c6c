package note_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/note"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func FuzzReconcile(f *testing.F) {
	for i, seed := range seeds {
		f.Add([]byte(seed), []byte(seeds[(i+1)%len(seeds)]), []byte(seed+"\nx\n"))
	}
	f.Add(noteFile(nil), noteFile(func(n *note.Note) { n.Body = "x\n\n```\na\n\nb" }), noteFile(func(n *note.Note) { n.Body = "```\n\n\nx" }))
	f.Fuzz(func(t *testing.T, base, a, b []byte) {
		for _, base := range [][]byte{base, nil} {
			m := note.Reconcile(base, a, b)
			if other := note.Reconcile(base, b, a); !bytes.Equal(m.Data, other.Data) || !bytes.Equal(m.Other, other.Other) {
				t.Fatalf("not commutative:\n%q\n%q", m.Data, other.Data)
			}
			if again := note.Reconcile(base, m.Data, b); !bytes.Equal(again.Data, m.Data) {
				t.Fatalf("not absorbing:\n%q\n%q", m.Data, again.Data)
			}
			_, erra := note.Parse(a)
			_, errb := note.Parse(b)
			if _, err := note.Parse(m.Data); err != nil && erra == nil && errb == nil {
				t.Fatalf("two notes became none: %v\n%q", err, m.Data)
			}
			for _, mark := range []string{"<<<<<<<", "=======", ">>>>>>>"} {
				if bytes.Contains(m.Data, []byte(mark)) && !bytes.Contains(slices.Concat(a, b, base), []byte(mark)) {
					t.Fatalf("the merge wrote %s", mark)
				}
			}
		}
	})
}

// BenchmarkReconcile merges a thousand notes that both sides changed.
func BenchmarkReconcile(b *testing.B) {
	base := noteFile(func(n *note.Note) {
		n.Body = strings.Repeat("A paragraph of some words.\nIt has two lines.\n\n", 8) + "The end."
	})
	change := func(at note.Stamp, tag, line string) []byte {
		n, _ := note.Parse(base)
		n.UpdatedAt = at
		n.AddTags(tag)
		n.Title += tag
		n.Body = line + n.Body + line
		out, _ := n.Rewrite(base)
		return out
	}
	x, y := change(early, "x", "one"), change(late, "y", "two")
	for b.Loop() {
		for range 1000 {
			note.Reconcile(base, x, y)
		}
	}
}

func sidecarGen() *rapid.Generator[*note.Sidecar] {
	return rapid.Custom(func(t *rapid.T) *note.Sidecar {
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		s := &note.Sidecar{DocumentID: "n1", ExtractedAt: stampGen.Draw(t, "at")}
		for range rapid.IntRange(0, 3).Draw(t, "entities") {
			s.Entities = append(s.Entities, note.Entity{
				Name: name.Draw(t, "name"), Type: rapid.SampledFrom(note.EntityTypes[:2]).Draw(t, "type"), Description: name.Draw(t, "d"),
			})
		}
		for range rapid.IntRange(0, 3).Draw(t, "edges") {
			e := note.Edge{
				Source: name.Draw(t, "source"), Target: name.Draw(t, "target"), Relation: note.Causes, Description: name.Draw(t, "d"),
				Strength: rapid.IntRange(1, 10).Draw(t, "strength"), Committed: stampGen.Draw(t, "c"),
			}
			if rapid.Bool().Draw(t, "ended") {
				e.ValidEnd = stampGen.Draw(t, "e")
			}
			s.Edges = append(s.Edges, e)
		}
		return s
	})
}

func TestReconcileSidecars(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var base []byte
		if rapid.Bool().Draw(t, "has base") {
			base = note.FormatSidecar(sidecarGen().Draw(t, "base"))
		}
		var side [3][]byte
		for i := range side {
			side[i] = note.FormatSidecar(sidecarGen().Draw(t, "side"))
		}
		merge := func(a, b []byte) []byte {
			m := note.ReconcileSidecars(base, a, b)
			if m.Lost != nil {
				t.Fatalf("lost %v", m.Lost)
			}
			return m.Data
		}
		m := merge(side[0], side[1])
		if !bytes.Equal(m, merge(side[1], side[0])) {
			t.Fatal("not commutative")
		}
		if !bytes.Equal(m, merge(m, side[0])) || !bytes.Equal(m, merge(m, m)) {
			t.Fatalf("not absorbing:\n%s", cmp.Diff(string(m), string(merge(m, side[0]))))
		}
		if d := cmp.Diff(string(merge(m, side[2])), string(merge(side[0], merge(side[1], side[2])))); d != "" {
			t.Fatalf("not associative:\n%s", d)
		}
	})
}

func TestReconcileSidecarsRules(t *testing.T) {
	edge := note.Edge{Source: "a", Target: "b", Relation: note.Causes, Strength: 5, Committed: early}
	base := note.FormatSidecar(&note.Sidecar{DocumentID: "n1", ExtractedAt: early, Entities: []note.Entity{{Name: "gone", Type: note.Concept}}, Edges: []note.Edge{edge}})
	ended := edge
	ended.ValidEnd = late
	a := note.FormatSidecar(&note.Sidecar{DocumentID: "n1", ExtractedAt: early, Edges: []note.Edge{ended}})
	b := note.FormatSidecar(&note.Sidecar{
		DocumentID: "n1", ExtractedAt: late, Entities: []note.Entity{{Name: "gone", Type: note.Concept}, {Name: "new", Type: note.Concept}}, Edges: []note.Edge{edge},
	})
	want := note.FormatSidecar(&note.Sidecar{DocumentID: "n1", ExtractedAt: late, Entities: []note.Entity{{Name: "new", Type: note.Concept}}, Edges: []note.Edge{ended}})
	if d := cmp.Diff(string(want), string(note.ReconcileSidecars(base, a, b).Data)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	bad := []byte("relationships:\n- {from: a, to: b}\n")
	if m := note.ReconcileSidecars(nil, a, bad); !bytes.Equal(m.Other, bad) {
		t.Errorf("an edge that cannot be read is gone: %q", m.Other)
	}
}
