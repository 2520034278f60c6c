package store

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/note"
)

// A Bundle is everything of a store that cannot be rebuilt, in one tar file:
// notes of both trees with their sidecars, tombstones and aliases, history,
// conflicts, held drafts, the event log, corpora, eval sets, redaction rules.
// What is derived (the index), waits (the spool), belongs to git or holds
// credentials (config.json) is not in it.
//
// The first member is manifest.json. The others stand in the order of their
// names, with no times and no owners: two bundles of the same store are equal,
// byte for byte.

const (
	bundleKind    = "anamnesis-export"
	bundleVersion = 1
	manifestName  = "manifest.json"

	maxMember   = 256 << 20 // bytes of one file
	maxManifest = 64 << 20
)

// bundled are the folders below the root that belong into a bundle, and
// bundledFiles the files.
var (
	bundled      = []string{"conflicts", "corpora", "eval", "events", "history", "local", "memory", "spool/held"}
	bundledFiles = []string{"allowed.json", "imports.json", "redact.toml"}
)

// A Member is a file in a bundle.
type Member struct {
	Path   string `json:"path"` // relative to the store's root, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// A Manifest says what is in a bundle.
type Manifest struct {
	Version int      `json:"format_version"`
	Kind    string   `json:"kind"`
	Notes   int      `json:"note_count"`
	Members []Member `json:"members"`
}

// Export writes a bundle of the store. The caller holds the store lock; the
// event log may grow meanwhile, and is written as far as it went at the start.
func (s *Store) Export(w io.Writer) (Manifest, error) {
	m := Manifest{Version: bundleVersion, Kind: bundleKind, Members: []Member{}}
	fail := func(err error) (Manifest, error) { return m, fmt.Errorf("export %s: %w", s.root, err) }
	if stubbed("C5") {
		return m, nil
	}
	for _, top := range slices.Concat(bundled, bundledFiles) {
		if err := s.gather(top, &m); err != nil {
			return fail(err)
		}
	}
	slices.SortFunc(m.Members, func(a, b Member) int { return strings.Compare(a.Path, b.Path) })
	head, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fail(err)
	}
	t := tar.NewWriter(w)
	if err := member(t, manifestName, append(head, '\n')); err != nil {
		return fail(err)
	}
	for _, b := range m.Members {
		data, err := s.bundledFile(b.Path, b.Size)
		if err == nil && digestOf(data) != b.SHA256 {
			err = fmt.Errorf("%s changed while it was written; try again", s.Path(b.Path))
		}
		if err == nil {
			err = member(t, b.Path, data)
		}
		if err != nil {
			return fail(err)
		}
	}
	if err := t.Close(); err != nil {
		return fail(err)
	}
	return m, nil
}

// gather lists the files below a name.
func (s *Store) gather(top string, m *Manifest) error {
	return filepath.WalkDir(s.Path(top), func(full string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), tempPrefix):
			return nil // links are never followed
		}
		rel, err := filepath.Rel(s.root, full)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		fi, err := d.Info()
		if err != nil {
			return err
		}
		data, err := s.bundledFile(name, fi.Size())
		if err != nil {
			return err
		}
		if isNotePath(name) {
			if _, err := note.Parse(data); err == nil {
				m.Notes++
			}
		}
		m.Members = append(m.Members, Member{Path: name, Size: int64(len(data)), SHA256: digestOf(data)})
		return nil
	})
}

// isNotePath reports whether a file of a bundle is a note of one of the trees.
func isNotePath(name string) bool {
	return strings.HasSuffix(name, ".md") && (strings.HasPrefix(name, "memory/") || strings.HasPrefix(name, "local/"))
}

// bundledFile reads the first size bytes of a file.
func (s *Store) bundledFile(name string, size int64) ([]byte, error) {
	if _, err := s.lstat(name); err != nil {
		return nil, err
	}
	if size > maxMember {
		return nil, fmt.Errorf("%s: %w: %d bytes, at most %d", s.Path(name), ErrTooLarge, size, maxMember)
	}
	f, err := os.Open(s.Path(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, size))
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func member(t *tar.Writer, name string, data []byte) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644, Format: tar.FormatPAX}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := t.Write(data)
	return err
}

// ErrPopulated says that a store which a bundle is to fill holds notes already.
var ErrPopulated = errors.New("the store is not empty")

// An Unpacked says what became of a bundle.
type Unpacked struct {
	Manifest  Manifest
	Written   []string // paths relative to the root
	Same      int      // stood there already, byte for byte
	Different []string // stand there with other bytes: what was there stays
	Forgotten []string // notes that were forgotten here, and stay so
}

// Import fills the store from a bundle. The whole bundle is read and checked
// before anything is written: a manifest of a version we know, every member in
// it with its size and hash, no name that leads out of the store or to a file
// that is no part of a bundle. A store that holds notes is refused (ErrPopulated)
// unless merge is set: then what is missing is written and what is there stays.
// With dry nothing is written. The caller holds the store lock, and calls Obey
// and brings the index into step afterwards.
func (s *Store) Import(r io.ReadSeeker, merge, dry bool) (u Unpacked, err error) {
	fail := func(err error) (Unpacked, error) { return u, fmt.Errorf("import a bundle: %w", err) }
	if u.Manifest, err = readBundle(r, nil); err != nil {
		return fail(err)
	}
	if !merge && s.populated() {
		return fail(ErrPopulated)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return fail(err)
	}
	stones, err := s.Tombstones()
	if err != nil {
		return fail(err)
	}
	_, err = readBundle(r, func(name string, data []byte) error {
		there, _, err := s.readRegular(name, maxMember)
		switch {
		case err == nil && bytes.Equal(there, data):
			u.Same++
			return nil
		case err == nil:
			u.Different = append(u.Different, name)
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s: %w", s.Path(name), err)
		case isNotePath(name) && buried(stones, data):
			u.Forgotten = append(u.Forgotten, name)
			return nil
		}
		u.Written = append(u.Written, name)
		if dry {
			return nil
		}
		return s.replace(name, data, true)
	})
	if err != nil {
		return fail(err)
	}
	return u, nil
}

// buried reports whether the bytes of a note say what was forgotten here.
func buried(stones []Tombstone, data []byte) bool {
	if len(stones) == 0 {
		return false
	}
	n, err := note.Parse(data)
	return err == nil && slices.ContainsFunc(stones, func(t Tombstone) bool { return t.ID == n.ID || t.exactly(note.Normalize(n.Statement())) })
}

// populated reports whether there is a note in the store.
func (s *Store) populated() bool {
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
		if digestOf(data) != want.SHA256 {
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
