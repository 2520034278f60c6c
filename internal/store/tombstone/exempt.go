package tombstone

import (
	"maps"
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Exemptions say which notes came to this machine together with tombstones of
// what they say: by id, the HMACs of those tombstones.
//
// Such a note was written where the tombstone was known, because its owner
// wanted it, or by a machine that did not know. That one applies the tombstone
// when it hears of it, since the note stood there before, and the deletion
// travels. So whoever gets both at once leaves the note alone; otherwise every
// machine that joins would erase what the others keep.
type Exemptions map[note.ID][]string

// Add exempts a note that is about to be written at path, because it came from
// elsewhere, from the pending tombstones of what it says. A note that says so on
// this machine already, or once did, did not come with them.
func (e Exemptions) Add(s *store.Store, pending Set, path string, data []byte) {
	stones := pending.For(store.ScopeOf(path))
	if len(stones) == 0 {
		return
	}
	n, err := note.Parse(data)
	if err != nil {
		return
	}
	said := n.Fingerprint()
	for _, t := range stones {
		if t.ID != n.ID && t.exactly(&said) && !slices.Contains(e[n.ID], t.HMAC) && !knew(s, n.ID, &t) {
			e[n.ID] = append(e[n.ID], t.HMAC)
		}
	}
}

// of returns the exemptions from some tombstones.
func (e Exemptions) of(stones []Tombstone) Exemptions {
	left := make(Exemptions)
	for id, sums := range e {
		for _, sum := range sums {
			if slices.ContainsFunc(stones, func(t Tombstone) bool { return t.HMAC == sum }) {
				left[id] = append(left[id], sum)
			}
		}
	}
	return left
}

// Exempted returns the exemptions that wait for Apply.
func Exempted(s *store.Store) Exemptions { return readApplied(s).Exempt }

// Save remembers exemptions for Apply, and for the door (Door) as long as there are the
// tombstones. It comes before the notes are written.
func (e Exemptions) Save(w *store.Writer) error {
	if len(e) == 0 {
		return nil
	}
	o := readApplied(w.Store())
	if o.Exempt == nil {
		o.Exempt = make(Exemptions)
	}
	maps.Copy(o.Exempt, e)
	return o.write(w.Store())
}

// knew reports whether a note says here, or once did, what was forgotten with t.
func knew(s *store.Store, id note.ID, t *Tombstone) bool {
	says := func(n *note.Note, err error) bool {
		if err != nil {
			return false
		}
		said := n.Fingerprint()
		return t.fits(&said)
	}
	for ref := range s.Walk() {
		if store.StemID(ref.Path) != id {
			continue
		}
		if n, _, _, err := s.Read(ref.Path); says(n, err) {
			return true
		}
	}
	revs, _ := s.History(id) // one that cannot be read tells nothing
	return slices.ContainsFunc(revs, func(r store.Revision) bool { return says(s.ReadRevision(id, r)) })
}
