package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/bundle"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/tombstone"
)

// Forget erases a note and all that this machine keeps of it (tombstone.Forget),
// and tells the index. erased is called under the store lock with the paths of
// the notes that are gone, also when an error is about what is left to do; nil
// does nothing. f says what was erased, also when there is an error.
func (g *Ingester) Forget(ctx context.Context, id note.ID, erased func(paths []string) error) (f tombstone.Forgotten, err error) {
	err = locked(ctx, g.store, func(w *store.Writer) error {
		var err error
		f, err = tombstone.Forget(w, id)
		if derr := w.Disown(id); err == nil {
			err = derr
		}
		if erased != nil && (len(f.Notes) > 0 || err == nil) {
			err = errors.Join(err, erased(append([]string{string(id) + ".md"}, f.Notes...)))
		}
		return err
	})
	return f, errors.Join(err, g.Reindex(ctx, f.Notes))
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
		err = errors.Join(err, EraseFormer(ctx, g.store, id))
	}
	return err
}

// EraseFormer erases the former forms of a note.
func EraseFormer(ctx context.Context, s *store.Store, id note.ID) error {
	return locked(ctx, s, func(w *store.Writer) error { return w.EraseHistory(id) })
}
