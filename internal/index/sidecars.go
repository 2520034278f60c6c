package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"

	"github.com/oklog/ulid/v2"
)

// A SidecarState is what a look at one file of entities found. Of the kinds of trouble at
// most one of Orphan, Err and Partly is there.
type SidecarState struct {
	Path   string  // relative to the root
	Note   string  // path of its note; of an orphan the file of the note that it belongs to, "" when there is none
	ID     note.ID // of the note that it belongs to; "" when nobody can say
	Orphan bool    // there is no note beside it
	Known  bool    // of an orphan: its note stood on this machine, or stands elsewhere, or was forgotten
	Err    error   // it cannot be read
	Partly int     // lines that say nothing to anybody and are left out
	Tidied note.Tidied
	Clean  []byte // what it would be; nil when it is as it should be, or nothing of it can be read
}

// Wrong reports whether there is anything to mend.
func (s *SidecarState) Wrong() bool {
	return s.Orphan || s.Err != nil || s.Partly > 0 || s.Tidied.Any()
}

// Lossless reports whether mending takes nothing away that a person may want to mend by
// hand: what is united says the same as before, and what cannot be read is left alone. So is
// an orphan of a note that never stood here: another machine may keep the note to itself.
func (s *SidecarState) Lossless() bool {
	return s.Wrong() && s.Err == nil && s.Partly == 0 && (!s.Orphan || s.Known)
}

// SidecarStates looks at every file of entities of a store and returns those that something
// is wrong with, and how many there are. forgotten says that a note was forgotten, nil means
// that none was. It changes nothing. The error is that of ctx: what cannot be read is a result.
func SidecarStates(ctx context.Context, s *store.Store, forgotten func(note.ID) bool) (wrong []SidecarState, all int, err error) {
	err = eachSidecar(ctx, s, func(name string) {
		all++
		if st := LookAtSidecar(s, name, forgotten); st.Wrong() {
			wrong = append(wrong, st)
		}
	})
	return wrong, all, err
}

// eachSidecar calls f with the path of every file of entities of a store.
func eachSidecar(ctx context.Context, s *store.Store, f func(name string)) error {
	_, _, sidecars := store.LookUnseen(s)
	for _, name := range sidecars {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("look at the files of entities: %w", err)
		}
		f(name)
	}
	return nil
}

// LookAtSidecar looks at one file of entities, as SidecarStates does.
func LookAtSidecar(s *store.Store, name string, forgotten func(note.ID) bool) SidecarState {
	if forgotten == nil {
		forgotten = func(note.ID) bool { return false }
	}
	beside, _ := layout.NoteOf(name)
	st := SidecarState{Path: name, Note: beside, ID: store.StemID(beside)}
	data, err := s.ReadFile(name, store.MaxNoteSize)
	var side *note.Sidecar
	var warnings []note.Warning
	if err == nil {
		side, warnings, err = note.ParseSidecar(data)
	}
	// Whatever stands in the note's place, also what cannot be read, is the note.
	if _, lerr := os.Lstat(s.Path(beside)); errors.Is(lerr, fs.ErrNotExist) {
		st.orphan(s, side, forgotten)
		return st
	}
	if n, _, _, nerr := s.Read(beside); nerr == nil {
		st.ID = n.ID
	}
	if err != nil {
		st.Err = err
		return st
	}
	clean, tidied := side.Tidy(entityName(), func(id note.ID) bool {
		_, err := ulid.ParseStrict(string(id)) // a shorter name is a word that may be an id as well
		return err == nil && forgotten(id)
	})
	st.Partly, st.Tidied = len(warnings), tidied
	if st.Wrong() {
		st.Clean = note.FormatSidecar(clean)
	}
	return st
}

// orphan looks for the note of a sidecar that has none beside it.
func (s *SidecarState) orphan(st *store.Store, side *note.Sidecar, forgotten func(note.ID) bool) {
	s.Orphan, s.Note = true, ""
	if s.ID == "" {
		s.ID = documentID(side)
	}
	if s.ID == "" {
		return
	}
	scope := store.ScopeOf(s.Path)
	if ref, err := st.Find(s.ID); err == nil && store.ScopeOf(ref.Path) == scope {
		s.Note = ref.Path
	}
	revs, err := st.History(s.ID)
	s.Known = s.Note != "" || scope == note.Local || forgotten(s.ID) || err == nil && len(revs) > 0
}

