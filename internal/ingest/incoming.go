package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
)

// Incoming takes in what other machines changed. It knows no index: whoever
// calls it brings that into step with the paths it returns. Every method that
// writes takes the store lock. It is safe for concurrent use.
type Incoming struct{ store *store.Store }

// NewIncoming returns the Incoming of a store.
func NewIncoming(s *store.Store) *Incoming { return &Incoming{s} }

// AddConflict keeps the loser of a merge at a path relative to memory/; a nil
// winner says that there is none, because the note was forgotten. added is false
// when a conflict of that path holds it already, as after a crash.
func (in *Incoming) AddConflict(ctx context.Context, path string, winner, loser []byte) (c store.Conflict, added bool, err error) {
	err = locked(ctx, in.store, func(w *store.Writer) error {
		c, added, err = w.AddConflict(path, winner, loser)
		return err
	})
	return c, added, err
}

// WouldErase returns the notes that tombstones would erase or withhold if the changes
// were made: those among the changes, and those that this machine has not carried
// out yet.
func (in *Incoming) WouldErase(changes []RemoteChange) ([]tombstone.Erased, error) {
	stones, err := tombstonesWith(in.store, changes)
	if err != nil {
		return nil, err
	}
	local, err := tombstone.Read(in.store, note.Local)
	if err != nil {
		return nil, err
	}
	pending := tombstone.NewSet(stones, local).Pending(in.store)
	if pending.Empty() {
		return nil, nil
	}
	e, err := tombstone.PlanErasure(in.store, pending, tombstone.Exempted(in.store))
	return e.Notes(), err
}

// Finish carries out what came in: the tombstones, and with duplicates also that
// every note has one place (resolveDuplicateIDs). erased is called between the
// two, under the store lock, with the notes that are gone. It returns the paths
// that changed, relative to the root, also when there is an error.
func (in *Incoming) Finish(ctx context.Context, erased func(paths []string) error, duplicates func() bool) (paths []string, err error) {
	err = locked(ctx, in.store, func(w *store.Writer) error {
		if paths, err = tombstone.Apply(w); err == nil {
			err = erased(paths)
		}
		if err == nil && duplicates() {
			var moved []string
			moved, err = resolveDuplicateIDs(w)
			paths = append(paths, moved...)
		}
		return err
	})
	return paths, err
}

// A RemoteChange is a file under memory/ that another machine changed.
type RemoteChange struct {
	Path     string // relative to memory/, with slashes
	Old, New []byte // nil when the file is not there
	Theirs   []byte // what the owner's hub has
	Merged   bool   // New was made of what the hub has and of what is here; else it is what the hub has
}

// Apply brings the files of another machine into memory/. A file that is no
// longer what its change says stays as it is, and its path (as in the change)
// is in changed: look at it again, and merge again. All others are written. A
// path that is not one of ours, or that leads through a symbolic link, is an
// error, and then nothing is.
//
// What a note was before goes to its history first, and the files take their
// places together (store.Writer.ReplaceAll): after a crash a second Apply finds
// those done that are done. The deletion of a tombstone is passed over. Finish
// comes afterwards.
func (in *Incoming) Apply(changes []RemoteChange) (changed []string, err error) {
	if in.store.ReadOnly() {
		return nil, fmt.Errorf("adopt %d files: %w", len(changes), store.Unwritable(in.store))
	}
	err = locked(context.Background(), in.store, func(w *store.Writer) error {
		changed, err = applyRemote(w, changes)
		return err
	})
	return changed, err
}

func applyRemote(w *store.Writer, changes []RemoteChange) (changed []string, err error) {
	a := application{w: w, seen: make(map[string]bool)}
	a.stones = sync.OnceValues(func() ([]tombstone.Tombstone, error) { return tombstonesWith(w.Store(), changes) })
	for _, c := range changes {
		current, err := a.admit(c)
		if err != nil {
			return nil, fmt.Errorf("adopt %s: %w", w.Store().Path(layout.Memory+"/"+c.Path), err)
		}
		if current {
			a.current = append(a.current, c)
		} else {
			changed = append(changed, c.Path)
		}
	}
	if err = a.exempt(changes); err == nil {
		err = a.vouch()
	}
	erase := func() {
		for _, id := range a.gone {
			if err == nil {
				err = w.EraseHistory(id)
			}
		}
	}
	erase() // a run that is killed does it again, as long as the files are not replaced
	if err == nil {
		err = w.ReplaceAll(a.files)
	}
	erase() // what replacing them left
	if err != nil {
		return changed, fmt.Errorf("adopt %d files: %w; run the sync again", len(changes), err)
	}
	return changed, nil
}

// An application is one run of Apply.
type application struct {
	w       *store.Writer
	seen    map[string]bool // paths of the changes
	current []RemoteChange  // whose files are what they say
	files   []store.Replacement
	gone    []note.ID                             // of which no former form stays: what they say, or said, was forgotten
	stones  func() ([]tombstone.Tombstone, error) // of memory/, with those that come
}

