package app

import (
	"context"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// ListAnswer lists notes, newest first.
type ListAnswer struct {
	Notes []NoteView `json:"notes"`
	Total int        `json:"total"` // notes of the selection, more than Notes when a limit left some out
	Stale int        `json:"stale"`

	Damaged []DamagedNote `json:"damaged,omitempty"` // notes that cannot be listed, or lost their text; List leaves it empty
}

// List lists the notes of a selection, newest first, limit at most; 0 means all.
func List(ctx context.Context, r *Rooms, s Selection, limit int) (ListAnswer, error) {
	f, err := s.Filter(r)
	if err != nil {
		return ListAnswer{}, err
	}
	rows, err := r.Index.Select(ctx, f, limit)
	a := ListAnswer{Total: len(rows), Stale: r.Stale}
	for _, row := range rows {
		a.Notes = append(a.Notes, ViewRow(r, row))
	}
	if err != nil || limit == 0 || len(rows) < limit {
		return a, err
	}
	counts, err := r.Index.PerProject(ctx, f)
	a.Total = 0
	for _, n := range counts {
		a.Total += n
	}
	return a, err
}

// ShowAnswer is a note with what is known about it.
type ShowAnswer struct {
	NoteView
	Body        string   `json:"body"`
	Fields      Fields   `json:"fields,omitempty"`
	History     []string `json:"history"`        // files of its former states
	Said        int      `json:"said,omitempty"` // sessions in which the user typed what it says
	LastSaid    string   `json:"last_said,omitempty"`
	Injected    int      `json:"injected"`
	Recalled    int      `json:"recalled"`
	Proposed    []string `json:"when_proposed,omitempty"` // the triggers that it has by its form, where it has no others
	SharedFrom  string   `json:"shared_from,omitempty"`   // the team's repository, when it came from there and not from its author's machine
	ConfirmedBy []string `json:"confirmed_by"`            // others of the team who share the same statement as a note of theirs

	Details   []note.Detail    `json:"-"` // the fields, in the order of a reader
	Revisions []store.Revision `json:"-"`
	File      []byte           `json:"-"` // as it is on the disk
}

// Fields are the fields of a note by their keys, without those that repeat its title or body.
type Fields map[string]string

// FieldsOf returns the fields of a note.
func FieldsOf(n *note.Note) Fields {
	f := make(Fields)
	for _, d := range note.Details(n) {
		f[d.Key] = d.Text
	}
	return f
}

// Show returns the note that name names (see Resolve).
func Show(ctx context.Context, r *Rooms, name string) (a ShowAnswer, err error) {
	row, c, err := ContentOf(ctx, r, name)
	if shared, content, ok := sharedNote(ctx, r, name); ok && err != nil {
		row, c, err = shared, content, content.Err
	}
	if err != nil {
		return a, err
	}
	n := c.Note
	a = ShowAnswer{
		NoteView: viewNote(r.Store, n, &row), Body: n.Body, Fields: FieldsOf(n), Details: note.Details(n),
		File: c.Text, Proposed: ProposedTriggers(n),
	}
	if n.UserSaid() {
		times, last := note.Said(n)
		a.Said, a.LastSaid = times, string(last)
	}
	if a.Author != "" {
		a.SharedFrom = sharedFrom(r, &row)
	}
	if a.ConfirmedBy, err = confirmedBy(ctx, r, n); err != nil {
		return a, err
	}
	if a.Revisions, err = r.Store.History(row.ID); err != nil {
		return a, err
	}
	for _, rev := range a.Revisions {
		a.History = append(a.History, r.Store.Path(rev.Path))
	}
	tally, err := Tally(ctx, r, row.ID)
	a.Injected, a.Recalled = tally.Injected, tally.Recalled
	return a, err
}

// Tally counts how often a note was shown and found, up to this moment.
func Tally(ctx context.Context, r *Rooms, id note.ID) (store.Tally, error) {
	FoldEvents(ctx, r)
	tallies, err := r.Index.Counters(ctx, []note.ID{id})
	return tallies[id], err
}

// FoldEvents brings the counters into step with the event log. An index that
// cannot be written keeps its counters, which is reported.
func FoldEvents(ctx context.Context, r *Rooms) {
	if err := r.Index.Fold(ctx); err != nil && !r.Store.ReadOnly() {
		r.Notify("%v", err)
	}
}

// PathOf returns where the file of the note that name names stands.
func PathOf(ctx context.Context, r *Rooms, name string) (string, error) {
	row, err := Resolve(ctx, r, name)
	return r.Store.Path(row.Ref.Path), err
}
