package ingest

import (
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// contradicted writes down that a sentence which the user typed in a session contradicts a note that the session was shown before
// (A4): the note is replaced, or both wait for the user. Capture finds it too where the two have the same words; what counts once a session
// is in the log of what the session was shown. It ignores write errors: no note needs them.
func (g *Ingester) contradicted(n *note.Note, of note.ID) {
	session := n.Provenance.Session
	if session == "" || of == "" {
		return
	}
	shown := g.store.Spool().ShownLog(session, "")
	h, err := shown.History()
	if err != nil || h.Verdicts[of] == store.Opposed || !slices.ContainsFunc(h.Notes, func(s store.ShownNote) bool { return s.Note == of }) {
		return
	}
	if shown.Judge(store.Opposed, of) == nil {
		_ = g.store.Events().Log(store.Record{
			Kind: store.FollowedUp, Session: session, Project: n.Project, Notes: []note.ID{of}, Count: 1, Text: string(store.Opposed),
		})
	}
}
