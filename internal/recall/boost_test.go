package recall_test

import (
	"slices"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// A question for what is so now gets the newer of two notes that say the same, although
// the tag that is asked for too outweighs the age otherwise.
func TestBoostOfRecency(t *testing.T) {
	e, _ := openWith(t, recall.Options{Tuning: recall.Tuning{K1: 0.9, B: 0.6, TitleWeight: 1, Candidates: 10, LexicalWeight: 1, RecencyAlpha: 0.2, TagAlpha: 0.25}, Temporal: true},
		note.Note{ID: "older", Title: "Rotate the certificate", Tags: []string{"proxy"}, UpdatedAt: note.At(noon.AddDate(0, -10, 0))},
		note.Note{ID: "newer", Title: "Rotate the certificate", Tags: []string{"other"}},
	)
	for text, want := range map[string][]note.ID{
		"rotate the certificate":           {"older", "newer"},
		"rotate the certificate currently": {"newer", "older"},
	} {
		if got := ids(ask(t, e, recall.Query{Text: text, Boost: []string{"proxy"}})); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// Boosts at their ceiling bury no answer.
func TestBoostsAreBounded(t *testing.T) {
	o := product
	o.RecencyAlpha, o.TagAlpha = 2, 2
	notes := []note.Note{
		{ID: "ancient", Title: "Umlauts in the addresses", Body: "The printer wants umlauts in addresses folded.", UpdatedAt: note.At(noon.AddDate(-6, 0, 0))},
		{ID: "fresh", Title: "The printer in the office", Body: "It is next to the door.", Tags: []string{"office"}, UpdatedAt: note.At(noon)},
	}
	for id, title := range map[note.ID]string{"a": "The linter of the frontend", "b": "Names of the office network", "c": "How the coffee machine is cleaned"} {
		notes = append(notes, note.Note{ID: id, Title: title, UpdatedAt: note.At(noon.AddDate(0, -5, 0))})
	}
	e, _ := openWith(t, o, notes...)
	if got := ids(ask(t, e, recall.Query{Text: "umlauts in the printer addresses", Boost: []string{"office"}})); len(got) < 2 || got[0] != "ancient" {
		t.Errorf("got %v", got)
	}
}

// The boosts that are named count, and no others.
func TestBoost(t *testing.T) {
	tuning := recall.Tuned()
	if got := tuning.Boosting(); !slices.Equal(got, recall.Boosts("")) {
		t.Errorf("usually %v count", got)
	}
	tuning.Boost([]string{"recency", "proof"})
	if got := tuning.Boosting(); !slices.Equal(got, []string{"recency", "proof"}) || tuning.RecencyAlpha != recall.Tuned().RecencyAlpha {
		t.Errorf("%v count, %+v", got, tuning)
	}
	if got := recall.Boosts("R8"); !slices.Equal(got, []string{"recency", "tags"}) {
		t.Errorf("those of R8 are %v", got)
	}
}
