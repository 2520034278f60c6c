package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/tombstone"
)

// What taking a decision back does besides UndoRestored and the others.
const (
	UndoRemoved = "removed" // the decision made it of a draft, which waits again; its text stays in the history
	UndoUnknown = "unknown" // a newer program made a change that this one cannot take back
)

// A TakenBack is one thing that a decision changed, and the result of taking that back.
type TakenBack struct {
	Kind   string // store.NoteChange, DraftChange, AliasChange, TrustChange, or one that is not known
	ID     note.ID
	Name   string // of an alias
	Title  string
	Result string
	Path   string // of a note, relative to the root
}

// Left reports whether something stays as it is although the decision changed it.
func (t TakenBack) Left() bool {
	return !slices.Contains([]string{UndoRestored, UndoRemoved, UndoArchived, UndoNothing}, t.Result)
}

// UndoDecision gives everything that a decision changed what it was before, in the reverse order, and
// is a decision itself: the context has its name (store.Undoing). A note or a draft that is not as
// the decision left it was changed since, and stays, with whatever the decision did about its id. The decision is in force
// as far as something stays that a later decision changed: it can be taken back again after that one.
// A StaleError says that all is written and the index does not know it yet.
func UndoDecision(ctx context.Context, g *Ingester, d store.DecisionLog) (all []TakenBack, err error) {
	var paths []string
	err = locked(ctx, g.store, func(w *store.Writer) error {
		log, err := store.Decisions(g.store)
		if err != nil {
			return err
		}
		t := takeBack{w: w, s: g.store, n: d.N, log: log}
		for _, part := range slices.Backward(partsOf(d.Changes)) {
			if err := ctx.Err(); err != nil {
				return err
			}
			done, err := t.part(part)
			if err != nil {
				return fmt.Errorf("take decision %d back: %w", d.N, err)
			}
			all = append(all, done...)
		}
		slices.Reverse(all)
		paths = t.paths
		left := slices.ContainsFunc(all, TakenBack.Left)
		if left && t.wrote {
			left = t.changedLater(d, all)
		}
		if left {
			return nil // it is in force, as far as it is left
		}
		return store.EndUndo(w)
	})
	if len(paths) > 0 {
		if rerr := g.refresh(ctx, paths); err == nil {
			err = rerr
		}
	}
	return all, err
}

// changedLater reports whether a later decision that is in force is about something that stays: when that is taken back, the
// rest of the decision can be. For an undo it is false: what the undo took back is in force again, and can be taken back
// as a whole.
func (t *takeBack) changedLater(d store.DecisionLog, all []TakenBack) bool {
	undoes := make(map[int]int, len(t.log))
	for _, l := range t.log {
		undoes[l.N] = l.Undoes
	}
	isUndo := false // an undo of an undo is none
	for n := d.Undoes; n > 0; n = undoes[n] {
		isUndo = !isUndo
	}
	return !isUndo && slices.ContainsFunc(all, func(b TakenBack) bool { return b.Left() && t.later(b.ID) })
}

// later reports whether a later decision that is in force is about an id.
func (t *takeBack) later(id note.ID) bool {
	return id != "" && slices.ContainsFunc(t.log, func(l store.DecisionLog) bool {
		return l.N > t.n && l.UndoneBy == 0 && l.Undoes == 0 && l.About(id)
	})
}

// A piece is what a decision did to one file or line: its changes, in their order.
type piece []store.Change

// partsOf sorts the changes of a decision by what they are about. The pieces of a part are taken
// back together or not at all.
func partsOf(changes []store.Change) (parts [][]piece) {
	type subject struct{ id, name string }
	at := make(map[subject]int)
	for _, c := range changes {
		about := subject{string(c.ID), c.Name}
		if c.Kind == store.AliasChange || c.Kind == store.TrustChange {
			about = subject{c.To, c.Name}
		}
		i, ok := at[about]
		if !ok {
			i = len(parts)
			at[about], parts = i, append(parts, nil)
		}
		j := slices.IndexFunc(parts[i], func(p piece) bool { return p[0].Kind == c.Kind })
		if j < 0 {
			parts[i] = append(parts[i], piece{c})
		} else {
			parts[i][j] = append(parts[i][j], c)
		}
	}
	return parts
}

