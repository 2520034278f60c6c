package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/tombstone"
)

// ErrForgotten says that a note was forgotten and does not come back this way.
var ErrForgotten = errors.New("it was forgotten; what was forgotten does not come back this way")

// Reinstate gives a note the form that stands in data. The present form goes to
// the history, also that of a file which is no note. A note that was deleted comes
// back, one that was forgotten does not (ErrForgotten). A StaleError says that the
// form is written and the index does not know it yet.
func (g *Ingester) Reinstate(ctx context.Context, id note.ID, data []byte) (ref store.Ref, changed bool, err error) {
	var old store.Ref
	err = locked(ctx, g.store, func(w *store.Writer) error {
		old, ref, changed, err = reinstate(w, id, data)
		return err
	})
	if err != nil {
		return store.Ref{}, false, fmt.Errorf("restore note %s: %w", id, err)
	}
	return ref, changed, g.refresh(ctx, []string{old.Path, ref.Path})
}

func reinstate(w *store.Writer, id note.ID, data []byte) (old, ref store.Ref, changed bool, err error) {
	s := w.Store()
	n, err := note.Parse(data)
	if err == nil && n.ID != id {
		err = fmt.Errorf("this form has the id %s", n.ID)
	}
	if err != nil {
		return old, ref, false, err
	}
	if old, err = s.Find(id); err == nil {
		n.Scope = old.Scope
	} else if !errors.Is(err, fs.ErrNotExist) {
		return old, ref, false, err
	}
	stones, err := tombstone.Refusing(s, n.Scope)
	if err == nil && tombstone.Says(stones, n) {
		err = ErrForgotten
	}
	if err != nil {
		return old, ref, false, err
	}
	n.UpdatedAt, n.Edits = note.At(s.Now()), nil
	if err := n.Validate(); err != nil {
		return old, ref, false, err
	}
	if old.Path != "" {
		if _, _, _, err := s.Read(old.Path); err != nil { // Put cannot rewrite what is no note
			if err = w.Overwrite(old, n, store.Restored); err == nil {
				ref, err = s.Stat(old.Path)
			}
			return old, ref, err == nil, err
		}
	}
	ref, changed, err = w.Put(n, old, store.Restored)
	return old, ref, changed, err
}

// A FormerVersion is a form that a note had in another memory, before it came here.
type FormerVersion struct {
	At   time.Time  // when another form took its place there
	Key  string     // what tells it from other forms of that time, always the same, such as a hash
	Form *note.Note // with the id that the note has here
}

// ImportRevisions adds forms from another memory to the history of a note that
// stands here, each under its own time, where they are listed and can be restored.
// It returns how many are new; a second call with the same changes nothing. Of
// more than fifty the newest are taken. A form that was forgotten is passed over;
// one that is no valid form of that note is an error, and then nothing is written.
func (g *Ingester) ImportRevisions(ctx context.Context, id note.ID, all []FormerVersion) (added int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	err = locked(ctx, g.store, func(w *store.Writer) error {
		ref, err := g.store.Find(id)
		if err != nil {
			return err
		}
		stones, err := tombstone.Refusing(g.store, ref.Scope)
		if err != nil {
			return err
		}
		forms, err := g.formsOf(id, all, stones)
		if err == nil {
			added, err = w.ImportForms(id, forms)
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("add former forms to note %s: %w", id, err)
	}
	return added, err
}

// formsOf checks former versions and returns their files, the oldest first.
func (g *Ingester) formsOf(id note.ID, all []FormerVersion, stones []tombstone.Tombstone) (forms []store.ImportedForm, err error) {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b FormerVersion) int { return a.At.Compare(b.At) })
	for _, v := range all[max(0, len(all)-store.MaxImported):] {
		switch {
		case v.Form.ID != id:
			return nil, fmt.Errorf("one has the id %s", v.Form.ID)
		case v.At.After(g.store.Now()) || v.At.Year() < 1970:
			return nil, fmt.Errorf("one is of %s", v.At.Format(time.RFC3339))
		}
		if err := v.Form.Validate(); err != nil {
			return nil, err
		}
		data := v.Form.Format()
		if int64(len(data)) > store.MaxNoteSize {
			return nil, store.ErrTooLarge
		}
		if _, verdict := tombstone.Judge(stones, "", data); verdict == tombstone.Stays {
			forms = append(forms, store.ImportedForm{At: v.At, Key: v.Key, Data: data})
		}
	}
	return forms, nil
}
