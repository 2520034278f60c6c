package ingest

import (
	"context"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/risk"
)

// KnownIn says what is known in a project: its files below dir ("" when there is no folder), the programs of its owner.
type KnownIn func(ctx context.Context, dir, project string) risk.Known

// Knowing lets g ask what is known in the projects of notes. It is called before g is used.
func Knowing(g *Ingester, known KnownIn) { g.knownIn = known }

// weigh finds what a draft makes an agent run or send, and bounds its triggers. It reads files of the project, so it runs before
// the store is locked.
func (d *Draft) weigh(ctx context.Context, g *Ingester, n *note.Note) error {
	d.risky, d.named = risk.Finding{}, false
	if d.By == Person || d.Account {
		return nil
	}
	var known risk.Known
	if g.knownIn != nil {
		known = g.knownIn(ctx, d.Dir, n.Project)
	}
	if err := d.boundTriggers(g, n, known); err != nil {
		return err
	}
	words := wordsOf(n)
	d.risky, _ = risk.Find(words, known)
	if d.risky.Why == "" || !d.By.Speaks() {
		return nil
	}
	known.Typed = func(act string) bool { return d.typed(n, act) }
	_, left := risk.Find(words, known)
	d.named = !left
	return nil
}

// mayAct reports whether a draft runs and sends nothing, or only what typed words name.
func (d *Draft) mayAct() bool { return d.risky.Why == "" || d.named }

// typed reports whether words that a person typed hold an act. How the words are quoted and spaced makes no difference.
func (d *Draft) typed(n *note.Note, act string) bool {
	fold := func(s string) string {
		s = strings.Map(func(r rune) rune {
			if strings.ContainsRune("\"'`\\", r) {
				return -1
			}
			return r
		}, s)
		return strings.ToLower(strings.Join(strings.Fields(s), " "))
	}
	act = fold(act)
	holds := func(words string) bool { return act != "" && strings.Contains(fold(words), act) }
	return holds(d.Shown) || slices.ContainsFunc(n.Evidence, func(e note.Evidence) bool { return holds(e.Quote) })
}

// unmark takes the marks of this program from words that no person wrote, in all parts of a note.
func unmark(n *note.Note) {
	n.Title = note.UnmarkedTitle(n.Title)
	for _, part := range []*string{&n.Body, &n.Problem, &n.RootCause, &n.Fix, &n.Rule, &n.KeyInsight, &n.HowToApply} {
		*part = note.Unmarked(*part)
	}
}
