package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
)

// cameBack says why the index leaves a note out: it was forgotten, and its file is there still, or again.
func cameBack(r *Rooms, ref store.Ref, n *note.Note, _ []byte) string {
	if m, ok := r.door.Marked(ref.Scope, n); ok {
		return index.OnPurpose + markedWhy(m)
	}
	t, ok := r.door.Forgotten(ref.Scope, n)
	if !ok {
		return ""
	}
	return fmt.Sprintf("it was forgotten on %s, and the file is here again; `anamnesis forget --undo %s` brings it back, "+
		"`anamnesis forget %s --apply` erases it", note.Line(t.Day(), 10), n.ID, n.ID)
}

func markedWhy(m tombstone.Mark) string {
	return fmt.Sprintf("it is forgotten, and is erased at %s; `anamnesis forget --undo %s` brings it back", m.Clock(), m.ID)
}

// notYet returns what says until when a note stays behind because it is forgotten and not erased yet, nil when there is none.
func notYet(r *Rooms) func(path string, data []byte) string {
	if marks, err := tombstone.Marks(r.Store); r.door == nil || len(marks) == 0 && err == nil {
		return nil
	}
	return func(path string, data []byte) string {
		if layout.InTree(path) != layout.Note {
			return ""
		}
		n, err := note.Parse(data)
		if err != nil {
			return ""
		}
		if m, ok := r.door.Marked(note.Portable, n); ok {
			return markedWhy(m)
		}
		return ""
	}
}

// returnedWhy says why a file does not travel: it is such a note.
func returnedWhy(r *Rooms, path string, data []byte) string {
	if r.door == nil || layout.InTree(path) != layout.Note {
		return ""
	}
	n, err := note.Parse(data)
	if err != nil {
		return ""
	}
	return cameBack(r, store.Ref{Path: layout.Memory + "/" + path, Scope: note.Portable}, n, nil)
}

// An Unforgotten note is one that is not forgotten any more.
type Unforgotten struct {
	ID    note.ID `json:"id"`
	Title string  `json:"title"`
	Path  string  `json:"path"`
}

// Unforget takes back that a note was forgotten that is not erased yet, or whose file stands in the tree again.
// name is the id, of a note that is not erased yet also the beginning or the end of it, as far as no other has it.
func Unforget(ctx context.Context, r *Rooms, name string) (u Unforgotten, err error) {
	if u, ok, err := bringBack(ctx, r, strings.TrimSpace(name)); ok || err != nil {
		return u, err
	}
	id, err := note.ParseID(strings.TrimSpace(name))
	if err != nil {
		return u, Usagef("%w", err)
	}
	ref, err := r.Store.Find(id)
	if errors.Is(err, fs.ErrNotExist) {
		return u, Errorf(NotFound, "no file of %s is here: what was forgotten is erased; write it again with `anamnesis add --force`", id)
	}
	if err != nil {
		return u, err
	}
	n, err := ingest.Unforget(ctx, r.Store, ref.Path, r.Host.By)
	if err == nil {
		err = Reindex(ctx, r, []string{ref.Path})
	}
	if err != nil {
		return u, err
	}
	return Unforgotten{ID: n.ID, Title: n.Title, Path: r.Store.Path(ref.Path)}, nil
}

// markNamed returns the mark of the note that name names by its id, or the beginning or end of it.
func markNamed(r *Rooms, name string) (found tombstone.Mark, ok bool, err error) {
	marks, err := tombstone.Marks(r.Store)
	name = strings.ToUpper(name)
	for _, m := range marks {
		switch id := strings.ToUpper(string(m.ID)); {
		case id == name:
			return m, true, nil
		case len(name) < MinPrefix || !strings.HasPrefix(id, name) && !strings.HasSuffix(id, name):
		case ok:
			return m, false, Usagef("%s names several notes that are forgotten; give more of the id", note.Printable(name))
		default:
			found, ok = m, true
		}
	}
	return found, ok, err
}

// bringBack takes back that a note was forgotten that is not erased yet.
func bringBack(ctx context.Context, r *Rooms, name string) (u Unforgotten, ok bool, err error) {
	m, ok, err := markNamed(r, name)
	if !ok || err != nil {
		return u, false, err
	}
	marks, err := ingest.BringBack(ctx, r.Ingester, m.ID)
	if err != nil || len(marks) == 0 {
		return u, false, err
	}
	n, ref, err := store.Get(r.Store, m.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist): // only former forms of it were left
		return Unforgotten{ID: m.ID}, true, nil
	case err != nil:
		return u, false, err
	}
	return Unforgotten{ID: n.ID, Title: n.Title, Path: r.Store.Path(ref.Path)}, true, nil
}
