package store

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// Walk yields every note file, memory/ before local/, in byte order of the
// paths. It follows no links, enters no folder whose name begins with a dot,
// and skips the folders that hold something else. What cannot be read is
// left out; Sync in package index notices that a file is gone.
func (s *Store) Walk() iter.Seq[Ref] { return s.WalkUntil(func() bool { return false }) }

// WalkUntil walks until stop returns true. It asks while a large folder is read,
// none of whose files is yielded before all are known.
func (s *Store) WalkUntil(stop func() bool) iter.Seq[Ref] {
	return WalkReporting(s, stop, func(string, error) {})
}

// WalkReporting is Store.WalkUntil, and calls unread for each folder that cannot be read,
// relative to the root: nobody knows what stands in it.
func WalkReporting(s *Store, stop func() bool, unread func(dir string, err error)) iter.Seq[Ref] {
	return func(yield func(Ref) bool) {
		w := walker{s, stop, unread, yield}
		for _, scope := range []note.Scope{note.Portable, note.Local} {
			if !w.walk(TreeOf(scope), scope, 0) {
				return
			}
		}
	}
}

// A walker is one walk over the trees.
type walker struct {
	s      *Store
	stop   func() bool
	unread func(dir string, err error)
	yield  func(Ref) bool
}

func (w *walker) walk(dir string, scope note.Scope, depth int) bool {
	if depth > layout.MaxDepth {
		return true
	}
	entries, stopped, err := look(w.s.Path(dir), w.stop)
	if stopped {
		return false
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.unread(dir, err)
	}
	sidecars := make(map[string]bool)
	for i := range entries {
		if name, ok := layout.NoteOf(entries[i].name); ok && entries[i].regular {
			sidecars[name] = true
		}
	}
	for i := range entries {
		e := &entries[i]
		switch {
		case e.name[0] == '.':
		case e.folder:
			if depth == 0 && layout.TypedFolder(dir+"/"+e.name) {
				continue
			}
			if !w.walk(dir+"/"+e.name, scope, depth+1) {
				return false
			}
		case e.there:
			ref := Ref{Path: dir + "/" + e.name, Scope: scope, Size: e.size, ModTime: e.modTime}
			if sidecars[e.name] {
				w.s.addSidecar(&ref)
			}
			if !w.yield(ref) {
				return false
			}
		}
	}
	return true
}

// A sight is what a look at a folder tells of something in it.
type sight struct {
	name            string
	folder, regular bool
	there           bool // it is a note file, and the rest is known
	size            int64
	modTime         time.Time
}

// How many names are read before the files are looked at, and how many files
// are worth a thread.
const (
	lookedAt  = 128
	leastLook = 64
)

// look lists a folder by name and describes the note files in it, by several
// threads while more names are read: it is the system that takes the time. What
// is no note file is not there, nor is a file that has gone since its name was
// read. A folder that cannot be read to its end is empty, and err says why.
func look(dir string, stop func() bool) (all []sight, stopped bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer d.Close()
	var parts [][]sight
	var wg sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for err == nil && !stopped {
		var entries []fs.DirEntry
		entries, err = d.ReadDir(lookedAt)
		stopped = len(parts) > 0 && stop()
		found := make([]sight, len(entries))
		for i, e := range entries {
			found[i] = sight{name: e.Name(), folder: e.IsDir(), regular: e.Type().IsRegular()}
		}
		parts = append(parts, found)
		if len(entries) < leastLook {
			lookInto(d, entries, found)
			continue
		}
		free <- struct{}{}
		wg.Go(func() {
			lookInto(d, entries, found)
			<-free
		})
	}
	wg.Wait()
	if stopped || err != io.EOF { //nolint:errorlint // ReadDir returns it as it is
		return nil, stopped, err
	}
	all = slices.Concat(parts...)
	slices.SortFunc(all, func(a, b sight) int { return strings.Compare(a.name, b.name) })
	return all, false, nil
}

// isNoteFile says by its name and kind that an entry may be a note.
func isNoteFile(e fs.DirEntry) bool {
	return e.Name()[0] != '.' && strings.HasSuffix(e.Name(), ".md") && e.Type().IsRegular()
}
