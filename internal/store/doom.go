package store

import (
	"slices"
	"strings"

	"anamnesis/internal/note"
)

// A verdict says what tombstones want of a text.
type verdict int

const (
	inPlace  verdict = iota
	goes             // it says exactly what was forgotten
	withheld         // it is the note that was forgotten, and says something else now
)

// judge returns what the tombstones want of a file, and the id in it.
func judge(stones []Tombstone, name string, data []byte) (note.ID, verdict) {
	n, err := note.Parse(data)
	id := stemID(name)
	var said note.Saying
	if err == nil {
		id, said = n.ID, n.Saying()
	}
	v := inPlace
	for _, t := range stones {
		if err == nil && t.exactly(&said) {
			return id, goes
		}
		if t.ID == id {
			v = withheld
		}
	}
	return id, v
}

// A doom is everything that tombstones name.
type doom struct {
	notes     []doomed
	ids       map[note.ID]bool // notes whose traces go: history, conflicts, what waits to be tried again
	held      []string         // file names of drafts
	conflicts []Conflict
}

// A doomed note is one that goes, or is withheld.
type doomed struct {
	ref     Ref
	data    []byte
	verdict verdict
}

// doom looks for what the tombstones name. Notes that came together with a
// tombstone of their statement are spared by it (see spare).
func (s *Store) doom(g graves, spared sparing) (d doom, err error) {
	d.ids = make(map[note.ID]bool)
	for _, t := range g.portable {
		d.ids[t.ID] = true
	}
	own := make(map[note.ID]bool) // ids that only a tombstone of local/ names
	for _, t := range g.local {
		if !d.ids[t.ID] {
			own[t.ID] = true
		}
	}
	for ref := range s.Walk() {
		data, _, err := s.readRegular(ref.Path, MaxNoteSize)
		if err != nil {
			continue // whoever needs the file reports it
		}
		stones := g.of(ref.Scope)
		id, v := judge(stones, ref.Path, data)
		if v == goes && len(spared[id]) > 0 {
			id, v = judge(slices.DeleteFunc(slices.Clone(stones), func(t Tombstone) bool {
				return slices.Contains(spared[id], t.HMAC)
			}), ref.Path, data)
		}
		switch {
		case v == goes || v == withheld && ref.Scope == note.Portable:
			d.ids[id] = true
			d.notes = append(d.notes, doomed{ref, data, v})
		case ref.Scope == note.Portable:
			delete(own, id) // the history is that of a note which stays
		}
	}
	for id := range own {
		d.ids[id] = true
	}
	for _, name := range s.heldFiles() {
		data, _, err := s.readRegular("spool/held/"+name, MaxNoteSize)
		if err != nil {
			continue
		}
		if id, v := g.judgeDraft(name, data); v != inPlace || d.ids[id] {
			d.held = append(d.held, name)
		}
	}
	conflicts, err := s.Conflicts()
	if err != nil {
		return d, err
	}
	for _, c := range conflicts {
		if d.ids[c.NoteID] && c.Why != WhyForgotten || s.saysForgotten(c, g) {
			d.conflicts = append(d.conflicts, c)
		}
	}
	return d, nil
}

// saysForgotten reports whether the loser of a conflict says what was forgotten.
func (s *Store) saysForgotten(c Conflict, g graves) bool {
	data, err := s.Loser(c)
	if err != nil {
		return false
	}
	_, v := judge(g.portable, c.Path, data)
	return v == goes
}

// erase removes everything that the tombstones name, the note files last: a run
// that is repeated finds by them what belongs to them. What killed writes left
// goes too, since it may hold any of it.
func (s *Store) erase(g graves, spared sparing) (erased []string, err error) {
	d, err := s.doom(g, spared)
	if err != nil {
		return nil, err
	}
	for _, n := range d.notes {
		if n.verdict == withheld {
			if _, _, err := s.AddConflict(strings.TrimPrefix(n.ref.Path, "memory/"), nil, n.data); err != nil {
				return nil, err
			}
		}
	}
	for id := range d.ids {
		if err := s.eraseHistory(id); err != nil {
			return nil, err
		}
		if err := s.DropRetry(id); err != nil {
			return nil, err
		}
	}
	for _, name := range d.held {
		if err := s.remove("spool/held/" + name); err != nil {
			return nil, err
		}
	}
	for _, c := range d.conflicts {
		if err := s.drop(c); err != nil {
			return nil, err
		}
	}
	for _, n := range d.notes {
		for _, name := range []string{sidecarPath(n.ref.Path), n.ref.Path} {
			if err := s.remove(name); err != nil {
				return erased, err
			}
		}
		erased = append(erased, n.ref.Path)
	}
	return erased, nil
}
