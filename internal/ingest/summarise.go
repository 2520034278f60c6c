package ingest

import (
	"context"

	"anamnesis/internal/note"
)

// A Summary is what a model says about a session that has a note.
type Summary struct {
	Title, Body string
	Model       string // its name
}

// Summarise gives the note of a session the summary of a model, in the place of
// what a machine wrote before: hash is the SummaryHash of that. A note that says
// anything else by now was edited, or shown again, and stays as it is (ErrChanged),
// as does one that was taken out of recall; one that is gone stays gone
// (fs.ErrNotExist). Secrets are masked.
//
// The note keeps its updated_at: that is when the session ended, and an old
// session does not become the newest because a model came late. A merge does not
// need a later one. A side that alone changed a field wins whatever its time is,
// and where both did, what a person wrote since shall win.
func (g *Ingester) Summarise(ctx context.Context, id note.ID, hash string, s Summary) (Outcome, error) {
	masked := false
	out, err := g.amend(ctx, id, false, "summarise", func(n *note.Note, _ []byte) (*note.Note, error) {
		if n.Type != note.Episodic || n.Provenance.Model != "" || n.ImportHash != hash || SummaryHash(n.Title, n.Body) != hash || n.Decided() {
			return nil, ErrChanged
		}
		n.Title, n.Body, n.Provenance.Model = s.Title, s.Body, s.Model
		masked = g.redact(n)
		n.ImportHash = SummaryHash(n.Title, n.Body)
		return n, nil
	})
	out.Redacted = masked
	return out, err
}