// stateAt says which of the states that the decision gave it a piece has: 0 as it was before,
// greater for one of those that it wrote, -1 when it is none of them.
func (p piece) stateAt(now string) int {
	for i := 1; i < len(p) && p[0].Kind == store.NoteChange; i++ {
		if p[i].Former != p[i-1].Now || p[i].From != p[i-1].To {
			return -1 // somebody else changed it between two writes
		}
	}
	if now == p[0].Former {
		return 0
	}
	if i := slices.IndexFunc(p, func(c store.Change) bool { return c.Now == now }); i >= 0 {
		return i + 1
	}
	return -1
}

// A takeBack takes decisions back under the store lock.
type takeBack struct {
	w     *store.Writer
	s     *store.Store
	n     int
	log   []store.DecisionLog
	paths []string // of notes that changed
	wrote bool
}

// A step is what is to be done with one piece.
type step struct {
	TakenBack
	do func() error // nil when there is nothing to do
}

// part takes back what a decision did about one id.
func (t *takeBack) part(pieces []piece) (all []TakenBack, err error) {
	steps := make([]step, len(pieces))
	left := ""
	for i, p := range pieces {
		if steps[i], err = t.look(p); err != nil {
			return nil, err
		}
		if steps[i].Kind == store.NoteChange && steps[i].Result == UndoRemoved && !t.waits(p[0].ID, pieces) {
			t.archive(&steps[i])
		}
		if steps[i].Result == UndoNothing && p[0].Former != p[len(p)-1].Now && t.later(p[0].ID) {
			steps[i].Result = UndoEdited // it is as it was before for what was decided since: taken back then, it is not
		}
		if steps[i].Left() && left == "" {
			left = steps[i].Result
		}
	}
	for _, st := range slices.Backward(steps) {
		if left != "" {
			st.Result = left
		} else if st.do != nil {
			t.wrote = true
			if err := st.do(); err != nil {
				return all, err
			}
		}
		if st.Kind != store.AuthorChange {
			all = append(all, st.TakenBack)
		}
	}
	return all, nil
}

// waits reports whether a draft of an id waits, or will when the pieces are taken back.
func (t *takeBack) waits(id note.ID, pieces []piece) bool {
	return t.s.Has(layout.HeldOf(id)) || slices.ContainsFunc(pieces, func(p piece) bool { return p[0].Kind == store.DraftChange })
}

// archive lets the note that a decision made stay, out of recall: no draft of it waits again, and a
// session that taught it and is read again must not bring it back.
func (t *takeBack) archive(st *step) {
	path := st.Path
	st.Result, st.do = UndoArchived, func() error {
		n, _, ref, err := t.s.Read(path)
		if err != nil {
			return err
		}
		n.Archive(fmt.Sprintf("decision %d was undone", t.n))
		n.Supersedes = nil // an archived note replaces others still
		n.UpdatedAt = note.At(t.s.Now())
		_, _, err = t.w.Put(n, ref, store.Archived)
		t.paths = append(t.paths, path)
		return err
	}
}

// look says what is to be done with a piece, and changes nothing.
func (t *takeBack) look(p piece) (st step, err error) {
	c := p[0]
	st.Kind, st.ID, st.Name = c.Kind, c.ID, c.Name
	switch c.Kind {
	case store.NoteChange:
		return st, t.note(p, &st)
	case store.DraftChange:
		return st, t.draft(p, &st)
	case store.AuthorChange:
		st.settle(p.stateAt(store.Authors(t.s, c.ID)), c.Former, func() error { return store.SetAuthors(t.w, c.ID, c.Former) })
	case store.AliasChange:
		return st, t.alias(p, &st)
	case store.TrustChange:
		return st, t.trust(p, &st)
	default:
		st.Result = UndoUnknown
	}
	return st, nil
}

// settle sets the result of a step by the state of its piece.
func (st *step) settle(at int, former string, do func() error) {
	switch {
	case at < 0:
		st.Result = UndoEdited
	case at == 0:
		st.Result = UndoNothing
	case former == "":
		st.Result, st.do = UndoRemoved, do
	default:
		st.Result, st.do = UndoRestored, do
	}
}

