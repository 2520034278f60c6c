package app

import (
	"context"
	"fmt"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store/tombstone"
)

// MinPrefix is how many characters of an id name a note.
const MinPrefix = 4

// Resolve finds the note that an id, or the beginning or end of one, names. The
// error is of kind Usage for what is no id or names several notes, NotFound when
// there is none.
func Resolve(ctx context.Context, r *Rooms, name string) (index.Row, error) {
	id, err := note.ParseID(strings.TrimSpace(name))
	if err != nil {
		return index.Row{}, Usagef("%w", err)
	}
	row, ok, err := r.Index.Lookup(ctx, id)
	if err != nil || ok {
		return row, err
	}
	var found []index.Row
	if len(name) >= MinPrefix {
		if found, err = r.Index.Select(ctx, index.Filter{Dead: true, Part: string(id)}, 0); err != nil {
			return row, err
		}
	}
	switch len(found) {
	case 0:
		if catchUp(ctx, r) {
			return Resolve(ctx, r, name)
		}
		return row, &Error{Kind: NotFound, Err: elsewhere(ctx, r, id, noNote(r, name))}
	case 1:
		return found[0], nil
	}
	short := ShortIDs(ctx, r)
	var lines strings.Builder
	for _, f := range found[:min(len(found), 5)] {
		fmt.Fprintf(&lines, "\n  %s  %s", short(f.ID), note.Line(f.Title, 70))
	}
	if len(found) > 5 {
		lines.WriteString("\n  …")
	}
	return row, Usagef("%s names %s; give one of these:%s", note.Printable(name), Plural(len(found), "note"), lines.String())
}

// ContentOf finds the note that name names, and reads it.
func ContentOf(ctx context.Context, r *Rooms, name string) (index.Row, index.Content, error) {
	row, err := Resolve(ctx, r, name)
	if err != nil {
		return row, index.Content{}, err
	}
	c := r.Index.Content(ctx, row)
	return row, c, c.Err
}

// noNote says that a note is not there, and what is known of it.
func noNote(r *Rooms, name string) error {
	if len(name) < MinPrefix {
		return fmt.Errorf("there is no note %s; give at least %d characters of an id, `anamnesis list` names them", note.Printable(name),
			MinPrefix)
	}
	if m, ok, err := markNamed(r, strings.TrimSpace(name)); ok && err == nil {
		return fmt.Errorf("the note %s is forgotten; `anamnesis forget --undo %s` brings it back until %s", m.ID, m.ID, m.Clock())
	}
	stones, _ := tombstone.For(r.Store, note.Local)
	for _, t := range stones {
		if string(t.ID) == strings.TrimSpace(name) {
			day, _, _ := strings.Cut(t.At, "T")
			return fmt.Errorf("the note %s was forgotten on %s", t.ID, day)
		}
	}
	return fmt.Errorf("there is no note %s; `anamnesis list` names them", note.Printable(name))
}

// FindNamed finds the notes that names name, or those that an import made. It fails
// at the first name that is none.
func FindNamed(ctx context.Context, r *Rooms, names []string, imported string) (rows []index.Row, err error) {
	if imported != "" {
		ids, err := NewImporter(r, "").Batch(note.ID(imported))
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			return nil, Errorf(NotFound, "the import %s made no notes, or there was none of that name", note.Printable(imported))
		}
		for _, id := range ids {
			if row, ok, err := r.Index.Lookup(ctx, id); err != nil {
				return nil, err
			} else if ok {
				rows = append(rows, row)
			}
		}
		return rows, nil
	}
	for _, name := range names {
		row, err := Resolve(ctx, r, name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
