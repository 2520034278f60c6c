package inject_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/inject"
	"anamnesis/internal/note"
)

// A skill is shown when its own word stands in what is asked about: the project's
// name and the branch say where one is.
func TestSkillTier(t *testing.T) {
	skill := func(name, summary string) note.Note {
		return note.Note{
			Title: name, KeyInsight: summary, Body: "Step one.", Kind: note.Skill, Type: note.Procedural,
			Provenance: note.Provenance{Source: note.Import, Confidence: 1},
		}
	}
	in, _ := open(t, inject.Options{SkillTier: inject.SkillsFirst, SkillMinScore: 2},
		skill("p", "Everything of the project."), skill("stuff", "All the rest."), skill("pastry", strings.Repeat("Knead the dough of the pastry. ", 100)))
	p := place
	p.Branch = "fix/stuff-of-p"
	if b := block(t, in, p); b.Text != "" {
		t.Errorf("the branch alone tells\n%s", b.Text)
	}
	p.Work = func() []string { return []string{"bakery/pastry.go"} }
	b := block(t, in, p)
	if !slices.Equal(b.Shown, []note.ID{"n002"}) || strings.Contains(b.Text, "Step one") || b.LookedUp != 0 {
		t.Errorf("told %v, looked up %d times:\n%s", b.Shown, b.LookedUp, b.Text)
	}
}

// What the files in work and the branch name is shown besides the working set, each note
// once, and nothing else is looked up.
func TestStartHits(t *testing.T) {
	in, _ := open(t, inject.Options{K: 1, StartK: 2},
		note.Note{Title: "newest", Body: "It is told anyway. Never edit cart.go by hand."},
		note.Note{Title: "cart.go", Body: "Never edit `cart.go` without the tests."},
		note.Note{Title: "vats", When: []string{"path:vat.go"}})
	p := place
	asked := 0
	p.Work = func() []string { asked++; return []string{"shop/cart.go"} }
	b := block(t, in, p)
	if !slices.Equal(b.Shown, []note.ID{"n000", "n001"}) || asked != 1 || b.LookedUp != 1 {
		t.Errorf("told %v, asked %d times:\n%s", b.Shown, asked, b.Text)
	}
	off, _ := open(t, inject.Options{K: 1}, note.Note{Title: "cart.go", Body: "Never edit cart.go."})
	asked = 0
	if b := block(t, off, p); asked != 0 || b.LookedUp != 0 || len(b.Shown) != 1 {
		t.Errorf("switched off: asked %d times, looked up %d times, told %v", asked, b.LookedUp, b.Shown)
	}
}