func (t *takeBack) note(p piece, st *step) error {
	first := p[0]
	path, data, err := t.standing(p)
	if err != nil {
		return err
	}
	now := ""
	if data != nil {
		now = store.Digest(data)
		if n, err := note.Parse(data); err == nil {
			st.Title = n.Title
		}
	}
	at := p.stateAt(now)
	if at == 0 && path != first.From {
		at = -1 // it was moved
	}
	if at < 0 && data == nil {
		st.Result = UndoGone
		return nil
	}
	st.Path = path
	st.settle(at, first.Former, func() error {
		return t.w.Reinstate(first.ID, path, first.From, nil)
	})
	if st.Result != UndoRestored {
		t.changed(st, path, first.From)
		return nil
	}
	former, _, err := formerOf(t.s, store.RunLine{Note: first.ID, From: first.From, Former: first.Former})
	if err != nil {
		return err
	}
	if former == nil || t.forgotten(former, store.ScopeOf(first.From)) {
		st.Result, st.do = UndoLost, nil
		return nil
	}
	st.named(former)
	st.Path = first.From
	st.do = func() error { return t.w.Reinstate(first.ID, path, first.From, former) }
	t.changed(st, path, first.From)
	return nil
}

// changed lets the index know of what a step changes.
func (t *takeBack) changed(st *step, paths ...string) {
	do := st.do
	if do == nil {
		return
	}
	st.do = func() error {
		t.paths = append(t.paths, slices.DeleteFunc(paths, func(p string) bool { return p == "" })...)
		return do()
	}
}

// named takes the title from the form that comes back.
func (st *step) named(data []byte) {
	if n, err := note.Parse(data); err == nil {
		st.Title = n.Title
	}
}

// standing finds the file of the note that a piece is about, "" when it is gone.
func (t *takeBack) standing(p piece) (path string, data []byte, err error) {
	places := []string{p[0].From}
	for _, c := range p {
		places = append(places, c.To)
	}
	slices.Reverse(places)
	if ref, err := t.s.Find(p[0].ID); err == nil {
		places = append(places, ref.Path)
	}
	for _, path := range places {
		if path == "" {
			continue
		}
		data, err := t.s.ReadFile(path, store.MaxNoteSize)
		if !errors.Is(err, fs.ErrNotExist) {
			return path, data, err
		}
	}
	return "", nil, nil
}

func (t *takeBack) draft(p piece, st *step) error {
	first := p[0]
	data, err := t.s.ReadFile(layout.HeldOf(first.ID), store.MaxNoteSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now := ""
	if err == nil {
		now = store.Digest(data)
		st.named(data)
	}
	st.settle(p.stateAt(now), first.Former, func() error { return t.w.Release(first.ID) })
	if st.Result != UndoRestored {
		return nil
	}
	text := []byte(first.Text)
	scope := note.Portable
	if n, err := note.Parse(text); err == nil {
		scope, st.Title = n.Scope, n.Title
	}
	if first.Text == "" || t.forgotten(text, scope) {
		st.Result, st.do = UndoLost, nil
		return nil
	}
	st.do = func() error { return t.w.HoldAs(first.ID, text) }
	return nil
}

// forgotten reports whether a former form says what was forgotten since. A tombstone that cannot
// be read hides nothing: whoever needs it reports it.
func (t *takeBack) forgotten(data []byte, scope note.Scope) bool {
	n, err := note.Parse(data)
	if err != nil {
		return false
	}
	stones, err := tombstone.Refusing(t.s, scope)
	return err == nil && tombstone.Says(stones, n)
}

func (t *takeBack) alias(p piece, st *step) error {
	c := p[0]
	all, err := project.Aliases(t.s)
	if err != nil {
		return err
	}
	now := ""
	if slices.Contains(all, project.Alias{From: c.Name, To: c.To}) {
		now = c.To
	}
	change := project.AddAlias
	if c.Former == "" {
		change = project.RemoveAlias
	}
	st.Title = c.Name + " → " + c.To
	st.settle(p.stateAt(now), c.Former, func() error { return change(t.w, c.Name, c.To) })
	return nil
}
