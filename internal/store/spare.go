package store

import (
	"maps"
	"slices"

	"anamnesis/internal/note"
)

// A sparing says which notes came to this machine together with tombstones of
// what they say: by id, the HMACs of those tombstones.
//
// Such a note was written where the tombstone was known, because its owner
// wanted it, or by a machine that did not know. That one carries the tombstone
// out when it hears of it, since the note stood there before, and the deletion
// travels. So whoever gets both at once leaves the note alone; otherwise every
// machine that joins would erase what the others keep.
type sparing map[note.ID][]string

// An arrival is a note that is about to be written because it came from elsewhere.
type arrival struct {
	path string // relative to the root
	data []byte
}

// arriving returns the tombstones among g that this machine has not carried out.
func (s *Store) arriving(g graves) graves {
	done := s.obeyed().Stones
	return g.only(func(t Tombstone) bool { return done[t.ID] != t.HMAC })
}

// spares adds to the sparing what an arrival says in spite of a tombstone. A note
// that says so on this machine already, or once did, did not come with it.
func (s *Store) spares(all sparing, fresh graves, a arrival) {
	stones := fresh.of(scopeOf(a.path))
	if len(stones) == 0 {
		return
	}
	n, err := note.Parse(a.data)
	if err != nil {
		return
	}
	said := n.Saying()
	for _, t := range stones {
		if t.ID != n.ID && t.exactly(&said) && !slices.Contains(all[n.ID], t.HMAC) && !s.knew(n.ID, &t) {
			all[n.ID] = append(all[n.ID], t.HMAC)
		}
	}
}

// knew reports whether a note says here, or once did, what was forgotten with t.
func (s *Store) knew(id note.ID, t *Tombstone) bool {
	says := func(n *note.Note, err error) bool {
		if err != nil {
			return false
		}
		said := n.Saying()
		return t.fits(&said)
	}
	for ref := range s.Walk() {
		if stemID(ref.Path) != id {
			continue
		}
		if n, _, _, err := s.Read(ref.Path); says(n, err) {
			return true
		}
	}
	revs, _ := s.History(id) // one that cannot be read tells nothing
	return slices.ContainsFunc(revs, func(r Revision) bool { return says(s.form(id, r)) })
}

// spare remembers a sparing until Obey has carried the tombstones out. It comes
// before the notes are written.
func (s *Store) spare(more sparing) error {
	if len(more) == 0 {
		return nil
	}
	o := s.obeyed()
	if o.Spared == nil {
		o.Spared = make(sparing)
	}
	maps.Copy(o.Spared, more)
	return s.writeObeyed(o)
}

// tombstonesWith returns the tombstones of memory/ in force when changes are made.
func (s *Store) tombstonesWith(changes []Change) ([]Tombstone, error) {
	own, err := s.tombstonesOf(note.Portable)
	if err != nil {
		return nil, err
	}
	byID := newForgotten(own).byID
	for _, c := range changes {
		if kind, _ := classify(c.Path); kind == tombstoneFile && c.New != nil {
			if t, ok := readTombstone(c.New); ok {
				byID[t.ID] = t
			}
		}
	}
	return inForce(slices.Collect(maps.Values(byID))), nil
}

// spare notes which of the changes come together with a tombstone of what they
// say, or before one that is here has been carried out.
func (a *adoption) spare(changes []Change) error {
	stones, err := a.stones()
	if err != nil || len(stones) == 0 {
		return err
	}
	fresh := a.store.arriving(graves{portable: stones})
	if len(fresh.portable) == 0 {
		return nil
	}
	all := make(sparing)
	for _, c := range changes {
		if kind, _ := classify(c.Path); kind == noteFile && c.New != nil {
			a.store.spares(all, fresh, arrival{"memory/" + c.Path, c.New})
		}
	}
	return a.store.spare(all)
}
