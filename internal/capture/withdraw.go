package capture

import (
	"context"
	"errors"
	"slices"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
)

// goneFrom returns the turns of a session that the user took back.
func goneFrom(s *agent.Session) *agent.Session {
	gone := &agent.Session{Headless: s.Headless}
	all := s.All()
	for i := range all {
		if all[i].TakenBack {
			gone.Turns = append(gone.Turns, all[i])
		}
	}
	return gone
}

// withdraw takes back what an earlier capture of a session learnt from turns that the user has taken back
// since: notes are archived and wait in the review, and proposals are dropped. A note that a person decided
// about, or that another session supports, stays.
func (r *Recorder) withdraw(
	ctx context.Context, q Request, s *agent.Session, said []learn.Said, from learn.Origin, clean learn.Clean,
) error {
	gone := goneFrom(s)
	if len(gone.Turns) == 0 {
		return nil
	}
	var ids []note.ID
	for _, o := range learn.Orders(gone, clean) {
		ids = append(ids, o.Note(from).ID)
	}
	for _, p := range learn.Permissions(gone, clean, r.noted(q.client)...) {
		ids = append(ids, p.Note(from).ID)
	}
	for _, w := range writesOf(gone.Turns) {
		ids = append(ids, w.id)
	}
	words := learn.SaidIn(gone, clean)
	back := func(quote string) bool {
		_, was := learn.Find(words, quote)
		_, again := learn.Find(said, quote)
		return was && !again
	}
	errs := []error{r.unlearn(ctx, from, func(n *note.Note) bool {
		return slices.Contains(ids, n.ID) || len(n.Evidence) > 0 && back(n.Evidence[0].Quote)
	})}
	for _, d := range ingest.InboxOf(r.ingester).Proposals(from.Session) {
		if len(d.Evidence) == 0 || d.StatusReason == takenBack {
			continue
		}
		if back(d.Evidence[0].Quote) {
			errs = append(errs, ingest.DropDraft(ctx, r.store, d.ID))
		}
	}
	return errors.Join(errs...)
}

// takenBack is why a rule waits whose turn the user took back.
const takenBack = "you took back the turn that it is from"

// unlearn takes notes of a session out of force: they are archived, and wait in the inbox.
func (r *Recorder) unlearn(ctx context.Context, from learn.Origin, taken func(*note.Note) bool) error {
	var gone []*note.Note
	for ref := range r.store.Walk() {
		n, _, _, err := r.store.Read(ref.Path)
		if err != nil || n.Provenance.Session != from.Session || n.Type == note.Episodic || !n.Live(r.store.Now()) || n.Decided() ||
			n.IsReviewed() || n.Provenance.Source == note.Human || n.ProofCount > 1 || !taken(n) {
			continue
		}
		gone = append(gone, n)
	}
	var errs []error
	for _, n := range gone {
		errs = append(errs, ingest.InboxOf(r.ingester).Return(ctx, n.ID, takenBack))
	}
	return errors.Join(errs...)
}
