package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// An Origin is where a note came from; From are the origins of the notes it was
// made of.
type Origin struct {
	ID       note.ID   `json:"id"`
	Type     note.Type `json:"type,omitempty"`
	Title    string    `json:"title"`
	Source   string    `json:"source,omitempty"`
	Model    string    `json:"model,omitempty"`
	Session  string    `json:"session,omitempty"`
	Machine  string    `json:"machine,omitempty"`
	Created  string    `json:"created_at,omitempty"`
	Evidence []Quote   `json:"evidence"`
	From     []Origin  `json:"derived_from"`
	Gone     bool      `json:"gone,omitempty"`
}

// A Quote is a sentence of a session that supports a note.
type Quote struct {
	Session string `json:"session"`
	Quote   string `json:"quote"`
}

// A Showing is one time at which a note was shown.
type Showing struct {
	At      string `json:"at"`
	Kind    string `json:"kind"`
	Session string `json:"session,omitempty"`
	Project string `json:"project,omitempty"`
	Query   string `json:"query,omitempty"`
	Via     string `json:"via,omitempty"`
	Rank    int    `json:"rank,omitempty"` // of the answer to a question, from 1
	Why     string `json:"why"`
}

// WhyAnswer tells where a note came from, and when and why it was shown.
type WhyAnswer struct {
	ID           note.ID   `json:"id"`
	Origin       Origin    `json:"origin"`
	Live         bool      `json:"live"`
	Supersedes   []note.ID `json:"supersedes"`
	SupersededBy note.ID   `json:"superseded_by,omitempty"`
	Changes      int       `json:"changes"`
	Injected     int       `json:"injected"`
	Recalled     int       `json:"recalled"`
	Used         int       `json:"used"`                    // sessions that were shown it and acted on it
	Unused       int       `json:"unused"`                  // sessions that were shown it and did not
	Opposed      int       `json:"opposed"`                 // sessions whose user contradicted it
	When         []string  `json:"when,omitempty"`          // its triggers
	Proposed     []string  `json:"when_proposed,omitempty"` // those that it has by its form, where it has no others
	Showings     []Showing `json:"showings"`

	End   string     `json:"-"` // why it is not recalled
	Note  *note.Note `json:"-"`
	Path  string     `json:"-"`
	Total int        `json:"-"` // showings in the event log
}

// originDepth is how far derived notes are followed.
const originDepth = 8

// Why tells where the note that name names came from, back to the sentences it
// was made from, and its showings, newest first, at most limit (0: all).
func Why(ctx context.Context, r *app.Rooms, name string, limit int) (a WhyAnswer, err error) {
	row, c, err := app.ContentOf(ctx, r, name)
	if err != nil {
		return a, err
	}
	n := c.Note
	tally, err := app.Tally(ctx, r, row.ID)
	if err != nil {
		return a, err
	}
	shown, err := showings(r, row, n)
	if err != nil {
		return a, err
	}
	revs, err := r.Store.History(row.ID)
	a = WhyAnswer{
		ID: row.ID, Origin: originOf(r, n, map[note.ID]bool{}, originDepth), Live: !row.Dead, Supersedes: n.Supersedes,
		SupersededBy: row.SupersededBy, Changes: len(revs), Injected: tally.Injected, Recalled: tally.Recalled,
		Used: tally.Used, Unused: tally.Unused, Opposed: tally.Opposed, Showings: shown,
		When: n.When, Proposed: app.ProposedTriggers(n),
		End: app.EndOf(n, &row), Note: n, Path: r.Store.Path(row.Ref.Path), Total: len(shown),
	}
	if limit > 0 {
		a.Showings = shown[:min(len(shown), limit)]
	}
	return a, err
}

// showings lists when a note was shown, newest first.
func showings(r *app.Rooms, row index.Row, n *note.Note) (shown []Showing, err error) {
	err = app.LoggedRecords(r, time.Time{}, func(rec store.Record, _ time.Time) {
		i := slices.Index(rec.Notes, row.ID)
		if i < 0 || !rec.Shows() && rec.Kind != store.Recalled {
			return
		}
		shown = append(shown, newShowing(rec, i, n))
	})
	slices.Reverse(shown)
	return shown, err
}

// newShowing says why a note was shown. i is its place in the answer.
func newShowing(rec store.Record, i int, n *note.Note) Showing {
	s := Showing{At: rec.At, Kind: rec.Kind, Session: rec.Session, Project: rec.Project, Query: rec.Query, Via: rec.Text}
	session := ""
	if rec.Session != "" {
		session = " of session " + note.Line(rec.Session, 40)
	}
	switch {
	case rec.Kind == store.Recalled:
		s.Rank = i + 1
		s.Why = fmt.Sprintf("answer %d to a question", s.Rank)
		if rec.Query != "" {
			s.Why = fmt.Sprintf("answer %d to %q", s.Rank, note.Line(rec.Query, 80))
		}
		if rec.Text != "" {
			s.Why += " (" + note.Printable(rec.Text) + ")"
		}
	case rec.Kind == store.Prompted:
		s.Rank, s.Via = i+1, ""
		s.Why = "shown at a prompt" + session
		if rec.Query != "" {
			s.Why = fmt.Sprintf("shown at the prompt %q%s", note.Line(rec.Query, 80), session)
		}
	case rec.Kind == store.ToolShown:
		s.Rank, s.Via = i+1, ""
		s.Why = fmt.Sprintf("shown before %q%s", note.Line(rec.Query, 80), session)
	case rec.Kind == store.SubagentShown:
		s.Rank, s.Via = i+1, ""
		s.Why = "shown to a sub-agent" + session
	case n.Kind == note.Handoff:
		s.Why = "shown at the start" + session + ": it was handed over"
	case n.Project == note.Global:
		s.Why = "shown at the start" + session + ": a global note is shown to every session"
	default:
		s.Why = "shown at the start" + session + ": one of the notes of its project"
	}
	return s
}

// originOf follows a note back to what it was made of.
func originOf(r *app.Rooms, n *note.Note, seen map[note.ID]bool, left int) Origin {
	seen[n.ID] = true
	o := Origin{
		ID: n.ID, Type: n.Type, Title: n.Title, Source: n.Provenance.Source, Model: n.Provenance.Model, Session: n.Provenance.Session,
		Machine: n.MachineID, Created: string(n.CreatedAt), Evidence: []Quote{}, From: []Origin{},
	}
	for _, e := range n.Evidence {
		o.Evidence = append(o.Evidence, Quote{e.Session, e.Quote})
	}
	for _, id := range n.DerivedFrom {
		if seen[id] || left == 0 {
			continue
		}
		if from, _, err := store.Get(r.Store, id); err == nil {
			o.From = append(o.From, originOf(r, from, seen, left-1))
			continue
		}
		o.From = append(o.From, Origin{ID: id, Gone: true, Evidence: []Quote{}, From: []Origin{}})
	}
	return o
}
