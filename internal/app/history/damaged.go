package history

import (
	"context"
	"os"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store/layout"
)

// Damaged lists the notes that the last commit left out because they lost their text, and
// the files that are no notes and were: the history or the last commit has a form of them.
func Damaged(ctx context.Context, r *app.Rooms) (all []app.DamagedNote, err error) {
	record, _ := os.Stat(r.Store.Path(app.SyncedFile))
	for _, h := range app.LastSync(r).Held {
		fi, err := os.Stat(r.Store.Path(layout.Memory + "/" + h.Path))
		changed := err != nil || record == nil || fi.ModTime().After(record.ModTime()) // the next commit looks at it again
		if app.LostText(h) && !changed {
			all = append(all, app.DamagedNote{
				ID: app.IDOf(h.Path), Path: layout.Memory + "/" + h.Path, Why: strings.TrimPrefix(h.Why, replica.LossWhy),
			})
		}
	}
	problems, err := r.Index.Problems(ctx)
	for _, p := range problems {
		id := app.IDOf(p.Path)
		known := slices.ContainsFunc(all, func(d app.DamagedNote) bool { return d.Path == p.Path })
		if p.Sidecar || known || id == "" {
			continue
		}
		if revs, herr := r.Store.History(id); herr == nil && len(revs) > 0 || wasNote(ctx, r, p.Path) {
			all = append(all, app.DamagedNote{ID: id, Path: p.Path, Why: p.Reason})
		}
	}
	return all, err
}

// wasNote reports whether a file is a note in the last commit.
func wasNote(ctx context.Context, r *app.Rooms, path string) bool {
	rest, portable := strings.CutPrefix(path, layout.Memory+"/")
	h, err := app.Historian(r)
	if !portable || h == nil || err != nil {
		return false
	}
	data, err := h.Show(ctx, "HEAD", rest)
	if err == nil {
		_, err = note.Parse(data)
	}
	return err == nil
}

// RestoreDamaged gives every damaged note the form of the last commit, or without one the
// newest of the history, and commits; with apply false it says what it would do. The bytes
// that stand there now are kept in the history.
func RestoreDamaged(ctx context.Context, r *app.Rooms, apply bool) (a RewindAnswer, err error) {
	all, err := Damaged(ctx, r)
	if err != nil {
		return a, err
	}
	a.Applied, a.Notes = apply, []Rewound{}
	var stale error
	failed := 0
	for _, d := range all {
		f, rev, ok := sound(ctx, r, d)
		l := Rewound{ID: d.ID, Rev: rev, Why: d.Why}
		switch {
		case !ok:
			l.Error = "neither the last commit nor the history has a form of it; mend it, or delete the file"
			a.Left++
		case apply:
			changed, err := reinstate(ctx, r, d.ID, f.data, &stale)
			if changed {
				a.Changed++
			}
			if err != nil {
				l.Error = err.Error()
				failed++
			}
		}
		a.Notes = append(a.Notes, l)
	}
	_ = app.StaleIndex(r, stale)
	if a.Changed > 0 { // so that what the last commit left out is not shown any more
		if _, err := app.Sync(ctx, r, app.SyncOptions{}); err != nil {
			r.Notify("%v", err)
		}
	}
	if failed > 0 {
		err = app.Answered("restore: %s could not be restored; the others are", app.Plural(failed, "note"))
	}
	return a, err
}

// sound returns the newest form of a note that can be read: of the last commit, or of the
// history.
func sound(ctx context.Context, r *app.Rooms, d app.DamagedNote) (f form, rev string, ok bool) {
	s := &subject{id: d.ID}
	s.ref.Path = d.Path
	revs := []string{"HEAD"}
	if have, err := r.Store.History(d.ID); err == nil {
		for _, h := range have {
			revs = append(revs, h.Name)
		}
	}
	for _, rev := range revs {
		f, err := formAt(ctx, r, s, rev)
		if err != nil {
			continue
		}
		if n, err := note.Parse(f.data); err == nil && n.ID == d.ID {
			return f, rev, true
		}
	}
	return f, "", false
}
