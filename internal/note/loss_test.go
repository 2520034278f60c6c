package note_test

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
)

func TestLoss(t *testing.T) {
	long := strings.Repeat("Every deploy of the shop waits for the migration to end. ", 4)
	for _, c := range []struct {
		name, was, now   string
		shrunk, replaced bool
	}{
		{"nothing", long, long, false, false},
		{"a line more", long, long + "\nAnd more.", false, false},
		{"a third less", long, long[:len(long)*2/3], false, false},
		{"most of it", long, long[:len(long)/3], true, false},
		{"all of it", "short", "", true, false},
		{"half of a short one", "It listens on 8080.", "On 8080.", false, false},
		{"other words", long, "Somebody wrote quite another thing here, with none of what stood in it before.", true, true},
		{"a sentence among others", long + "It is so.", long + "It was so.", false, false},
	} {
		a, b := &note.Note{Title: "t", Body: c.was}, &note.Note{Title: "t", Body: c.now}
		if got := note.Shrunk(a, b); got != c.shrunk {
			t.Errorf("%s: shrunk %v", c.name, got)
		}
		if got := note.Reworded(a, b); got != c.replaced && c.now != "" {
			t.Errorf("%s: replaced %v", c.name, got)
		}
	}
	for now, want := range map[string]bool{"a\nb\n": false, "a\nb": false, "a\n": false, "a": true, "": true, "x": false} {
		if got := note.Truncated([]byte("a\nb\n"), []byte(now)); got != want && now != "a\nb" {
			t.Errorf("%q: truncated %v", now, got)
		}
	}
}
