package tombstone

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// Forgotten says what forgetting a note erases, or has erased.
type Forgotten struct {
	ID        note.ID
	Title     string
	Notes     []string  // files of the note and of those that say exactly the same, relative to the root
	Others    []Other   // those of them with another title, or of another project
	Sidecars  int       // files of entities beside them
	History   int       // former forms of all of them
	Held      []note.ID // drafts that wait and say the same
	Conflicts []note.ID
	Tombstone string // relative to the root
}

// An Other is a note that says the same as one that is forgotten.
type Other struct{ Path, Title, Project string }

// Forget is ForgetAll for one note.
func Forget(w *store.Writer, id note.ID) (Forgotten, error) {
	all, err := ForgetAll(w, id)
	if len(all) == 0 {
		return Forgotten{ID: id}, err
	}
	return all[0], err
}

// ForgetAll erases notes and all that this machine keeps of them: the files, every
// note that says exactly the same, sidecars, history, held drafts, conflicts. A
// tombstone of each stays, which is on the disk before anything goes. What git remembers
// is not erased. The index has to drop the Notes and the Tombstone of each, also when
// there is an error: it may be about the last step alone, which removes what
// killed writes left.
func ForgetAll(w *store.Writer, ids ...note.ID) (all []Forgotten, err error) {
	s := w.Store()
	planned, err := plan(s, ids, readAll(s))
	if err != nil {
		return nil, err
	}
	var portable, local []Tombstone
	for i := range planned {
		p := &planned[i]
		all = append(all, p.Forgotten)
		scope := store.ScopeOf(p.Tombstone)
		if err := Write(w, scope, p.stone); err != nil {
			return all, err
		}
		if scope == note.Local {
			local = append(local, p.stone)
		} else {
			portable = append(portable, p.stone)
		}
	}
	e, err := PlanErasure(s, NewSet(portable, local), nil)
	if err == nil {
		_, err = e.apply(w)
	}
	if err != nil {
		return all, fmt.Errorf("forget %s: %w", planned[0].ID, err)
	}
	done := readApplied(s)
	if done.Stones == nil {
		done.Stones = make(map[note.ID]string)
	}
	for i := range planned {
		done.Stones[planned[i].ID] = planned[i].stone.HMAC
	}
	if err := done.write(s); err != nil {
		return all, err
	}
	return all, w.EraseLeftovers()
}

// A planned note is one that is about to be forgotten.
type planned struct {
	Forgotten
	stone Tombstone
	now   *note.Note // its newest form
	said  note.Fingerprint
	ids   map[note.ID]bool // of all notes that go with it
	scope note.Scope
}

// plan says what forgetting some notes erases of files.
func plan(s *store.Store, ids []note.ID, files iter.Seq2[store.Ref, *file]) ([]planned, error) {
	all := make([]planned, 0, len(ids))
	for _, id := range ids {
		n, err := s.LatestRevision(id)
		if err != nil {
			return nil, fmt.Errorf("forget note %s: %w", id, err)
		}
		all = append(all, planned{
			Forgotten: Forgotten{ID: id, Title: n.Title}, stone: New(id, n.Statement(), s.Now()), now: n, said: n.Fingerprint(),
			ids: map[note.ID]bool{id: true}, scope: note.Local,
		})
	}
	for ref, o := range files {
		for i := range all {
			all[i].take(s, ref, o)
		}
	}
	for i := range all {
		if err := all[i].finish(s); err != nil {
			return nil, fmt.Errorf("forget note %s: %w", all[i].ID, err)
		}
	}
	return all, nil
}

// take adds a file to what goes, when it does.
func (p *planned) take(s *store.Store, ref store.Ref, o *file) {
	if o.judge([]Tombstone{p.stone}) == Stays {
		if o.note != nil {
			p.stone.spare(&o.said)
		}
		return
	}
	p.ids[o.id] = true
	p.Notes = append(p.Notes, ref.Path)
	if o.note != nil && (o.note.Title != p.now.Title || o.note.Project != p.now.Project) {
		p.Others = append(p.Others, Other{ref.Path, o.note.Title, o.note.Project})
	}
	if s.Has(layout.SidecarOf(ref.Path)) {
		p.Sidecars++
	}
	if ref.Scope == note.Portable {
		p.scope = note.Portable
	}
}

// finish names the tombstone, gives it its time, and counts what else goes.
func (p *planned) finish(s *store.Store) (err error) {
	if len(p.Notes) == 0 {
		p.scope = p.now.Scope
	}
	p.Tombstone = Path(p.scope, p.ID)
	if data, err := s.ReadFile(p.Tombstone, MaxSize); err == nil {
		if old, ok := Parse(data); ok {
			p.stone.At = after(old.At, s.Now())
		}
	}
	if p.stone.At, err = afterRevocations(s, p.stone.At, &p.said); err != nil {
		return err
	}
	return p.traces(s, setOf(p.stone, p.scope), p.ids)
}

// readAll reads the notes of a store.
func readAll(s *store.Store) iter.Seq2[store.Ref, *file] {
	return func(yield func(store.Ref, *file) bool) {
		readFiles(s, slices.Collect(s.Walk()))(yield)
	}
}

// readFiles reads files, some at once; they come in their order. What cannot be read is left out.
func readFiles(s *store.Store, refs []store.Ref) iter.Seq2[store.Ref, *file] {
	const atOnce = 256 // files in memory
	return func(yield func(store.Ref, *file) bool) {
		for part := range slices.Chunk(refs, atOnce) {
			read := make([]*file, len(part))
			var next atomic.Int64
			var all sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				all.Go(func() {
					for i := int(next.Add(1)) - 1; i < len(part); i = int(next.Add(1)) - 1 {
						if data, err := s.ReadFile(part[i].Path, store.MaxNoteSize); err == nil {
							f := readFile(part[i].Path, data)
							read[i] = &f
						}
					}
				})
			}
			all.Wait()
			for i, f := range read {
				if f != nil && !yield(part[i], f) {
					return
				}
			}
		}
	}
}

// traces counts what else there is of some notes.
func (f *Forgotten) traces(s *store.Store, g Set, ids map[note.ID]bool) error {
	for id := range ids {
		revs, err := s.History(id)
		if err != nil {
			return err
		}
		f.History += len(revs)
	}
	for _, draft := range s.Spool().Held() {
		if _, v := g.judgeDraft("", draft.Format()); v != Stays || ids[draft.ID] {
			f.Held = append(f.Held, draft.ID)
		}
	}
	conflicts, err := s.Conflicts().List()
	for _, c := range conflicts {
		if ids[c.NoteID] && c.Why != store.WhyForgotten {
			f.Conflicts = append(f.Conflicts, c.ID)
		}
	}
	return err
}
