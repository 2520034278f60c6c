package recall_test

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// A field costs little, however long it is.
func TestFieldIsCut(t *testing.T) {
	e, _ := open(t, note.Note{ID: "long", Title: "fox", Rule: strings.Repeat("ä", 2000)})
	res := ask(t, e, recall.Query{Text: "fox", Fields: []string{"rule"}})
	if got := res.Hits[0].Fields["rule"]; got != strings.Repeat("ä", 500) {
		t.Errorf("the field has %d bytes, want 500 characters", len(got))
	}
}
