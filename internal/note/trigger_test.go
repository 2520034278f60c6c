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
