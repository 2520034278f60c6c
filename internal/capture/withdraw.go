package capture

import (
	"context"
	"errors"
	"slices"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// withdraw takes back what an earlier capture of a session learnt from turns that the user has taken back
// since: notes are archived, which can be undone, and proposals are dropped. A note that a person decided
// about, or that another session supports, stays.
func (r *Recorder) withdraw(ctx context.Context, s *agent.Session, said []learn.Said, from learn.Origin, clean learn.Clean) error {
	gone := agent.Session{Headless: s.Headless}
	all := s.All()
	for i := range all {
		if all[i].TakenBack {
			gone.Turns = append(gone.Turns, all[i])
		}
	}
	if len(gone.Turns) == 0 {
		return nil
	}
	var ids []note.ID
	for _, o := range learn.Orders(&gone, clean) {
		ids = append(ids, o.Note(from).ID)
	}
	for _, p := range learn.Permissions(&gone, clean, r.noted(from.Session)...) {
		ids = append(ids, p.Note(from).ID)
	}
	for _, w := range writesOf(gone.Turns) {
		ids = append(ids, w.id)
	}
	ids = slices.DeleteFunc(ids, func(id note.ID) bool {
		n, _, err := store.Get(r.store, id)
		return err != nil || n.Decided() || n.IsReviewed() || n.Provenance.Source == note.Human ||
			n.ProofCount > 1 || n.Provenance.Session != from.Session
	})
	var errs []error
	if len(ids) > 0 {
		_, err := r.ingester.Archive(ctx, ids, "you took back the turn that it is from; `anamnesis archive undo` brings it back")
		errs = append(errs, err)
	}
	words := learn.SaidIn(&gone, clean)
	for _, d := range ingest.InboxOf(r.ingester).Proposals(from.Session) {
		if len(d.Evidence) == 0 {
			continue
		}
		_, back := learn.Find(words, d.Evidence[0].Quote)
		if _, again := learn.Find(said, d.Evidence[0].Quote); back && !again {
			errs = append(errs, ingest.DropDraft(ctx, r.store, d.ID))
		}
	}
	return errors.Join(errs...)
}
