package bundle

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
)

// ErrPopulated says that a store which a bundle is to fill holds notes already.
var ErrPopulated = errors.New("the store is not empty")

// Options say how a bundle is taken in. The zero value fills an empty store.
type Options struct {
	Merge bool // into a store that holds notes too
	Dry   bool // only say what would be done
	Obey  bool // take tombstones too that erase what stands here
	Mine  bool // a person says that the notes which claim to be theirs are
}

// An Unpacked says what became of a bundle, or would.
type Unpacked struct {
	Manifest  Manifest
	Written   []string  // paths relative to the root
	Same      int       // stood there already, byte for byte
	Different []string  // stand there with other bytes: what was there stays
	Forgotten []string  // notes that were forgotten here, and stay so
	Erasing   []string  // tombstones that erase what stands here; only Options.Obey takes them
	Erases    []string  // what those erase here: notes, drafts, histories and conflicts, relative to the root
	Claimed   int       // notes among Written whose files say that a person wrote them, or found them right
	Foreign   []string  // those of Written that are no files of a store; somebody had put them there
	Refused   []Refusal // members that are never written
}

// A Refusal is a member of a bundle that does not become a file.
type Refusal struct {
	Path, Why string
}

// Import fills the store from a bundle. The whole bundle is read and checked
// before anything is written: a manifest of a version we know, every member in
// it with its size and hash, no name that leads out of the store or to a file
// that is no part of a bundle. Files that are not ours are written only where
// a store may hold some, and never under a name on which git, an agent or this
// program would act (see stand); they and those that are refused are named. A
// store that holds notes is refused (ErrPopulated) unless o.Merge is set: then what
// is missing is written and what is there stays, so that a tombstone which would
// erase something here is left out unless o.Obey is set. The notes of the bundle
// are exempt from its tombstones: it held both. The caller calls tombstone.Apply
// and brings the index into step afterwards.
func Import(w *store.Writer, r io.ReadSeeker, o Options) (u Unpacked, err error) {
	fail := func(err error) (Unpacked, error) { return u, fmt.Errorf("import a bundle: %w", err) }
	b := unpacking{w: w, s: w.Store(), u: &u, wanted: make(map[string]string)}
	if b.here, err = tombstone.Load(b.s); err != nil {
		return fail(err)
	}
	if u.Manifest, err = readBundle(r, b.weigh); err != nil {
		return fail(err)
	}
	if !o.Merge && populated(b.s) {
		return fail(ErrPopulated)
	}
	if err := b.judge(o.Obey); err != nil || o.Dry {
		return u, err
	}
	if o.Mine { // before the files: a note that is there is the person's at once
		if err := w.Vouch(b.claimed...); err != nil {
			return fail(err)
		}
	}
	if err := b.exempt(r); err != nil {
		return fail(err)
	}
	if err := b.again(r, func(name string, data []byte) error {
		return w.Replace(name, data) // mode 0600, so nothing is a program
	}); err != nil {
		return fail(err)
	}
	return u, nil
}

// An unpacking is one run of Import.
type unpacking struct {
	w               *store.Writer
	s               *store.Store
	u               *Unpacked
	here            tombstone.Set
	wanted          map[string]string     // path to digest
	portable, local []tombstone.Tombstone // those among wanted, the revoked ones too
	claimed         []*note.Note          // of Unpacked.Claimed
}

// again reads the bundle once more, and calls each for every member that is wanted.
func (b *unpacking) again(r io.ReadSeeker, each func(name string, data []byte) error) error {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := readBundle(r, func(name string, data []byte) error {
		sum, ok := b.wanted[name]
		if !ok {
			return nil
		}
		if sum != store.Digest(data) {
			return fmt.Errorf("%q changed while it was read; run the import again", name)
		}
		return each(name, data)
	})
	return err
}

// weigh says what becomes of a member.
func (b *unpacking) weigh(name string, data []byte) error {
	s, u := b.s, b.u
	there, err := s.ReadFile(name, maxMember)
	kind, why := stand(name, data)
	switch {
	case err == nil && bytes.Equal(there, data):
		u.Same++
	case harmlessAttributes(name, data): // the next sync makes that file anyway
	case kind == refused:
		u.Refused = append(u.Refused, Refusal{name, why})
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", s.Path(name), err)
	case err == nil:
		u.Different = append(u.Different, name)
	case b.forgotten(name, data):
		u.Forgotten = append(u.Forgotten, name)
	default:
		if kind == foreign {
			u.Foreign = append(u.Foreign, name)
		}
		u.Written = append(u.Written, name)
		b.wanted[name] = store.Digest(data)
		b.note(name, data)
		b.claim(name, data)
	}
	return nil
}

