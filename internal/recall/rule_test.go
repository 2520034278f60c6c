package recall_test

import (
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// A teammate's triggers count when the user trusts the teammate, and none by the form of the note.
func TestTriggersOfTeammates(t *testing.T) {
	for _, c := range []struct {
		name     string
		author   string
		believed bool
		when     []string
		body     string
		want     int
		proposed bool
	}{
		{"one's own", "", false, []string{"cmd:make"}, "Two cores.", 1, false},
		{"one's own, by its form", "", false, nil, "Never `make -j8`.", 1, true},
		{"a teammate's", "Ada", false, []string{"cmd:make"}, "Two cores.", 0, false},
		{"a trusted teammate's", "Ada", true, []string{"cmd:make"}, "Two cores.", 1, false},
		{"a trusted teammate's, by its form", "Ada", true, nil, "Never `make -j8`.", 0, false},
	} {
		n := &note.Note{
			Type: note.Procedural, Title: "Run make with -j2", Body: c.body, Author: c.author, Believed: c.believed, When: c.when,
			Provenance: note.Provenance{Source: note.Human, Confidence: 1}, Trusted: c.author == "",
		}
		all, proposed := recall.Triggers(n, func(name string) []string { return []string{name} })
		if len(all) != c.want || proposed != c.proposed {
			t.Errorf("%s: %v, proposed %v", c.name, all, proposed)
		}
	}
}
