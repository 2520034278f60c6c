package tombstone

import (
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// A Door knows which notes of the tree were forgotten and stand there again, as
// when a file comes back from a backup. It knows the tombstones that this machine
// has applied: what others name is still to be erased. It knows those that are forgotten and
// not erased yet, too (Mark). It reads them again when they changed, and is safe for concurrent use.
type Door struct {
	store *store.Store

	mu     sync.Mutex
	seen   [4]time.Time
	read   time.Time
	set    Set
	exempt Exemptions
	marks  []Mark
}

// NewDoor returns the door of a store. It reads nothing yet.
func NewDoor(s *store.Store) *Door { return &Door{store: s} }

// fresh is how much younger than the last reading a folder must be to be trusted by
// its time alone.
const fresh = 2 * time.Second

// load returns the tombstones that this machine has applied, and the marks.
func (d *Door) load() (Set, Exemptions, []Mark) {
	var now [4]time.Time
	for i, name := range []string{
		path.Join(layout.Memory, layout.Tombstones), path.Join(layout.Local, layout.Tombstones), appliedFile, marksFile,
	} {
		if fi, err := os.Stat(d.store.Path(name)); err == nil {
			now[i] = fi.ModTime()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	racy := slices.ContainsFunc(now[:], func(t time.Time) bool { return t.After(d.read.Add(-fresh)) })
	if d.read.IsZero() || racy || now != d.seen {
		d.read, d.seen = time.Now(), now
		all, err := Load(d.store)
		if err != nil {
			all = Set{} // who reads tombstones to change something reports it
		}
		o := readApplied(d.store)
		d.set = all.Only(func(t Tombstone) bool { return o.Stones[t.ID] == t.HMAC })
		d.exempt = o.Exempt
		d.marks, _ = Marks(d.store)
	}
	return d.set, d.exempt, d.marks
}

// Marked returns the mark of a note that is forgotten and not erased yet: of its id, or of exactly what it says.
func (d *Door) Marked(scope note.Scope, n *note.Note) (m Mark, ok bool) {
	_, _, marks := d.load()
	if len(marks) == 0 {
		return m, false
	}
	said := n.Fingerprint()
	for _, m := range marks {
		if m.ID == n.ID || (m.Scope == note.Portable || scope == note.Local) && m.Stone.exactly(&said) {
			return m, true
		}
	}
	return m, false
}

// Forgotten returns the tombstone of a note that was forgotten: the one of its id, or
// of exactly what it says. A note that came here together with it is none (Exemptions).
func (d *Door) Forgotten(scope note.Scope, n *note.Note) (t Tombstone, ok bool) {
	if m, ok := d.Marked(scope, n); ok {
		return m.Stone, true
	}
	set, exempt, _ := d.load()
	stones := set.For(scope)
	if len(stones) == 0 {
		return t, false
	}
	said := n.Fingerprint()
	for _, t := range stones {
		if t.ID == n.ID || t.exactly(&said) && !slices.Contains(exempt[n.ID], t.HMAC) {
			return t, true
		}
	}
	return t, false
}

// Day is the day on which a tombstone was written.
func (t Tombstone) Day() string { return t.At[:min(len(t.At), len("2006-01-02"))] }
