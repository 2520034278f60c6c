package ingest

import (
	"context"
	"errors"

	"anamnesis/internal/note"
	"anamnesis/internal/redact"
)

// ErrAsked says that a note has asks, or belongs to another project.
var ErrAsked = errors.New("it has its asks already, or is of another project")

// GiveAsks gives a note of a project that has none the lines that a reader wrote for it (note.Note.Asks). They are searched,
// are shown nowhere and state nothing, so that a reader may write them for a note of the user's, too. The error is ErrAsked for
// a note that takes none, and fs.ErrNotExist for one that is gone.
func GiveAsks(ctx context.Context, g *Ingester, here string, id note.ID, asks []string) (Outcome, error) {
	return g.amend(ctx, id, false, "give asks to", func(n *note.Note, _ []byte) (*note.Note, error) {
		if len(n.Asks) > 0 || n.Project == note.Global || !g.holdsIn(n, here) || !n.Live(g.store.Now()) {
			return nil, ErrAsked
		}
		for _, line := range note.AsksOf(asks) {
			if !redact.PromptInjection(line) {
				n.Asks = append(n.Asks, g.redactor.Redact(line).String())
			}
		}
		return n, nil
	})
}

// WithoutAsks lists notes in force of a project that have no asks, at most that many.
func WithoutAsks(g *Ingester, here string, most int) (all []*note.Note) {
	for ref := range g.store.Walk() {
		if len(all) == most {
			break
		}
		n, _, _, err := g.store.Read(ref.Path)
		if err == nil && n.Type.Durable() && n.Kind == "" && n.Project == here && len(n.Asks) == 0 && n.Live(g.store.Now()) && !n.Quarantine {
			all = append(all, n)
		}
	}
	return all
}
