package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/bundle"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/tombstone"
)

// Forget erases notes and all that this machine keeps of them (tombstone.ForgetAll),
// and tells the index. erased is called under the store lock with the paths of
// the notes that are gone, also when an error is about what is left to do; nil
// does nothing. all says what was erased, also when there is an error.
func (g *Ingester) Forget(ctx context.Context, ids []note.ID, erased func(paths []string) error) (all []tombstone.Forgotten, err error) {
	var paths []string
	err = locked(ctx, g.store, func(w *store.Writer) error {
		var err error
		all, err = tombstone.ForgetAll(w, ids...)
		for _, f := range all {
			paths = append(paths, f.Notes...)
		}
		var gone []string
		for _, id := range ids {
			if derr := w.Disown(id); err == nil {
				err = derr
			}
			gone = append(gone, string(id)+".md")
		}
		if erased != nil && (len(paths) > 0 || err == nil) {
			err = errors.Join(err, erased(append(gone, paths...)))
		}
		if err == nil {
			_, err = tombstone.DropMarks(w, ids...)
		}
		return err
	})
	return all, errors.Join(err, g.Reindex(ctx, paths))
}

// ForgetSoon marks a note as forgotten (tombstone.Mark) and takes it, with those that say exactly the same, out of the index.
func ForgetSoon(ctx context.Context, g *Ingester, id note.ID) (m tombstone.Mark, f tombstone.Forgotten, err error) {
	copies, err := g.copies(ctx, id)
	if err != nil {
		return m, f, err
	}
	err = locked(ctx, g.store, func(w *store.Writer) error {
		if m, f, err = tombstone.PlanMark(g.store, id, copies); err != nil {
			return err
		}
		return tombstone.AddMark(w, m)
	})
	if err != nil {
		return m, f, err
	}
	return m, f, g.Reindex(ctx, m.Paths)
}

// PlanForget says what forgetting a note erases, as far as the index knows which notes say the same.
func PlanForget(ctx context.Context, g *Ingester, id note.ID) (tombstone.Forgotten, error) {
	copies, err := g.copies(ctx, id)
	if err != nil {
		return tombstone.Forgotten{}, err
	}
	_, f, err := tombstone.PlanMark(g.store, id, copies)
	return f, err
}

// copies returns the files of a note and of those that share most words with it, by the index.
func (g *Ingester) copies(ctx context.Context, id note.ID) (refs []store.Ref, err error) {
	n, err := g.store.LatestRevision(id)
	if err != nil {
		return nil, fmt.Errorf("forget note %s: %w", id, err)
	}
	if ref, err := g.store.Find(id); err == nil {
		refs = append(refs, ref)
	}
	rows, err := g.sharing(ctx, n, likely, index.Filter{Now: g.store.Now()}, index.Filter{Now: g.store.Now(), Dead: true})
	for i := range rows {
		if rows[i].ID != id {
			refs = append(refs, rows[i].Ref)
		}
	}
	return refs, err
}

// BringBack takes back that notes were forgotten that are not erased yet, and brings them back into the index. It returns their
// marks.
func BringBack(ctx context.Context, g *Ingester, ids ...note.ID) (marks []tombstone.Mark, err error) {
	err = locked(ctx, g.store, func(w *store.Writer) error {
		marks, err = tombstone.DropMarks(w, ids...)
		return err
	})
	for _, m := range marks {
		err = errors.Join(err, g.Reindex(ctx, m.Paths))
	}
	return marks, err
}

