package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// How long a handoff waits for the next session on its project.
const (
	HandoffDays    = 7
	MaxHandoffDays = 30
)

// A Handoff is what a session leaves to the next one on the same project. It is
// a note like others (so it is redacted, synced and listed), of the kind
// note.Handoff: shown at session start, found by no search unless asked for.
//
// It is read without being used up. It is done when somebody acknowledges it,
// when a session that was shown it has asked its agent something (AcknowledgeHandoffs), or
// when its days are over.
type Handoff struct {
	Project string
	Title   string
	Body    string
	Session string // that leaves it, empty when unknown
	By      Author
	Here    string // the project that the author works on
	Days    int    // it waits; 0 means HandoffDays
}

// LeaveHandoff writes a handoff.
func (g *Ingester) LeaveHandoff(ctx context.Context, h Handoff) (Outcome, error) {
	switch {
	case h.Project == "" || h.Project == note.Global:
		return Outcome{}, errors.New("leave a handoff: it is for one project; name it")
	case h.Days == 0:
		h.Days = HandoffDays
	case h.Days < 0 || h.Days > MaxHandoffDays:
		return Outcome{}, fmt.Errorf("leave a handoff for %d days: it waits for 1 to %d", h.Days, MaxHandoffDays)
	}
	n := &note.Note{
		Type: note.Episodic, Kind: note.Handoff, Title: h.Title, Body: h.Body, Project: h.Project, Tags: []string{"handoff"},
		Provenance:  note.Provenance{Confidence: 1, Session: h.Session},
		ForgetAfter: note.At(g.store.Now().Add(time.Duration(h.Days) * 24 * time.Hour)),
	}
	return g.Admit(ctx, Draft{Note: n, By: h.By, Here: h.Here, Reason: store.Update})
}

// Handoffs lists what waits for the next session of a project, newest first.
// projects are all its keys.
func (g *Ingester) Handoffs(ctx context.Context, projects []string) ([]index.Row, error) {
	if len(projects) == 0 {
		return nil, nil
	}
	return g.index.Select(ctx, index.Filter{Projects: projects, Kind: note.Handoff, Now: g.store.Now()}, 0)
}

// AcknowledgeHandoff ends a handoff: it is kept and shown no more. by is the
// session that took it, empty when unknown. One that is done already is no error.
func (g *Ingester) AcknowledgeHandoff(ctx context.Context, id note.ID, by string) (Outcome, error) {
	return g.amend(ctx, id, false, "acknowledge", func(n *note.Note, _ []byte) (*note.Note, error) {
		if n.Kind != note.Handoff {
			return nil, errors.New("it is no handoff")
		}
		if n.IsArchived() {
			return n, nil
		}
		n.Archive("taken over")
		n.UpdatedAt = note.At(g.store.Now())
		if by != "" {
			n.StatusReason += " by session " + by
		}
		return n, nil
	})
}

// AcknowledgeHandoffs ends the handoffs of a project that a session was shown at its start.
// The caller has seen that somebody asked that session something: one that was
// opened and closed again uses nothing up.
func (g *Ingester) AcknowledgeHandoffs(ctx context.Context, session string, projects []string) error {
	if session == "" {
		return nil
	}
	waiting, err := g.Handoffs(ctx, projects)
	if err != nil || len(waiting) == 0 {
		return err
	}
	files, err := g.store.Events().Files()
	if err != nil {
		return err
	}
	shown := make(map[note.ID]bool)
	for _, file := range files[max(0, len(files)-2):] { // a handoff is at most a month old
		_, err = g.store.Events().Records(file, 0, func(r store.Record) {
			if (r.Kind == store.Injected || r.Kind == store.Prompted) && r.Session == session {
				for _, id := range r.Notes {
					shown[id] = true
				}
			}
		})
		if err != nil {
			return err
		}
	}
	waiting = slices.DeleteFunc(waiting, func(r index.Row) bool { return !shown[r.ID] })
	for _, r := range waiting {
		if _, err := g.AcknowledgeHandoff(ctx, r.ID, session); err != nil {
			return err
		}
	}
	return nil
}