// claim remembers a note of which its file says that a person vouches for just these words. A bundle is a file that
// anybody can make, so it is believed when a person says so.
func (b *unpacking) claim(name string, data []byte) {
	if layout.Of(name) != layout.Note && layout.Of(name) != layout.Slot {
		return
	}
	if n, err := note.Parse(data); err == nil && note.Attested(n) {
		b.claimed = append(b.claimed, n)
		b.u.Claimed++
	}
}

// forgotten reports whether a member is of a note that was forgotten here: the note, a
// former form of it, its sidecar, a conflict about it, or a draft that says the same.
func (b *unpacking) forgotten(name string, data []byte) bool {
	all := b.here.For(note.Local) // those of memory/ too
	of := func(id note.ID) bool {
		return slices.ContainsFunc(all, func(t tombstone.Tombstone) bool { return t.ID == id })
	}
	switch layout.Of(name) {
	case layout.Note:
		return forgotten(b.here.For(store.ScopeOf(name)), data)
	case layout.Sidecar:
		notePath, _ := layout.NoteOf(name)
		return slices.ContainsFunc(b.here.For(store.ScopeOf(name)), func(t tombstone.Tombstone) bool {
			return t.ID == store.StemID(notePath)
		})
	case layout.History:
		return of(note.ID(path.Base(path.Dir(name)))) || forgotten(all, data)
	case layout.Held:
		return forgotten(all, data)
	case layout.Conflict:
		var c store.Conflict
		if path.Ext(name) == ".json" {
			return json.Unmarshal(data, &c) == nil && c.Why != store.WhyForgotten && of(c.NoteID)
		}
		return forgotten(all, data)
	}
	return layout.IsNotePath(name) && forgotten(b.here.For(store.ScopeOf(name)), data)
}

func forgotten(stones []tombstone.Tombstone, data []byte) bool {
	if len(stones) == 0 {
		return false
	}
	n, err := note.Parse(data)
	return err == nil && tombstone.Says(stones, n)
}

// populated reports whether there is a note in the store.
func populated(s *store.Store) bool {
	for range s.Walk() {
		return true
	}
	return false
}

// readBundle reads a bundle through, checks it against its manifest, and calls
// each for every member.
func readBundle(r io.Reader, each func(name string, data []byte) error) (m Manifest, err error) {
	t := tar.NewReader(r)
	h, err := t.Next()
	if err != nil || h.Name != manifestName || h.Size > maxManifest {
		return m, errors.New("it is no bundle: it does not begin with a manifest")
	}
	if err := json.NewDecoder(io.LimitReader(t, maxManifest)).Decode(&m); err != nil {
		return m, fmt.Errorf("read its manifest: %w", err)
	}
	if m.Kind != bundleKind {
		return m, fmt.Errorf("it is a %q, not a %q", m.Kind, bundleKind)
	}
	if m.Version != bundleVersion {
		return m, fmt.Errorf("it has format version %d, this program reads %d; a newer one may read it", m.Version, bundleVersion)
	}
	for i, want := range m.Members {
		if err := safeMember(want); err != nil {
			return m, err
		}
		if i > 0 && m.Members[i-1].Path >= want.Path {
			return m, fmt.Errorf("its manifest is not in order at %q", want.Path)
		}
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return m, fmt.Errorf("it is cut short: %q is missing", want.Path)
		case err != nil:
			return m, fmt.Errorf("read %q: %w", want.Path, err)
		case h.Name != want.Path || h.Typeflag != tar.TypeReg || h.Size != want.Size:
			return m, fmt.Errorf("%q stands where its manifest says %q of %d bytes", h.Name, want.Path, want.Size)
		}
		data, err := io.ReadAll(t)
		if err != nil {
			return m, fmt.Errorf("read %q: %w", want.Path, err)
		}
		if store.Digest(data) != want.SHA256 {
			return m, fmt.Errorf("%q is not what its manifest says: the file was changed or damaged", want.Path)
		}
		if each != nil {
			if err := each(want.Path, data); err != nil {
				return m, err
			}
		}
	}
	if h, err := t.Next(); err == nil {
		return m, fmt.Errorf("%q is not in its manifest", h.Name)
	} else if !errors.Is(err, io.EOF) {
		return m, err
	}
	return m, nil
}

// safeMember reports what is wrong with the name or size of a member.
func safeMember(m Member) error {
	name := m.Path
	if m.Size < 0 || m.Size > maxMember {
		return fmt.Errorf("%q has %d bytes, at most %d are read", name, m.Size, maxMember)
	}
	if name != path.Clean(name) || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\x00:") {
		return fmt.Errorf("%q is not a name inside a store", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("%q leads into git", name)
		}
		if stem, _, _ := strings.Cut(part, "."); note.DeviceName(stem) {
			return fmt.Errorf("%q is the name of a device on Windows", name)
		}
	}
	if slices.Contains(bundledFiles, name) || slices.ContainsFunc(bundled, func(top string) bool { return strings.HasPrefix(name, top+"/") }) {
		return nil
	}
	return fmt.Errorf("%q is no part of a bundle", name)
}
