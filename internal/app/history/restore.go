package history

import (
	"context"
	"errors"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// RestoreAnswer is what giving a note a former form did, or would do.
type RestoreAnswer struct {
	ID      note.ID `json:"id"`
	Rev     string  `json:"rev"`
	Applied bool    `json:"applied"`
	Changed bool    `json:"changed"`
	Path    string  `json:"path,omitempty"`
	Undo    string  `json:"undo,omitempty"`
	Diff    string  `json:"diff"`
}

// Restore gives the note that name names the form it had at a revision, or with
// apply false says what would change.
func Restore(ctx context.Context, r *app.Rooms, name, rev string, apply bool) (a RestoreAnswer, err error) {
	s, err := findSubject(ctx, r, name)
	if err != nil {
		return a, err
	}
	then, err := formAt(ctx, r, s, rev)
	if err != nil {
		return a, err
	}
	now, err := present(r, s)
	if err != nil {
		return a, err
	}
	a = RestoreAnswer{ID: s.id, Rev: rev, Diff: note.Unified(now.name, then.name, string(now.data), string(then.data))}
	if !apply {
		return a, nil
	}
	ref, changed, err := r.Ingester.Reinstate(app.Deciding(ctx, r, "restore"), then.id, then.data)
	if err = app.StaleIndex(r, err); err != nil {
		return a, err
	}
	a.Applied, a.Changed, a.Path = true, changed, r.Store.Path(ref.Path)
	if changed {
		a.Undo = undoRestore(r, s)
	}
	return a, nil
}

// undoRestore returns the command that takes a restore back.
func undoRestore(r *app.Rooms, s *subject) string {
	if revs, err := r.Store.History(s.id); err == nil && len(revs) > 0 && s.ref.Path != "" {
		if _, _, _, err := r.Store.Read(revs[0].Path); err != nil {
			return "" // it was no note; its bytes stand in the history
		}
		return "anamnesis restore " + string(s.id) + "@" + revs[0].Name + " --apply"
	}
	return "anamnesis archive " + string(s.id) // it was gone
}

// RewindAnswer is what taking back a stretch of time did, or would do.
type RewindAnswer struct {
	Applied bool      `json:"applied"`
	Notes   []Rewound `json:"notes"`
	Changed int       `json:"changed"`
	Undo    string    `json:"undo,omitempty"`

	Left int `json:"-"` // notes that stay, because they were changed later
}

// A Rewound is a note of a stretch of time that is taken back.
type Rewound struct {
	ID    note.ID `json:"id"`
	Rev   string  `json:"rev"`
	Why   string  `json:"why,omitempty"` // how it is damaged
	Error string  `json:"error,omitempty"`
}

// Rewind gives every note that changed between since and until ("" for now) the
// form it had before. When some could not be restored the error says how many;
// the others are.
func Rewind(ctx context.Context, r *app.Rooms, since, until string, apply bool) (a RewindAnswer, err error) {
	from, err := app.Moment("--since", since, r.Store.Now())
	if err != nil {
		return a, err
	}
	var to time.Time
	if until != "" {
		if to, err = app.Moment("--until", until, r.Store.Now()); err != nil {
			return a, err
		}
	}
	forms, err := r.Store.FormsBefore(from, to)
	if err != nil {
		return a, err
	}
	a.Applied = apply
	c := app.BeginChange(r)
	var back []string
	var stale error
	failed := 0
	for _, f := range forms {
		l := Rewound{ID: f.ID, Rev: f.Name}
		ref, gone := r.Store.Find(f.ID)
		switch {
		case gone == nil && changedAfter(r, ref, f.ID, to):
			l.Error = "it was changed after " + until + " and stays; separately: anamnesis restore " + string(f.ID) + "@" + f.Name + " --apply"
			a.Left++
		case apply:
			changed, err := rewindOne(ctx, r, f, &stale)
			if changed {
				a.Changed++
			}
			if changed && gone != nil {
				back = append(back, string(f.ID))
			}
			if err != nil {
				l.Error = err.Error()
				failed++
			}
		}
		a.Notes = append(a.Notes, l)
	}
	_ = app.StaleIndex(r, stale)
	if a.Changed > 0 {
		c.End()
		a.Undo = c.Undo()
	}
	if len(back) > 0 { // they have no former form that an undo could find
		a.Undo = strings.TrimPrefix(a.Undo+" && anamnesis archive "+strings.Join(back, " "), " && ")
	}
	if failed > 0 {
		err = app.Answered("restore: %s could not be restored; the others are", app.Plural(failed, "note"))
	}
	return a, err
}

// changedAfter reports whether a note was changed since to, by us or by hand.
// Taking back what was done before would take that along.
func changedAfter(r *app.Rooms, ref store.Ref, id note.ID, to time.Time) bool {
	if to.IsZero() {
		return false
	}
	to = to.Add(time.Millisecond) // times on the command line know no less
	revs, err := r.Store.History(id)
	return err == nil && len(revs) > 0 && revs[0].At.After(to) || ref.ModTime.After(to)
}

// rewindOne brings one form back. stale gets what the index says to that.
func rewindOne(ctx context.Context, r *app.Rooms, f store.Former, stale *error) (changed bool, err error) {
	data, err := r.Store.ReadFile(f.Path, store.MaxNoteSize)
	if err != nil {
		return false, err
	}
	return reinstate(ctx, r, f.ID, data, stale)
}

// reinstate gives a note a form. stale gets what the index says to that.
func reinstate(ctx context.Context, r *app.Rooms, id note.ID, data []byte, stale *error) (changed bool, err error) {
	_, changed, err = r.Ingester.Reinstate(ctx, id, data)
	if behind := new(ingest.StaleError); errors.As(err, &behind) {
		*stale, err = behind, nil
	}
	return changed, err
}
