package reflection

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// maxSources is how many notes one prompt holds at most. Each note that comes of
// it names them all.
const maxSources = 200

// sessions lists the sessions of a project, or of all of them for "", that wait
// to be distilled, oldest first. Only what travels is distilled, because what
// comes of it travels; and only what is alive: what was archived, has expired
// or was superseded is not taught again by another note.
func (r *Reflector) sessions(ctx context.Context, project string) ([]index.Row, error) {
	f := index.Filter{Types: []note.Type{note.Episodic}, Scope: note.Portable, WithoutTag: tagReflected, Now: r.Store.Now()}
	if project != "" {
		f.Projects = []string{project}
	}
	rows, err := r.index.Select(ctx, f, 0)
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	rows = slices.DeleteFunc(rows, func(w index.Row) bool { return w.Kind != "" })
	slices.Reverse(rows) // Select answers newest first
	return rows, nil
}

// distillable reports of a file what sessions asks of the index.
func (r *Reflector) distillable(n *note.Note, project string) bool {
	return n.Type == note.Episodic && n.Scope == note.Portable && n.Kind == "" && n.Project == project &&
		!n.HasTag(tagReflected) && n.Live(r.Store.Now())
}

// A packed prompt is the text of notes and the notes that stand in it.
type packed struct {
	text  string
	notes []*note.Note
	left  int // notes that had no room
}

// pack renders notes one after the other, as many as there is room for. A note
// goes in whole or waits for the next run, because whatever goes in counts as
// read; only one that is alone longer than the window is cut.
func (r *Reflector) pack(notes []*note.Note, heading func(*note.Note) string) packed {
	var p packed
	var b strings.Builder
	for i, n := range notes {
		part := heading(n) + "\n" + n.Body
		if i > 0 && (i >= maxSources || b.Len()+len(part)+2 > r.Room()) {
			p.left = len(notes) - i
			break
		}
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(part)
		p.notes = append(p.notes, n)
	}
	p.text = b.String()
	return p
}

// standing reads the notes of a filter that stand, those that keep takes, newest first; most is as
// for index.Select. The index leaves out what does not stand, and the file has the last word.
func (r *Reflector) standing(ctx context.Context, f index.Filter, most int, keep func(*note.Note) bool) ([]*note.Note, error) {
	f.Now = r.Store.Now()
	rows, err := r.index.Select(ctx, f, most)
	if err != nil {
		return nil, fmt.Errorf("list the notes: %w", err)
	}
	return r.read(rows, func(n *note.Note) bool { return n.Live(f.Now) && keep(n) }), nil
}

// read reads the files of rows: they are the truth, the index may be behind.
// What cannot be read is left out; the index names it elsewhere.
func (r *Reflector) read(rows []index.Row, keep func(*note.Note) bool) []*note.Note {
	var notes []*note.Note
	for _, row := range rows {
		if n, _, _, err := r.Store.Read(row.Ref.Path); err == nil && n.ID == row.ID && keep(n) {
			notes = append(notes, n)
		}
	}
	return notes
}
