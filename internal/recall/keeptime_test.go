package recall_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// A question what was decided last week gets what was, whatever words it uses, among
// the first three, although many notes of other times hold the words of the question.
func TestNoteOfTheTimeAskedAbout(t *testing.T) {
	var notes []note.Note
	for i := range 15 {
		notes = append(notes, note.Note{
			ID: note.ID(fmt.Sprintf("auth%02d", i)), Title: fmt.Sprintf("Auth decision %d", i),
			Body:      fmt.Sprintf("We decided on auth, variant %d.", i),
			CreatedAt: note.At(noon.AddDate(0, -2, i)), UpdatedAt: note.At(noon.AddDate(0, -2, i)),
		})
	}
	last := noon.AddDate(0, 0, -7)
	last = last.AddDate(0, 0, 3-int((last.Weekday()+6)%7)) // a Thursday
	notes = append(notes, note.Note{ID: "week", Title: "Sessions expire after a day", Body: "Cookies are signed.", CreatedAt: note.At(last), UpdatedAt: note.At(last)})
	o := product
	o.Temporal, o.Rerank, o.MMR = true, true, true
	e, _ := openWith(t, o, notes...)
	for text, want := range map[string]bool{
		"what did we decide last week about auth": true,
		"what did we decide about auth":           false, // the control: nobody says when
	} {
		res := ask(t, e, recall.Query{Text: text, K: 3})
		if got := slices.Contains(ids(res), "week"); got != want {
			t.Errorf("%q finds %v; the note of %s is among them: %v, want %v", text, ids(res), last.Format(time.DateOnly), got, want)
		}
	}
}

// Of two notes that say the same, the temporal arm puts the one first that is nearer
// to the middle of the time asked about, although the other is newer.
func TestNearerInTime(t *testing.T) {
	e, _ := openWith(t, recall.Options{Temporal: true, Tuning: recall.Tuning{TemporalWeight: 1}},
		note.Note{ID: "middle", Title: "Retries back off", CreatedAt: "2026-03-16T09:00:00Z", UpdatedAt: "2026-03-16T09:00:00Z"},
		note.Note{ID: "end", Title: "Retries back off", CreatedAt: "2026-03-30T09:00:00Z", UpdatedAt: "2026-03-30T09:00:00Z"},
	)
	got := ids(ask(t, e, recall.Query{Text: "retries in march 2026", Arms: []string{"temporal"}}))
	if want := []note.ID{"middle", "end"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
