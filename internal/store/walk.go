package store

import (
	"io/fs"
	"iter"
	"os"
	"strings"

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
	for _, e := range entries {
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
		case strings.HasSuffix(name, ".md") && e.Type().IsRegular():
			fi, err := e.Info()
			if err != nil {
				continue // gone since the folder was read
			}
			if !yield(Ref{Path: dir + "/" + name, Scope: scope, Size: fi.Size(), ModTime: fi.ModTime()}) {
				return false
			}
		}
	}
	return true
}

// Links names the symbolic links and other special files in the trees, which
// no walk enters, so that status can tell their owner about them.
func (s *Store) Links() []string {
	var found []string
	for _, tree := range []string{"memory", "local"} {
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
