// Package store keeps what cannot be rebuilt, as files: notes, their sidecars and
// history, conflicts, the spool and the append-only event log. docs/format.md is
// normative. Its rooms know what was forgotten (tombstone), which project a folder
// belongs to (project), and how all of it becomes one file (bundle).
//
// Every file that holds knowledge is replaced atomically (temporary file in the
// same folder, fsync, rename, fsync of the folder), and only a Writer does that: it
// holds the store lock. Readers need no lock. Hooks take none and wait for no
// fsync: a spool job is a new file that is renamed into place, an event is one
// append.
//
// Nothing that comes from a file or a name is trusted: ids are validated,
// symbolic links are never followed below the root, and a file that is not a
// note is reported and left alone.
package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// MaxNoteSize is the largest file that is read as a note, in bytes.
const MaxNoteSize = 4 << 20

// Options say where a store is and what it may use.
type Options struct {
	Root string // the store's folder, absolute
	Home string // the user's home folder; markers at it or above are not read
	Disk Disk   // nil means the operating system's
	Now  func() time.Time

	LockTimeout time.Duration // how long a writer waits for the store; 0 means LockTimeout
	Version     string        // of this program, for what the store asks of its writers; "" for a development build
}

// A Store is one folder of notes. It is safe for concurrent use, by several processes too.
type Store struct {
	root       string
	home       string
	version    string
	disk       Disk
	now        func() time.Time
	unwritable error // why it cannot be written; nil when it can
	lock       processLock
	patience   time.Duration

	events    Events
	spool     Spool
	conflicts Conflicts
	ledger    ledger
}

// ErrReadOnly is returned by every write to a store that cannot be written.
var ErrReadOnly = errors.New("the store is read-only")

// Open opens the store at o.Root and makes its folders if they are missing.
// A root that exists and cannot be written opens read-only, and so does a store that asks for a newer
// program (ErrOutdated). One in a form that this program does not know is an error; nothing was written then.
func Open(o Options) (*Store, error) {
	s, err := open(o)
	if err != nil {
		return nil, err
	}
	err = s.checkFormat()
	if errors.Is(err, ErrOutdated) {
		s.unwritable, err = &outdated{err}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", s.root, err)
	}
	if s.unwritable != nil {
		return s, nil //nolint:nilerr // every write returns it
	}
	if _, err := s.lstat(layout.Memory); errors.Is(err, fs.ErrNotExist) {
		_ = s.startLedger() // else the first write begins it, and believes what it finds
	}
	for _, dir := range []string{s.Path(layout.Memory), s.Path(layout.Local)} {
		if s.disk.MkdirAll(dir) != nil {
			s.unwritable = ErrReadOnly
		}
	}
	return s, nil
}

