package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/tombstone"
)

// ForgetAnswer is what forgetting a note erased, or would erase.
type ForgetAnswer struct {
	ID        note.ID   `json:"id"`
	Applied   bool      `json:"applied"`
	Notes     []string  `json:"notes"`
	Sidecars  int       `json:"sidecars"`
	History   int       `json:"former_states"`
	Held      []note.ID `json:"held"`
	Conflicts []note.ID `json:"conflicts"`
	Tombstone string    `json:"tombstone"`
	InGit     bool      `json:"git_history_holds_it"`
	Alike     []Alike   `json:"alike"` // what stays and says nearly the same, or is shown again

	Forgotten tombstone.Forgotten `json:"-"`
	GitDir    string              `json:"-"`
}

// An Alike is a note or a draft that forget leaves.
type Alike struct {
	ID      note.ID `json:"id"`
	Title   string  `json:"title"`
	Project string  `json:"project"`
	State   string  `json:"state"` // "" for a note that is recalled
}

// Forget erases the note that name names, or with apply false lists what would be
// erased. name may be the whole id of a note that is gone and has former forms.
func Forget(ctx context.Context, r *Rooms, name string, apply bool) (a ForgetAnswer, err error) {
	id, err := forgettable(ctx, r, name)
	if err != nil {
		return a, err
	}
	f, err := tombstone.Plan(r.Store, id)
	var left []ingest.Like // looked up before the note is gone
	latest, nerr := r.Store.LatestRevision(id)
	if err == nil && nerr == nil {
		left, err = r.Ingester.Alike(ctx, latest)
	}
	if apply && err == nil {
		trace := traceIDs(ctx, r, append(idsOf(f.Notes), id)...)
		f, err = r.Ingester.Forget(ctx, id, func(paths []string) error { return disallow(r, paths) })
		erase(ctx, r, trace)
		forgetShared(r, append(idsOf(f.Notes), id))
		err = errors.Join(err, forgetMirrored(ctx, r, id), forgetSession(ctx, r, latest))
	}
	if err != nil {
		return a, err
	}
	if apply && inGit(r, f) { // so that a file that comes back is a new one, which does not travel
		if _, cerr := Sync(ctx, r, SyncOptions{}); cerr != nil {
			r.Notify("it is forgotten; the deletion goes with the next sync: %v", cerr)
		}
	}
	a = ForgetAnswer{
		ID: id, Applied: apply, Sidecars: f.Sidecars, History: f.History, Held: f.Held, Conflicts: f.Conflicts,
		Tombstone: r.Store.Path(f.Tombstone), InGit: inGit(r, f), Forgotten: f, GitDir: r.Store.Path("memory/.git"),
	}
	for _, path := range f.Notes {
		a.Notes = append(a.Notes, r.Store.Path(path))
	}
	for _, l := range left {
		a.Alike = append(a.Alike, Alike{l.ID, l.Title, l.Project, l.State})
	}
	return a, nil
}

// forgettable finds a note, or one that is gone and has former forms, by its whole id.
func forgettable(ctx context.Context, r *Rooms, name string) (note.ID, error) {
	row, err := Resolve(ctx, r, name)
	if err == nil {
		return row.ID, nil
	}
	id := note.ID(strings.TrimSpace(name))
	if _, perr := note.ParseID(string(id)); perr == nil {
		if revs, herr := r.Store.History(id); herr == nil && len(revs) > 0 {
			return id, nil
		}
		if _, ferr := r.Store.Find(id); ferr == nil { // one that was forgotten, and whose file is here again
			return id, nil
		}
	}
	return "", err
}

// inGit reports whether git's history may hold what is forgotten.
func inGit(r *Rooms, f tombstone.Forgotten) bool {
	_, err := os.Stat(r.Store.Path("memory/.git"))
	return !errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(f.Tombstone, "memory/")
}
