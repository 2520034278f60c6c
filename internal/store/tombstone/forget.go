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

// Plan says what Forget would erase, and changes nothing.
func Plan(s *store.Store, id note.ID) (Forgotten, error) {
	f, _, err := plan(s, id)
	return f, err
}

// Forget erases a note and all that this machine keeps of it: the file, every
// note that says exactly the same, sidecars, history, held drafts, conflicts. A
// tombstone stays, which is on the disk before anything goes. What git remembers
// is not erased. The index has to drop f.Notes and f.Tombstone, also when
// there is an error: it may be about the last step alone, which removes what
// killed writes left.
func Forget(w *store.Writer, id note.ID) (f Forgotten, err error) {
	s := w.Store()
	f, stone, err := plan(s, id)
	if err != nil {
		return f, err
	}
	scope := store.ScopeOf(f.Tombstone)
	if err := Write(w, scope, stone); err != nil {
		return f, err
	}
	e, err := PlanErasure(s, setOf(stone, scope), nil)
	if err == nil {
		_, err = e.apply(w)
	}
	if err != nil {
		return f, fmt.Errorf("forget note %s: %w", id, err)
	}
	done := readApplied(s)
	if done.Stones == nil {
		done.Stones = make(map[note.ID]string)
	}
	done.Stones[id] = stone.HMAC
	if err := done.write(s); err != nil {
		return f, err
	}
	return f, w.EraseLeftovers()
}

func plan(s *store.Store, id note.ID) (f Forgotten, stone Tombstone, err error) {
	f.ID = id
	n, err := s.LatestRevision(id)
	if err != nil {
		return f, stone, fmt.Errorf("forget note %s: %w", id, err)
	}
	f.Title = n.Title
	stone = New(id, n.Statement(), s.Now())
	said := n.Fingerprint()
	ids := map[note.ID]bool{id: true}
	scope := note.Local
	for ref, o := range readAll(s) {
		if o.judge([]Tombstone{stone}) == Stays {
			if o.note != nil {
				stone.spare(&o.said)
			}
			continue
		}
		ids[o.id] = true
		f.Notes = append(f.Notes, ref.Path)
		if o.note != nil && (o.note.Title != n.Title || o.note.Project != n.Project) {
			f.Others = append(f.Others, Other{ref.Path, o.note.Title, o.note.Project})
		}
		if s.Has(layout.SidecarOf(ref.Path)) {
			f.Sidecars++
		}
		if ref.Scope == note.Portable {
			scope = note.Portable
		}
	}
	if len(f.Notes) == 0 {
		scope = n.Scope
	}
	f.Tombstone = Path(scope, id)
	if data, err := s.ReadFile(f.Tombstone, MaxSize); err == nil {
		if old, ok := Parse(data); ok {
			stone.At = after(old.At, s.Now())
		}
	}
	if stone.At, err = afterRevocations(s, stone.At, &said); err != nil {
		return f, stone, err
	}
	return f, stone, f.traces(s, setOf(stone, scope), ids)
}

// readAll reads the notes of a store, some at once; they come in the order of the walk.
// What cannot be read is left out.
func readAll(s *store.Store) iter.Seq2[store.Ref, *file] {
	const atOnce = 256 // files in memory
	return func(yield func(store.Ref, *file) bool) {
		for part := range slices.Chunk(slices.Collect(s.Walk()), atOnce) {
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