// open opens a store whatever it asks of its writers, and makes its folder.
func open(o Options) (*Store, error) {
	if o.Root == "" || !filepath.IsAbs(o.Root) {
		return nil, fmt.Errorf("open store %q: not an absolute path; set ANAMNESIS_HOME to one", o.Root)
	}
	if o.Disk == nil {
		o.Disk = OS{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{root: filepath.Clean(o.Root), home: o.Home, disk: o.Disk, now: o.Now, version: o.Version}
	s.patience = cmp.Or(o.LockTimeout, LockTimeout)
	s.events.s, s.spool.s, s.conflicts.s, s.ledger.s = s, s, s, s
	s.lock = newProcessLock(filepath.Join(s.root, "store.lock"))
	if fi, err := os.Stat(s.root); err == nil && !fi.IsDir() {
		return nil, fmt.Errorf("open store %s: it is a file, not a folder; move it away or set ANAMNESIS_HOME", s.root)
	}
	err := s.disk.MkdirAll(s.root)
	if _, serr := os.Stat(s.root); err != nil && serr != nil {
		return nil, fmt.Errorf("open store %s: %w; check that the parent folder exists and can be written", s.root, err)
	}
	if err != nil || !writable(s.root) {
		s.unwritable = ErrReadOnly
	}
	return s, nil
}

// Root returns the store's folder.
func (s *Store) Root() string { return s.root }

// ReadOnly reports whether the store was opened without permission to write.
func (s *Store) ReadOnly() bool { return s.unwritable != nil }

// Now returns the store's clock.
func (s *Store) Now() time.Time { return s.now() }

// Path returns the absolute path of a name inside the store, given with slashes.
func (s *Store) Path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// Home returns the user's home folder, "" when it is unknown.
func (s *Store) Home() string { return s.home }

// Events returns the event log.
func (s *Store) Events() *Events { return &s.events }

// Spool returns what waits.
func (s *Store) Spool() *Spool { return &s.spool }

// Conflicts returns what merges could not keep.
func (s *Store) Conflicts() *Conflicts { return &s.conflicts }

// TreeOf returns the name of the folder that holds the notes of a scope.
func TreeOf(scope note.Scope) string {
	if scope == note.Local {
		return layout.Local
	}
	return layout.Memory
}

// ScopeOf returns the scope of a path relative to the root, with slashes.
func ScopeOf(path string) note.Scope {
	if strings.HasPrefix(path, layout.Local+"/") {
		return note.Local
	}
	return note.Portable
}

// StemID returns the id in the name of a file, empty when there is none.
func StemID(name string) note.ID {
	id, err := note.ParseID(layout.Stem(name))
	if err != nil {
		return ""
	}
	return id
}

// A Ref is a note's file as it was when it was last looked at.
type Ref struct {
	Path    string // relative to the store's root, with slashes
	Scope   note.Scope
	Size    int64
	ModTime time.Time
	Sidecar bool // there is something of that name
}

// NotePath returns the path of a new note, relative to the root.
func NotePath(scope note.Scope, t note.Type, id note.ID) string {
	return FolderOf(scope, t) + "/" + string(id) + ".md"
}

// FolderOf returns the folder of new notes of a type, relative to the root.
func FolderOf(scope note.Scope, t note.Type) string { return TreeOf(scope) + "/" + string(t) }

// Read reads the note at ref.Path. The note carries the scope of the tree it
// stands in, whatever its front matter says. The bytes are the file's.
func (s *Store) Read(path string) (*note.Note, []byte, Ref, error) {
	ref := Ref{Path: path, Scope: ScopeOf(path)}
	data, fi, err := s.readRegular(path, MaxNoteSize)
	if err != nil {
		return nil, nil, ref, fmt.Errorf("read note %s: %w", s.Path(path), err)
	}
	ref.Size, ref.ModTime = fi.Size(), fi.ModTime()
	s.addSidecar(&ref)
	n, err := note.Parse(data)
	if err != nil {
		return nil, data, ref, fmt.Errorf("read note %s: %w", s.Path(path), err)
	}
	n.Scope = ref.Scope
	n.Trusted = s.ledger.has(n)
	return n, data, ref, nil
}

// ErrNotRegular says that a name is a symbolic link, a folder or a device.
var ErrNotRegular = errors.New("not a regular file; symbolic links are not followed")

// ErrTooLarge says that a file is larger than anything we would have written.
var ErrTooLarge = errors.New("file is too large")

// ReadFile reads a file below the root without following links. The error is
// fs.ErrNotExist when there is none, ErrNotRegular for what is no plain file or
// is reached through a link, ErrTooLarge above limit bytes.
func (s *Store) ReadFile(path string, limit int64) ([]byte, error) {
	data, _, err := s.readRegular(path, limit)
	return data, err
}

// ReadFolder calls each for the plain files below limit bytes in a folder whose
// names end in ext, in the order of their names. A folder that is not there has none.
func (s *Store) ReadFolder(dir, ext string, limit int, each func(name string, data []byte)) error {
	err := s.folders(dir + "/")
	var d *os.File
	if err == nil {
		d, err = os.Open(s.Path(dir))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	buf := make([]byte, limit+1)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ext) || !e.Type().IsRegular() {
			continue
		}
		if n, err := readFrom(d, e.Name(), buf); err == nil && n <= limit {
			each(e.Name(), buf[:n])
		}
	}
	return nil
}

// entries lists a folder below the root by name. One that is not there has none.
func (s *Store) entries(dir string) ([]os.DirEntry, error) {
	entries, err := os.ReadDir(s.Path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// Has reports whether there is a plain file at a path below the root.
func (s *Store) Has(path string) bool {
	_, err := s.lstat(path)
	return err == nil
}

// readRegular reads a file below the root without following links.
func (s *Store) readRegular(path string, limit int64) ([]byte, os.FileInfo, error) {
	fi, err := s.lstat(path)
	if err != nil {
		return nil, nil, err
	}
	if fi.Size() > limit {
		return nil, nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, fi.Size(), limit)
	}
	data, err := contents(s.Path(path), fi.Size())
	if err != nil {
		return nil, nil, err
	}
	return data, fi, nil
}

// lstat describes a regular file below the root; a link anywhere on the way is an error.
func (s *Store) lstat(path string) (os.FileInfo, error) {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return nil, fmt.Errorf("%q leaves the store", path)
	}
	if err := s.folders(path); err != nil {
		return nil, err
	}
	fi, err := os.Lstat(s.Path(path))
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	return fi, nil
}

// folders reports whether everything above a path below the root is a folder
// and not a link to one.
func (s *Store) folders(path string) error {
	for i, c := range path {
		if c != '/' {
			continue
		}
		fi, err := os.Lstat(s.Path(path[:i]))
		if err != nil {
			return err
		}
		if !fi.IsDir() {
			return fmt.Errorf("%s is a symbolic link or a file; put the folder itself there: %w", s.Path(path[:i]), ErrNotRegular)
		}
	}
	return nil
}

// Stat describes the note file at path, or fails if it is not there or not a regular file.
func (s *Store) Stat(path string) (Ref, error) {
	fi, err := s.lstat(path)
	if err != nil {
		return Ref{}, err
	}
	ref := Ref{Path: path, Scope: ScopeOf(path), Size: fi.Size(), ModTime: fi.ModTime()}
	s.addSidecar(&ref)
	return ref, nil
}

// Find looks for the file of a note without an index: first where a new note
// would stand, then everywhere. It returns an error that is fs.ErrNotExist
// when there is none.
func (s *Store) Find(id note.ID) (Ref, error) {
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		for _, t := range note.Types {
			if ref, err := s.Stat(NotePath(scope, t, id)); err == nil {
				return ref, nil
			}
		}
	}
	name := string(id) + ".md"
	for ref := range s.Walk() {
		if ref.Path[strings.LastIndexByte(ref.Path, '/')+1:] == name {
			return ref, nil
		}
	}
	return Ref{}, fmt.Errorf("find note %s: %w", id, os.ErrNotExist)
}

// Get finds a note without an index (Find) and reads it. Without an error there is one.
func Get(s *Store, id note.ID) (*note.Note, Ref, error) {
	ref, err := s.Find(id)
	if err != nil {
		return nil, ref, err
	}
	n, _, ref, err := s.Read(ref.Path)
	return n, ref, err
}
