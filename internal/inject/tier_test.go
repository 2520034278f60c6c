package inject_test

import (
	"fmt"
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
	in, _ := open(t, inject.Options{PageTokens: 1500, SkillTier: inject.SkillsFirst},
		skill("p", "Everything of the project."), skill("stuff", "All the rest."), skill("pastry", strings.Repeat("Knead the dough of the pastry. ", 100)))
	p := place
	p.Branch = "fix/stuff-of-p"
	if b := page(t, in, p); b.Text != "" {
		t.Errorf("the branch alone tells\n%s", b.Text)
	}
	p.Work = func() []string { return []string{"bakery/pastry.go"} }
	b := page(t, in, p)
	if !slices.Equal(b.Shown, []note.ID{"n002"}) || strings.Contains(b.Text, "Step one") || b.LookedUp != 0 {
		t.Errorf("shown %v, looked up %d times:\n%s", b.Shown, b.LookedUp, b.Text)
	}
}

// Where the notes have no room, what the files in work name has a line, and is looked up once; where
// they have, nothing is.
func TestStartHits(t *testing.T) {
	notes := []note.Note{
		{Title: "newest", Body: "It is shown anyway. Never edit cart.go by hand."},
	}
	for i := range 60 {
		notes = append(notes, note.Note{Title: fmt.Sprintf("Parcel rule %d of the counter in the warehouse", i)})
	}
	notes = append(notes, note.Note{ID: "cart", Title: "Edit carts with tests", Body: "Never edit `cart.go` without the tests."},
		note.Note{ID: "vats", Title: "vats", When: []string{"path:vat.go"}})
	for _, c := range []struct {
		name          string
		o             inject.Options
		shown         bool
		asked, looked int
	}{
		{"no room", inject.Options{PageTokens: 600}, true, 1, 1},
		{"room for all", inject.Options{PageTokens: 20000}, true, 0, 0},
	} {
		in, _ := open(t, c.o, notes...)
		p := place
		asked := 0
		p.Work = func() []string { asked++; return []string{"shop/cart.go"} }
		b := page(t, in, p)
		if slices.Contains(b.Shown, "cart") != c.shown || asked != c.asked || b.LookedUp != c.looked {
			t.Errorf("%s: asked %d times, looked up %d times:\n%s", c.name, asked, b.LookedUp, b.Text)
		}
	}
}
