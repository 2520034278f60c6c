package indextest

import (
	"fmt"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// counts looks at words that stand in few and in many passages, more than once
// in each, while passages go.
func counts(t *testing.T, s *suite) {
	const rare, all = 50, 400
	var notes []*note.Note
	var paths []string
	for i := range all {
		n := &note.Note{ID: note.ID(fmt.Sprintf("n%03d", i)), Title: "often", Body: "often often word"}
		if i < rare {
			n.Body = "rare often rare"
		}
		notes = append(notes, n)
		paths = append(paths, entry(n).Ref.Path)
	}
	s.put(notes...)
	for gone := 0; gone <= rare; gone += rare / 2 {
		s.apply(index.Batch{Drop: paths[:gone]})
		terms, err := s.Frequencies(s.ctx, []string{"often", "rare", "never"})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "frequencies", []int{all - gone, rare - gone, 0}, []int{terms[0].Frequency, terms[1].Frequency, terms[2].Frequency})
		var bare []index.Term
		for i := range terms[:2] {
			terms[i].Weight = float64(i + 1)
			bare = append(bare, index.Term{Token: terms[i].Token, Weight: terms[i].Weight, Frequency: terms[i].Frequency})
		}
		want, err := s.Match(s.ctx, bare, index.Filter{Now: noon}, all)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Match(s.ctx, terms[:2], index.Filter{Now: noon}, all)
		if err != nil || len(got) != all-gone {
			t.Fatalf("%d of %d passages, %v", len(got), all-gone, err)
		}
		equal(t, "with what was read when they were counted", want, got)
	}
}
