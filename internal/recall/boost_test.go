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
	e, _ := openWith(t, recall.Options{K1: 0.9, B: 0.6, TitleWeight: 1, Candidates: 10, LexicalWeight: 1, Temporal: true, RecencyAlpha: 0.2, TagAlpha: 0.25},
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
