package recall_test

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// A word that is written as one counts as one, however many parts it has.
func TestPartsOfAWord(t *testing.T) {
	e, _ := open(t,
		note.Note{ID: "part", Title: "one", Body: "the spec of r is long, and the r in spec is short"},
		note.Note{ID: "both", Title: "two", Body: "rerun what failed when a shorthand is wanted"},
		note.Note{ID: "else", Title: "three", Body: "nothing of the kind"},
	)
	if got := ids(ask(t, e, recall.Query{Text: "shorthand rerun failed RSpec"})); len(got) == 0 || got[0] != "both" {
		t.Errorf("got %v, want the note with three of four words first", got)
	}
}

// The small words of a question decide when the others do not.
func TestWording(t *testing.T) {
	filler := strings.Repeat("and so on ", 10)
	e, _ := open(t,
		note.Note{ID: "a", Title: "x", Body: "the column holds null values " + filler},
		note.Note{ID: "b", Title: "x", Body: "say whether it is not null here " + filler},
		note.Note{ID: "c", Title: "x", Body: "a null in the column below it " + filler},
	)
	if got := ids(ask(t, e, recall.Query{Text: "is it null or is it not null?"})); len(got) != 3 || got[0] != "b" {
		t.Errorf("got %v, want b first", got)
	}
	for _, text := range []string{"is", "?", strings.Repeat("is it ", 5000)} { // one word, none, very many
		ask(t, e, recall.Query{Text: text})
	}
}
