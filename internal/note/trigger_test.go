package note_test

import (
	"strings"
	"testing"

	"anamnesis/internal/note"
)

func TestParseTrigger(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"cmd:npm install", "cmd:npm install"},
		{" CMD : npm   install ", "cmd:npm install"},
		{"path:api/**/*.proto", "path:api/**/*.proto"},
		{"error:listen EADDRINUSE: 3000", "error:listen EADDRINUSE: 3000"},
		{"npm install", ""},
		{"cmd:", ""},
		{"cmd:*", ""},
		{"path:**/*", ""},
		{"url:x", ""},
		{"cmd:a\x00b", ""},
		{"cmd:" + strings.Repeat("x", note.MaxTrigger), ""},
	} {
		got, err := note.ParseTrigger(c.in)
		if (err != nil) != (c.want == "") || err == nil && got.String() != c.want {
			t.Errorf("ParseTrigger(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
}

func TestTriggersStandInTheFile(t *testing.T) {
	n := &note.Note{
		ID: "x", Type: note.Semantic, Title: "Use pnpm, never npm", Scope: note.Portable, CreatedAt: "2026-01-01T00:00:00+00:00",
		UpdatedAt: "2026-01-01T00:00:00+00:00", Provenance: note.Provenance{Source: note.Human, Confidence: 1},
		When: []string{"cmd:npm", "nonsense"},
	}
	data := n.Format()
	back, err := note.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Triggers(); len(got) != 1 || got[0] != (note.Trigger{Kind: note.OnCommand, Pattern: "npm"}) {
		t.Errorf("triggers %v of\n%s", got, data)
	}
}

// Whatever a trigger is read from, its text reads as the same trigger.
func FuzzParseTrigger(f *testing.F) {
	for _, s := range []string{"cmd:npm install", " Path : a/**/b ", "error:x:\u202ey", "cmd:\xff a", "cmd:\u00a0a", ":", "KMD:K"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		trigger, err := note.ParseTrigger(s)
		if err != nil {
			return
		}
		if again, err := note.ParseTrigger(trigger.String()); err != nil || again != trigger {
			t.Errorf("%q is %q, which is %q, %v", s, trigger, again, err)
		}
		if strings.ContainsAny(trigger.String(), "\n\r\x00") {
			t.Errorf("%q is more than a line", trigger)
		}
	})
}
