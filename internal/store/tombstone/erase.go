package tombstone

import (
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// An Erasure is everything that tombstones name.
type Erasure struct {
	store     *store.Store
	set       Set
	notes     []erased
	ids       map[note.ID]bool // notes whose traces go: history, conflicts, what waits to be tried again
	held      []string         // paths of drafts
	conflicts []store.Conflict
}

// An erased note is one that goes, or is withheld.
type erased struct {
	ref     store.Ref
	data    []byte
	verdict Verdict
}

// PlanErasure looks for what the tombstones name. Notes that came together with a
// tombstone of their statement are exempt from it.
func PlanErasure(s *store.Store, g Set, exempt Exemptions) (e Erasure, err error) {
	e = Erasure{store: s, set: g, ids: make(map[note.ID]bool)}
	for _, t := range g.portable {
		e.ids[t.ID] = true
	}
	own := make(map[note.ID]bool) // ids that only a tombstone of local/ names
	for _, t := range g.local {
		if !e.ids[t.ID] {
			own[t.ID] = true
		}
	}
	for ref := range s.Walk() {
		data, err := s.ReadFile(ref.Path, store.MaxNoteSize)
		if err != nil {
			continue // whoever needs the file reports it
		}
		stones := g.For(ref.Scope)
		id, v := Judge(stones, ref.Path, data)
		if v == Erase && len(exempt[id]) > 0 {
			id, v = Judge(slices.DeleteFunc(slices.Clone(stones), func(t Tombstone) bool {
				return slices.Contains(exempt[id], t.HMAC)
			}), ref.Path, data)
		}
		switch {
		case v == Erase || v == Withhold && ref.Scope == note.Portable:
			e.ids[id] = true
			e.notes = append(e.notes, erased{ref, data, v})
		case ref.Scope == note.Portable:
			delete(own, id) // the history is that of a note which stays
		}
	}
	for id := range own {
		e.ids[id] = true
	}
	// A folder that cannot be read is none: whoever needs it reports it.
	_ = s.ReadFolder(layout.Drafts, layout.NoteSuffix, store.MaxNoteSize, func(name string, data []byte) {
		if id, v := g.judgeDraft(name, data); v != Stays || e.ids[id] {
			e.held = append(e.held, layout.Drafts+"/"+name)
		}
	})
	conflicts, err := s.Conflicts().List()
	for _, c := range conflicts {
		if e.ids[c.NoteID] && c.Why != store.WhyForgotten || saysForgotten(s, c, g) {
			e.conflicts = append(e.conflicts, c)
		}
	}
	return e, err
}

// saysForgotten reports whether the loser of a conflict says what was forgotten.
func saysForgotten(s *store.Store, c store.Conflict, g Set) bool {
	data, err := s.Conflicts().Loser(c)
	if err != nil {
		return false
	}
	_, v := Judge(g.portable, c.Path, data)
	return v == Erase
}

// By returns what one tombstone of a tree, among all that e was planned for, takes
// of it, as paths relative to the root.
func (e Erasure) By(t Tombstone, all Set, scope note.Scope) (paths []string) {
	one := all.Only(func(other Tombstone) bool { return other.ID == t.ID && other.HMAC == t.HMAC })
	if scope == note.Local {
		one.portable = nil
	}
	for _, n := range e.notes {
		if _, v := Judge(one.For(n.ref.Scope), n.ref.Path, n.data); v == Erase || v == Withhold && n.ref.Scope == note.Portable {
			paths = append(paths, n.ref.Path)
		}
	}
	for _, path := range e.held {
		if data, err := e.store.ReadFile(path, store.MaxNoteSize); err == nil {
			if _, v := one.judgeDraft(path, data); v != Stays {
				paths = append(paths, path)
			}
		}
	}
	for _, c := range e.conflicts {
		if c.NoteID == t.ID || saysForgotten(e.store, c, one) {
			paths = append(paths, layout.ConflictOf(c.ID, layout.NoteSuffix))
		}
	}
	if revs, err := e.store.History(t.ID); e.ids[t.ID] && (err != nil || len(revs) > 0) {
		paths = append(paths, layout.HistoryOf(t.ID))
	}
	return paths
}

// An Erased note is one that goes, or is withheld.
type Erased struct {
	Path string // relative to the root
	Data []byte
}

// Notes returns the notes that the plan takes.
func (e Erasure) Notes() (all []Erased) {
	for _, n := range e.notes {
		all = append(all, Erased{n.ref.Path, n.data})
	}
	return all
}

// apply removes everything that the plan names, the note files last: a run that
// is repeated finds by them what belongs to them. It returns their paths.
func (e Erasure) apply(w *store.Writer) (paths []string, err error) {
	for _, n := range e.notes {
		if n.verdict == Withhold {
			if _, _, err := w.AddConflict(strings.TrimPrefix(n.ref.Path, layout.Memory+"/"), nil, n.data); err != nil {
				return nil, err
			}
		}
	}
	for id := range e.ids {
		if err := w.EraseHistory(id); err != nil {
			return nil, err
		}
		for _, folder := range []string{layout.Summaries, layout.Readings} {
			if err := e.store.Spool().RemoveJobs(folder, id, ""); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range e.held {
		if err := store.Erase(w, path); err != nil {
			return nil, err
		}
	}
	err = store.EraseDecided(w, func(id note.ID, data []byte) bool {
		_, v := e.set.judgeDraft("", data)
		return v != Stays || e.ids[id]
	})
	if err != nil {
		return nil, err
	}
	for _, c := range e.conflicts {
		if err := w.DropConflict(c); err != nil {
			return nil, err
		}
	}
	for _, n := range e.notes {
		for _, name := range []string{layout.SidecarOf(n.ref.Path), n.ref.Path} {
			if err := store.Erase(w, name); err != nil {
				return paths, err
			}
		}
		paths = append(paths, n.ref.Path)
	}
	return paths, nil
}

// Apply carries out the tombstones that are new to this machine, as after a sync:
// of each note that was forgotten it erases the file, the sidecar, the history,
// held drafts and conflicts, and so of every other note that says exactly the
// same, in the tree that the tombstone is for. A note that came to this machine
// together with the tombstone is left alone (Exemptions). Near-copies stay. A
// note of that id that says something else by now was changed by somebody who did
// not know: it goes to conflicts/ and not away. A conflict in which a tombstone
// took part waits on.
//
// It returns the paths of the notes that are gone, relative to the root. When it
// stops half way, the next call begins again; without new tombstones it reads
// those only.
func Apply(w *store.Writer) (paths []string, err error) {
	s := w.Store()
	all, err := Load(s)
	if err != nil {
		return nil, err
	}
	pending := all.Pending(s)
	if pending.Empty() {
		return nil, nil
	}
	e, err := PlanErasure(s, pending, readApplied(s).Exempt)
	if err == nil {
		paths, err = e.apply(w)
	}
	if err != nil {
		return paths, fmt.Errorf("carry out tombstones: %w", err)
	}
	stones := make(map[note.ID]string, len(all.local))
	for _, t := range all.local {
		stones[t.ID] = t.HMAC
	}
	err = applied{Stones: stones, Exempt: readApplied(s).Exempt.of(all.local)}.write(s)
	if err == nil {
		_ = w.EraseLeftovers() // a file that cannot be removed holds up no sync; the doctor names it
	}
	return paths, err
}
