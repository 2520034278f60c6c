package recall_test

import (
	"fmt"
	"slices"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// nginx are four notes that say the same in other words, one with another cure, and some
// that have nothing to do with them. What follows each twin is added to its body.
func nginx(more ...string) []note.Note {
	notes := []note.Note{
		{ID: "twin1", Title: "nginx 502 under load", Body: "Under load nginx answers 502; raise worker_connections to 4096."},
		{ID: "twin2", Title: "nginx returns 502 under load", Body: "When nginx answers 502 under heavy load, raise worker_connections to 4096."},
		{ID: "twin3", Title: "502 from nginx under load", Body: "nginx gives 502 under load: we raised worker_connections to 4096 and it went away."},
		{ID: "twin4", Title: "502 of nginx under load", Body: "Raise worker_connections to 4096 if nginx answers with 502 under load."},
		{ID: "other", Title: "nginx and its upstream", Body: "Enable keepalive to the upstream: without it nginx opens a connection for each request, and under load that is a 502."},
		{ID: "plants", Title: "Office plants", Body: "They need water on Mondays."},
		{ID: "coffee", Title: "Coffee machine", Body: "It is cleaned with vinegar, twice a week."},
		{ID: "fonts", Title: "Fonts of the brochure", Body: "Only the serif ones are licensed."},
	}
	for i, text := range more {
		notes[i].Body += " " + text
	}
	return notes
}

// Notes that say the same in other words make room for one that says something else;
// those that differ in what a correction would change do not.
func TestTwinsInOtherWords(t *testing.T) {
	_, s := open(t, nginx()...)
	on := remembering()
	on.MMR, on.MMRLambda = true, 0.7
	e, _ := engine(t, s, on, recall.Models{})
	q := recall.Query{Text: "nginx 502 under load", K: 3}
	if got := ids(ask(t, e, q)); !slices.Contains(got, "other") {
		t.Errorf("twins fill the places: %v", got)
	}
	q.NoMMR = true
	if got := ids(ask(t, e, q)); slices.Contains(got, "other") {
		t.Errorf("the question proves nothing, the other note comes without diversity: %v", got)
	}

	var flags []string
	for i := range 4 {
		flags = append(flags, fmt.Sprintf("The host is web%d.", i+1))
	}
	_, s = open(t, nginx(flags...)...)
	e, _ = engine(t, s, on, recall.Models{})
	q.NoMMR = false
	if got := ids(ask(t, e, q)); slices.Contains(got, "other") {
		t.Errorf("notes about four hosts made room as if they were one: %v", got)
	}
}

// Notes without a number, a name or a negation are not compared by their words: what
// tells them apart may be any of them.
func TestProseIsNoTwin(t *testing.T) {
	_, s := open(
		t,
		note.Note{ID: "one", Title: "Where orders are kept", Body: "Orders of the shop are kept by Alice in the archive."},
		note.Note{ID: "two", Title: "Where orders are kept", Body: "Orders of the shop are kept by Bob in the archive."},
		note.Note{ID: "three", Title: "Orders of the shop", Body: "The shop deletes orders after a year, and nobody kept them."},
		note.Note{ID: "plants", Title: "Office plants", Body: "They need water on Mondays."},
		note.Note{ID: "coffee", Title: "Coffee machine", Body: "It is cleaned with vinegar, twice a week."},
	)
	on := remembering()
	on.MMR, on.MMRLambda = true, 0.7
	e, _ := engine(t, s, on, recall.Models{})
	if got := ids(ask(t, e, recall.Query{Text: "where are orders of the shop kept", K: 2})); !slices.Contains(got, "one") || !slices.Contains(got, "two") {
		t.Errorf("%v", got)
	}
}
