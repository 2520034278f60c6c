package history

import (
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// RunsAnswer lists the runs that can be undone, newest first.
type RunsAnswer struct {
	Runs []RunView `json:"runs"`
}

// A RunView is a run.
type RunView struct {
	ID    note.ID `json:"id"`
	At    string  `json:"at"`
	What  string  `json:"what"` // reflect, merge, import, undo
	Notes int     `json:"notes"`
}

// Runs lists the runs of this machine; at most limit, 0 for all.
func Runs(r *app.Rooms, limit int) (a RunsAnswer, err error) {
	a.Runs = []RunView{}
	all, err := store.Runs(r.Store, limit)
	for _, l := range all {
		a.Runs = append(a.Runs, RunView{l.ID, l.At, l.What, len(l.Notes())})
	}
	return a, err
}

// UndoAnswer is what undoing a run did, or would do.
type UndoAnswer struct {
	Run     note.ID         `json:"run"`
	What    string          `json:"what"`
	At      string          `json:"at"`
	Applied bool            `json:"applied"`
	Notes   []UndoneNote    `json:"notes"`
	Left    int             `json:"left"` // notes that stay, because somebody changed them
	Undo    string          `json:"undo,omitempty"`
	Sync    *app.SyncResult `json:"sync,omitempty"`
}

// An UndoneNote is a note of the run.
type UndoneNote struct {
	ID     note.ID `json:"id"`
	Title  string  `json:"title"`
	Result string  `json:"result"` // restored, archived, edited, gone, lost or nothing
	Rev    string  `json:"rev,omitempty"`
	Path   string  `json:"path"`
}

// Undo takes back what one run of reflect, merge or import wrote, and nothing else; or
// with Apply unset says what it would do. A note that was changed since stays, and the
// error is of kind Conflict and comes with the answer. name is the id of the run, or the
// beginning or end of it.
func Undo(ctx context.Context, r *app.Rooms, name string, o app.MaintainOptions) (a UndoAnswer, err error) {
	l, err := findRun(r, name)
	if err != nil {
		return a, err
	}
	a = UndoAnswer{Run: l.ID, What: l.What, At: l.At, Applied: o.Apply, Notes: []UndoneNote{}}
	running, c := app.BeginRun(ctx, r, "undo")
	all, paths, err := ingest.UndoRun(running, r.Store, l, o.Apply)
	for _, u := range all {
		a.Notes = append(a.Notes, UndoneNote{u.ID, u.Title, u.Result, u.Rev, r.Store.Path(u.Path)})
		if u.Result == ingest.UndoEdited || u.Result == ingest.UndoLost {
			a.Left++
		}
	}
	if len(paths) > 0 {
		if ierr := app.Reindex(ctx, r, paths); ierr != nil {
			r.Notify("the notes are safe, but not in the index yet: %v; `anamnesis doctor reindex` mends that", ierr)
		}
		s, serr := c.Finish(ctx, o.NoSync)
		if err == nil {
			err = serr
		}
		a.Sync, a.Undo = &s, c.Undo()
	}
	if err == nil && o.Apply && a.Left > 0 {
		err = &app.Error{Kind: app.Conflict}
	}
	return a, err
}

// findRun finds a run by its id, or the beginning or end of it.
func findRun(r *app.Rooms, name string) (l store.RunLog, err error) {
	want := strings.ToUpper(strings.TrimSpace(name))
	if len(want) < app.MinPrefix {
		return l, app.Usagef("undo %s: give at least %d characters of the id; `anamnesis log history --runs` lists them", name, app.MinPrefix)
	}
	all, err := store.Runs(r.Store, 0)
	if err != nil {
		return l, err
	}
	var found []store.RunLog
	for _, l := range all {
		if strings.HasPrefix(string(l.ID), want) || strings.HasSuffix(string(l.ID), want) {
			found = append(found, l)
		}
	}
	switch len(found) {
	case 0:
		return l, app.Errorf(app.NotFound, "there is no run %s on this machine, and no decision about it; "+
			"`anamnesis log history --runs` and `anamnesis undo --list` list them", name)
	case 1:
		return found[0], nil
	}
	return l, app.Usagef("%s names %s; `anamnesis log history --runs` lists them", name, app.Plural(len(found), "run"))
}
