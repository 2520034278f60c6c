package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// cameBack says why the index leaves a note out: it was forgotten, and its file came back.
func cameBack(r *Rooms, ref store.Ref, n *note.Note, _ []byte) string {
	t, ok := r.door.Forgotten(ref.Scope, n)
	if !ok {
		return ""
	}
	return fmt.Sprintf("it was forgotten on %s, and the file is here again; `anamnesis forget --undo %s` brings it back, "+
		"`anamnesis forget %s --apply` erases it", note.Line(t.Day(), 10), n.ID, n.ID)
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

// Unforget takes back that a note was forgotten whose file stands in the tree again.
// name is the whole id, or the path of the file.
func Unforget(ctx context.Context, r *Rooms, name string) (u Unforgotten, err error) {
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