func documentID(side *note.Sidecar) note.ID {
	if side == nil {
		return ""
	}
	id, err := note.ParseID(string(side.DocumentID))
	if err != nil {
		return ""
	}
	return id
}

// entityName says by which key the index knows a name, "" for one without words.
func entityName() func(string) string {
	return func(name string) string {
		stem := acquireStemmer()
		defer stem.release()
		k := entityKey(entityWords(strings.ToValidUTF8(name, ""), stem))
		if k == 0 {
			return ""
		}
		return strconv.FormatInt(int64(k), 36)
	}
}

// GraphDrift counts the notes whose entities and edges in the index are not what their
// sidecars say, among those that the index has as they stand on the disk. A reindex mends
// them. refs are the notes to look at. The error is that of the backend, or of ctx.
func (ix *Index) GraphDrift(ctx context.Context, refs iter.Seq[store.Ref]) (looked int, ids []note.ID, err error) {
	sides := make(map[string]bool) // few notes have one
	if err := eachSidecar(ctx, ix.store, func(name string) { sides[name] = true }); err != nil || len(sides) == 0 {
		return 0, nil, err
	}
	known, err := ix.Files(ctx, nil)
	if err != nil {
		return 0, nil, err
	}
	for ref := range refs {
		if !sides[layout.SidecarOf(ref.Path)] {
			continue
		}
		f, ok := known[ref.Path]
		if !ok || f.Problem != "" || f.Size != ref.Size || f.ModTime != ref.ModTime.UnixNano() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return looked, ids, err
		}
		n, _, now, err := ix.store.Read(ref.Path)
		if err != nil || now.Size != ref.Size {
			continue
		}
		side, _, _ := ix.store.ReadSidecar(ref.Path)
		looked++
		same, err := ix.hasGraph(ctx, n, side)
		if err != nil {
			return looked, ids, err
		}
		if !same {
			ids = append(ids, n.ID)
		}
	}
	return looked, ids, nil
}

// hasGraph compares what a note speaks of with what the index has of it.
func (ix *Index) hasGraph(ctx context.Context, n *note.Note, side *note.Sidecar) (bool, error) {
	row, ok, err := ix.Lookup(ctx, n.ID)
	if err != nil || !ok || row.Origin != ix.Origin() {
		return true, err // the copy of another machine is shown
	}
	want := Entry{Note: n}
	stem := acquireStemmer()
	want.addGraph(side, stem)
	stem.release()
	has, err := ix.Entities(ctx, []int64{row.Key})
	if err != nil {
		return false, err
	}
	for _, e := range want.Entities[:want.Declared] {
		if notes, _, err := ix.Mentions(ctx, e, true, Filter{Only: []note.ID{n.ID}, Dead: true, Now: ix.store.Now()}, 1); err != nil ||
			!slices.Contains(notes, row.Key) {
			return false, err
		}
	}
	slices.Sort(want.Entities)
	got := slices.Sorted(slices.Values(has[row.Key]))
	if !slices.Equal(want.Entities, got) {
		return false, nil
	}
	stated, err := ix.Edges(ctx, want.Entities, Filter{Only: []note.ID{n.ID}, Dead: true, Now: ix.store.Now()})
	stated = slices.DeleteFunc(stated, func(e Edge) bool { return e.Note != row.Key })
	return err == nil && slices.Equal(edgeNames(want.Edges), edgeNames(stated)), err
}

// edgeNames says which edges there are, each once, in an order.
func edgeNames(edges []Edge) []Edge {
	var all []Edge
	for _, e := range edges {
		all = append(all, Edge{From: e.From, To: e.To, Relation: e.Relation})
	}
	slices.SortFunc(all, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Relation, b.Relation))
	})
	return slices.Compact(all)
}
