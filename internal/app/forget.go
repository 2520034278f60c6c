package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
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

	// Until is when what was forgotten is erased; nil when it is erased, or nothing was changed.
	Until *time.Time `json:"undo_until,omitempty"`

	Alike []Alike `json:"alike"` // what stays and says nearly the same, or is shown again

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

// Forgetting says what Forget does.
type Forgetting int

// The ways to forget a note.
const (
	ForgetPlan Forgetting = iota // list what would be erased, and change nothing
	ForgetSoon                   // take it out of every answer, and erase it after tombstone.Grace
	ForgetNow                    // erase it
)

// Forget forgets the note that name names. name may be the whole id of a note that is gone and has former forms.
func Forget(ctx context.Context, r *Rooms, name string, how Forgetting) (a ForgetAnswer, err error) {
	id, err := forgettable(ctx, r, name)
	if err != nil {
		return a, err
	}
	if how == ForgetNow {
		all, err := forgetNow(ctx, r, id)
		if err != nil {
			return a, err
		}
		return all[0], nil
	}
	n, err := r.Store.LatestRevision(id)
	if err != nil {
		return a, fmt.Errorf("forget note %s: %w", id, err)
	}
	left, err := r.Ingester.Alike(ctx, n) // looked up before the note is gone
	if err != nil {
		return a, err
	}
	if how == ForgetPlan {
		f, err := ingest.PlanForget(ctx, r.Ingester, id)
		return newForgetAnswer(r, f, left), err
	}
	m, f, err := ingest.ForgetSoon(ctx, r.Ingester, id)
	if err == nil && n.Type == note.Episodic && n.Kind == "" && r.Recorder != nil {
		err = forgetSlotsOf(ctx, r, n) // these lines are made again of later sessions, and an undo leaves them out
	}
	if err != nil {
		return a, err
	}
	a = newForgetAnswer(r, f, left)
	a.Applied, a.Until = true, &m.Until
	return a, nil
}

// forgetNow erases notes and all that was made of them.
func forgetNow(ctx context.Context, r *Rooms, ids ...note.ID) (answers []ForgetAnswer, err error) {
	forms, left := make([]*note.Note, len(ids)), make([][]ingest.Like, len(ids)) // looked up before the notes are gone
	trace := traceIDs(ctx, r, ids...)
	for i, id := range ids {
		if forms[i], err = r.Store.LatestRevision(id); err != nil {
			return nil, fmt.Errorf("forget note %s: %w", id, err)
		}
		if left[i], err = r.Ingester.Alike(ctx, forms[i]); err != nil {
			return nil, err
		}
		trace = trace.And(recall.TraceOf(forms[i]))
		f, err := ingest.PlanForget(ctx, r.Ingester, id)
		if err != nil {
			return nil, err
		}
		for _, path := range f.Notes {
			if n, _, _, err := r.Store.Read(path); err == nil {
				trace = trace.And(recall.TraceOf(n))
			}
		}
	}
	all, err := r.Ingester.Forget(ctx, ids, func(paths []string) error { return disallow(r, paths) })
	gone := slices.Clone(ids)
	for _, f := range all {
		gone = append(gone, idsOf(f.Notes)...)
	}
	erase(ctx, r, trace)
	forgetShared(r, gone)
	for i, id := range ids {
		err = errors.Join(err, forgetMirrored(ctx, r, id), forgetSession(ctx, r, forms[i]))
	}
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(all, func(f tombstone.Forgotten) bool { return inGit(r, f) }) { // so that a file that comes back is a new one
		if _, cerr := Sync(ctx, r, SyncOptions{}); cerr != nil {
			r.Notify("it is forgotten; the deletion goes with the next sync: %v", cerr)
		}
	}
	for i, f := range all {
		a := newForgetAnswer(r, f, left[i])
		a.Applied = true
		answers = append(answers, a)
	}
	return answers, nil
}

func newForgetAnswer(r *Rooms, f tombstone.Forgotten, left []ingest.Like) ForgetAnswer {
	a := ForgetAnswer{
		ID: f.ID, Sidecars: f.Sidecars, History: f.History, Held: f.Held, Conflicts: f.Conflicts,
		Tombstone: r.Store.Path(f.Tombstone), InGit: inGit(r, f), Forgotten: f, GitDir: r.Store.Path("memory/.git"),
	}
	for _, path := range f.Notes {
		a.Notes = append(a.Notes, r.Store.Path(path))
	}
	for _, l := range left {
		a.Alike = append(a.Alike, Alike{l.ID, l.Title, l.Project, l.State})
	}
	return a
}

// EraseForgotten erases the forgotten notes whose grace is over. It returns how many.
func EraseForgotten(ctx context.Context, r *Rooms) (n int, err error) {
	marks, err := tombstone.Marks(r.Store)
	if err != nil || r.Store.ReadOnly() {
		return 0, err
	}
	var due, gone []note.ID
	for _, m := range marks {
		if !m.Over(r.Store.Now()) {
			continue
		}
		if _, err := r.Store.LatestRevision(m.ID); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, m.ID) // a sync or another command has erased it
			continue
		}
		due = append(due, m.ID)
	}
	if len(gone) > 0 {
		_, err = ingest.BringBack(ctx, r.Ingester, gone...)
	}
	if len(due) == 0 {
		return 0, err
	}
	if _, ferr := forgetNow(ctx, r, due...); ferr == nil || len(due) == 1 {
		return len(due), errors.Join(err, ferr)
	}
	for _, id := range due { // one that cannot be read holds up no other
		if _, ferr := forgetNow(ctx, r, id); ferr == nil {
			n++
		} else {
			err = errors.Join(err, ferr)
		}
	}
	return n, err
}

// forgottenWaits reports whether a note was forgotten and waits to be erased now.
func forgottenWaits(r *Rooms) bool {
	marks, err := tombstone.Marks(r.Store)
	return err == nil && slices.ContainsFunc(marks, func(m tombstone.Mark) bool { return m.Over(r.Store.Now()) })
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
