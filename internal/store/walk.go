package store

import (
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/note"
)

// Walk yields every note file, memory/ before local/, in byte order of the
// paths. It follows no links, enters no folder whose name begins with a dot,
// and skips the folders that hold something else. What cannot be read is
// left out; Sync in package index notices that a file is gone.
func (s *Store) Walk() iter.Seq[Ref] {
	return func(yield func(Ref) bool) {
		for _, scope := range []note.Scope{note.Portable, note.Local} {
			if !s.walk(treeName(scope), scope, 0, yield) {
				return
			}
		}
	}
}

// maxDepth bounds the recursion: a tree of ours has three levels.
const maxDepth = 12

func (s *Store) walk(dir string, scope note.Scope, depth int, yield func(Ref) bool) bool {
	if depth > maxDepth {
		return true
	}
	entries, err := os.ReadDir(s.Path(dir))
	if err != nil {
		return true
	}
	sidecars := make(map[string]bool)
	for _, e := range entries {
		if stem, ok := strings.CutSuffix(e.Name(), sidecarSuffix); ok && e.Type().IsRegular() {
			sidecars[stem+".md"] = true
		}
	}
	for part := range slices.Chunk(entries, 1024) {
		found := look(s.Path(dir), part)
		for i, e := range part {
			name := e.Name()
			switch {
			case name[0] == '.':
			case e.IsDir():
				if depth == 0 && (name == "tombstones" || name == "slots") {
					continue
				}
				if !s.walk(dir+"/"+name, scope, depth+1, yield) {
					return false
				}
			case found[i].there:
				ref := Ref{Path: dir + "/" + name, Scope: scope, Size: found[i].size, ModTime: found[i].modTime}
				if sidecars[name] {
					s.addSidecar(&ref)
				}
				if !yield(ref) {
					return false
				}
			}
		}
	}
	return true
}

// A sight is what a look at a file tells.
type sight struct {
	size    int64
	modTime time.Time
	there   bool
}

// look describes the note files among the entries of a folder, by several
// threads at once: it is the system that takes the time. What is no note file
// is not there, nor is a file that has gone since its folder was read.
func look(dir string, entries []fs.DirEntry) []sight {
	found := make([]sight, len(entries))
	const least = 64 // files that are worth a thread
	share := max(least, (len(entries)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for from := 0; from < len(entries); from += share {
		to := min(from+share, len(entries))
		wg.Go(func() { lookInto(dir, entries[from:to], found[from:to]) })
	}
	wg.Wait()
	return found
}

// isNoteFile says by its name and kind that an entry may be a note.
func isNoteFile(e fs.DirEntry) bool {
	return e.Name()[0] != '.' && strings.HasSuffix(e.Name(), ".md") && e.Type().IsRegular()
}

// Links names the symbolic links and other special files in the trees, which
// no walk enters, so that status can tell their owner about them.
func (s *Store) Links() []string {
	var found []string
	for _, tree := range []string{"memory", "local"} {
		if fi, err := os.Lstat(s.Path(tree)); err == nil && !fi.IsDir() {
			found = append(found, tree)
			continue
		}
		_ = fs.WalkDir(os.DirFS(s.root), tree, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // reported by whoever needs the file
			}
			if d.IsDir() && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			if !d.IsDir() && !d.Type().IsRegular() {
				found = append(found, p)
			}
			return nil
		})
	}
	return found
}