// admit checks a change and plans what it asks for. It reports whether the file
// is still what the change says.
func (a *application) admit(c RemoteChange) (current bool, err error) {
	class := layout.InTree(c.Path)
	switch {
	case class == layout.Unknown || !filepath.IsLocal(filepath.FromSlash(c.Path)):
		return false, store.ErrUnknownPath
	case a.seen[c.Path]:
		return false, errors.New("it is named twice")
	case int64(len(c.New)) > store.MaxNoteSize:
		return false, fmt.Errorf("%w: %d bytes, at most %d", store.ErrTooLarge, len(c.New), store.MaxNoteSize)
	}
	a.seen[c.Path] = true
	f := store.Replacement{Path: layout.Memory + "/" + c.Path, Data: c.New}
	present, err := a.w.Store().ReadFile(f.Path, maxPresent)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	switch {
	case same(present, c.New), class == layout.Tombstone && c.New == nil:
		return true, nil
	case !same(present, c.Old):
		return false, nil
	}
	if class == layout.Note && present != nil {
		stones, err := a.stones()
		if err != nil {
			return false, err
		}
		// What was forgotten leaves no trace, also where it came back for a while.
		switch id, v := tombstone.Judge(stones, c.Path, present); {
		case formsErased(present, c.New):
			a.gone = append(a.gone, id)
		case v != tombstone.Erase:
			f.Note, f.Former, f.Reason = id, present, store.Merged
			if c.New == nil {
				f.Reason = store.Deleted
			}
		case c.New == nil: // Finish finds no file of it any more
			a.gone = append(a.gone, id)
		}
	}
	a.files = append(a.files, f)
	return true, nil
}

// formsErased reports whether its owner erased the former forms of a note since this machine heard of it last.
func formsErased(present, now []byte) bool {
	n, err := note.Parse(now)
	if err != nil || n.FormsErased == "" {
		return false
	}
	was, err := note.Parse(present)
	return err != nil || was.FormsErased != n.FormsErased
}

// Claim returns the note in a file of memory/ that says that a person vouches for it. On arrival from the
// owner's hub it is the user's word, so a machine must not send one that its own ledger does not have.
func Claim(path string, data []byte) (n *note.Note, ok bool) {
	if layout.InTree(path) != layout.Note || data == nil {
		return nil, false
	}
	n, err := note.Parse(data)
	return n, err == nil && note.Attested(n)
}

// vouch enters in the ledger what the owner's other machines vouch for: the own hub is believed,
// and nothing else. What a merge made of two forms is the user's word if both are; if not, the form of the hub is.
func (a *application) vouch() error {
	hub := make(map[note.ID][]string) // hashes of the words that the hub vouches for
	for _, c := range a.current {
		theirs := c.Theirs
		if !c.Merged {
			theirs = c.New
		}
		if n, ok := Claim(c.Path, theirs); ok {
			hub[n.ID] = append(hub[n.ID], note.Words(n))
		}
	}
	var notes []*note.Note
	var refused []note.ID
	for _, c := range a.current {
		n, ok := Claim(c.Path, c.New)
		switch {
		case !ok:
		case slices.Contains(hub[n.ID], note.Words(n)), len(hub[n.ID]) > 0 && a.trusted(n.ID, c.Old):
			notes = append(notes, n)
		default:
			if n, ok = Claim(c.Path, c.Theirs); ok {
				notes, refused = append(notes, n), append(refused, n.ID)
			}
		}
	}
	if err := a.w.Disown(refused...); err != nil {
		return err
	}
	return a.w.Vouch(notes...)
}

// MarkEdited writes into notes of an earlier program, which have no key Vouched, which words a person vouches for,
// when they say something else now: another program edited them, and no machine may take them for the user's word.
// It returns the paths that changed; paths are relative to memory/, and those that it returns to the root.
func (in *Incoming) MarkEdited(ctx context.Context, paths []string) (changed []string, err error) {
	var edited []*note.Note
	var refs []store.Ref
	for _, path := range paths {
		if layout.InTree(path) != layout.Note {
			continue
		}
		n, _, ref, err := in.store.Read(layout.Memory + "/" + path)
		if err != nil || n.Vouched != "" || n.Trusted || !note.Claims(n) {
			continue // what cannot be read has another reason to wait
		}
		if n.Vouched = store.Authors(in.store, n.ID); n.Vouched != "" {
			edited, refs = append(edited, n), append(refs, ref)
		}
	}
	if len(edited) == 0 || in.store.ReadOnly() {
		return nil, nil
	}
	err = locked(ctx, in.store, func(w *store.Writer) error {
		for i, n := range edited {
			if _, _, err := w.Put(n, refs[i], store.Update); err != nil {
				return err
			}
			changed = append(changed, refs[i].Path)
		}
		return nil
	})
	return changed, err
}

// trusted reports whether the form of a note that is here is the user's word; old is nil when it is elsewhere.
func (a *application) trusted(id note.ID, old []byte) bool {
	if n, err := note.Parse(old); old != nil && err == nil {
		return store.Trusts(a.w.Store(), n)
	}
	n, _, err := store.Get(a.w.Store(), id)
	return err == nil && n.Trusted
}

// maxPresent is the largest file that a change may take the place of, in bytes.
const maxPresent = 1 << 30

// exempt notes which of the changes come together with a tombstone of what they
// say, or before one that is here has been applied.
func (a *application) exempt(changes []RemoteChange) error {
	stones, err := a.stones()
	if err != nil || len(stones) == 0 {
		return err
	}
	pending := tombstone.NewSet(stones, nil).Pending(a.w.Store())
	if pending.Empty() {
		return nil
	}
	all := make(tombstone.Exemptions)
	for _, c := range changes {
		if layout.InTree(c.Path) == layout.Note && c.New != nil {
			all.Add(a.w.Store(), pending, layout.Memory+"/"+c.Path, c.New)
		}
	}
	return all.Save(a.w)
}

// tombstonesWith returns the tombstones of memory/ in force when changes are made.
func tombstonesWith(s *store.Store, changes []RemoteChange) ([]tombstone.Tombstone, error) {
	own, err := tombstone.Read(s, note.Portable)
	if err != nil {
		return nil, err
	}
	byID := tombstone.Latest(own)
	for _, c := range changes {
		if layout.InTree(c.Path) == layout.Tombstone && c.New != nil {
			if t, ok := tombstone.Parse(c.New); ok {
				byID[t.ID] = t
			}
		}
	}
	return tombstone.InForce(slices.Collect(maps.Values(byID))), nil
}
