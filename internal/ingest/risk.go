package ingest

import (
	"context"

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
	known.Typed = d.names
	_, left := risk.Find(words, known)
	d.named = !left
	return nil
}

// mayAct reports whether a draft runs and sends nothing, or only what typed words name.
func (d *Draft) mayAct() bool { return d.risky.Why == "" || d.named }

// unmark takes the marks of this program from words that no person wrote, in all parts of a note.
func unmark(n *note.Note) {
	n.Title = note.UnmarkedTitle(n.Title)
	for _, part := range []*string{&n.Body, &n.Problem, &n.RootCause, &n.Fix, &n.Rule, &n.KeyInsight, &n.HowToApply} {
		*part = note.Unmarked(*part)
	}
}