// Unforget takes back that the note in a file was forgotten (tombstone.Revoke). The
// caller tells the index. A note that no tombstone knows is an error. Who brings their own note back vouches for it.
func Unforget(ctx context.Context, s *store.Store, path string, by Author) (n *note.Note, err error) {
	err = locked(ctx, s, func(w *store.Writer) error {
		var ref store.Ref
		if n, _, ref, err = s.Read(path); err != nil {
			return err
		}
		paths, err := tombstone.Revoke(w, n)
		if err == nil && len(paths) == 0 {
			err = errors.New("it was not forgotten")
		}
		if err == nil { // only a changed file outlives its deletion by a machine that has not heard of the revocation
			n.UpdatedAt = note.At(s.Now())
			_, _, err = w.Put(n, ref, store.Update)
		}
		if err == nil && by == Person && note.Attested(n) {
			err = w.Trust(n)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("bring the note in %s back: %w", s.Path(path), err)
	}
	return n, nil
}

// Unpack takes a bundle in (bundle.Import) and applies the tombstones that came
// with it. erased is called under the store lock with what those erased. The
// caller brings the index into step afterwards.
func (in *Incoming) Unpack(
	ctx context.Context, r io.ReadSeeker, o bundle.Options, erased func(paths []string) error,
) (u bundle.Unpacked, err error) {
	err = locked(ctx, in.store, func(w *store.Writer) error {
		if u, err = bundle.Import(w, r, o); err != nil || o.Dry {
			return err
		}
		if _, err = tombstone.Apply(w); err == nil && o.Obey {
			err = erased(u.Erases)
		}
		return err
	})
	return u, err
}

// AddAlias makes from another name of the project to.
func AddAlias(ctx context.Context, s *store.Store, from, to string) error {
	return locked(ctx, s, func(w *store.Writer) error { return project.AddAlias(w, from, to) })
}

// ForgetEvidence takes the quotes of sessions out of notes that other sessions support, too, and out of their former forms.
func ForgetEvidence(ctx context.Context, g *Ingester, of func(session string) bool) error {
	var touched []note.ID
	err := g.Revise(ctx, func(r *Revision) error {
		for at := range g.store.Walk() {
			n, _, ref, err := g.store.Read(at.Path)
			if err != nil || !slices.ContainsFunc(n.Evidence, func(e note.Evidence) bool { return of(e.Session) }) {
				continue
			}
			n.Evidence = slices.DeleteFunc(n.Evidence, func(e note.Evidence) bool { return of(e.Session) })
			if of(n.Provenance.Session) && len(n.Evidence) > 0 { // of a client, which evidence names before the session
				_, n.Provenance.Session, _ = strings.Cut(n.Evidence[0].Session, "/")
			}
			n.ProofCount, n.UpdatedAt = max(1, n.Sessions()), note.At(g.store.Now())
			if err := r.Put(n, ref); err != nil {
				return err
			}
			touched = append(touched, n.ID)
		}
		return nil
	})
	for _, id := range touched {
		err = errors.Join(err, EraseFormer(ctx, g, id))
	}
	return err
}

// EraseFormer erases the former forms of a note, here and, when it travels, on every machine that hears of it (note.FormsErased).
func EraseFormer(ctx context.Context, g *Ingester, id note.ID) error {
	path := ""
	err := locked(ctx, g.store, func(w *store.Writer) (err error) {
		path, err = eraseFormer(w, id)
		return err
	})
	if err == nil && path != "" {
		err = g.Reindex(ctx, []string{path})
	}
	return err
}

// eraseFormer returns the path of the note when it was changed.
func eraseFormer(w *store.Writer, id note.ID) (path string, err error) {
	s := w.Store()
	n, ref, err := store.Get(s, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", w.EraseHistory(id)
	case err != nil:
		return "", err
	case ref.Scope == note.Portable:
		at := note.At(s.Now())
		if at <= n.FormsErased { // of the same second, or the clock was set back: others have to see that it changed
			last, ok := n.FormsErased.Time()
			if !ok {
				last = s.Now()
			}
			at = note.At(last.Add(time.Second))
		}
		n.FormsErased = at
		if _, _, err := w.Put(n, ref, store.Update); err != nil {
			return "", err
		}
		path = ref.Path
	}
	return path, w.EraseHistory(id)
}

// EraseHolding erases the former forms of notes, the losers of conflicts and the texts of decided drafts for which holds reports true.
func EraseHolding(ctx context.Context, g *Ingester, holds func(data []byte) bool) error {
	s, paths := g.store, []string{}
	err := locked(ctx, s, func(w *store.Writer) error {
		ids, err := store.Histories(s)
		for _, id := range ids {
			revs, rerr := s.History(id)
			err = errors.Join(err, rerr)
			if slices.ContainsFunc(revs, func(rev store.Revision) bool {
				data, err := s.ReadFile(rev.Path, store.MaxNoteSize)
				return err == nil && holds(data)
			}) {
				path, ferr := eraseFormer(w, id)
				if err = errors.Join(err, ferr); path != "" {
					paths = append(paths, path)
				}
			}
		}
		conflicts, cerr := s.Conflicts().List()
		err = errors.Join(err, cerr)
		for _, c := range conflicts {
			if data, derr := s.Conflicts().Loser(c); derr == nil && holds(data) {
				err = errors.Join(err, w.DropConflict(c))
			}
		}
		return errors.Join(err, store.EraseDecided(w, func(_ note.ID, data []byte) bool { return holds(data) }))
	})
	return errors.Join(err, g.Reindex(ctx, paths))
}
