package imports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/store"
)

// The bounds of what is read.
const (
	maxFile    = 2 << 20   // bytes of one file with notes
	maxFiles   = 200_000   // of one source
	maxPlan    = 512 << 20 // bytes of all texts that one plan holds
	maxEntries = 100_000   // of one folder
)

// A tree is a folder of somebody else's, opened such that no name leads out of
// it. Of symbolic links below it those to folders are followed that match by name and
// that its user has made (followed); what such a folder holds is read like the tree itself.
type tree struct {
	root  *os.Root
	dir   string
	links map[string]*tree // by the name of the link
}

// openTree opens a folder; nil without an error when there is none.
func openTree(dir string) (*tree, error) {
	if dir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", dir, err)
	}
	return &tree{root: root, dir: dir, links: make(map[string]*tree)}, nil
}

func (t *tree) close() {
	for _, to := range t.links {
		to.close()
	}
	_ = t.root.Close()
}

// at returns the tree that contains a name, which is another one behind a link, and the name there.
func (t *tree) at(name string) (root *os.Root, below string) {
	for link := name; link != "."; link = path.Dir(link) { // the nearest link counts
		if to := t.links[link]; to != nil {
			if link == name {
				return to.root, "."
			}
			return to.root, name[len(link)+1:]
		}
	}
	return t.root, name
}

func (t *tree) lstat(name string) (fs.FileInfo, error) {
	root, below := t.at(name)
	return root.Lstat(below)
}

func (t *tree) open(name string) (*os.File, error) {
	root, below := t.at(name)
	return root.Open(below)
}

// followed reports whether a name that is a link leads to a folder from now on, and why it does not.
func (t *tree) followed(name string) error {
	root, below := t.at(name)
	to, err := ownFolder(filepath.Join(root.Name(), filepath.FromSlash(below)), t.dir)
	if err != nil {
		return err
	}
	linked, err := openTree(to)
	if err == nil && linked == nil {
		err = errLink
	}
	if err != nil {
		return err
	}
	t.links[name] = linked
	return nil
}

// A found is a file or a folder of a tree.
type found struct {
	name string // below the tree, with slashes
	info fs.FileInfo
	err  error // why it is not to be read
}

// list returns what stands in a folder, in byte order. A folder that is a link
// or is not there has nothing in it.
func (t *tree) list(dir string) []fs.DirEntry {
	if fi, err := t.lstat(dir); err != nil || !fi.IsDir() {
		return nil
	}
	f, err := t.open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.ReadDir(maxEntries)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// match lists the files that match a pattern whose elements are those of
// path.Match. What matches and is no regular file has its reason in err.
func (t *tree) match(ctx context.Context, pattern string) []found {
	dirs := []string{"."}
	elements := strings.Split(pattern, "/")
	var out []found
	for i, element := range elements {
		last := i == len(elements)-1
		var next []string
		for _, dir := range dirs {
			if ctx.Err() != nil || len(out) >= maxFiles {
				return out
			}
			if !last && !strings.ContainsAny(element, `*?[\`) {
				name := path.Join(dir, element)
				fi, err := t.lstat(name)
				if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
					if err = t.followed(name); err != nil {
						out = append(out, found{name: name, err: err})
					}
				}
				if err == nil {
					next = append(next, name)
				}
				continue
			}
			for _, e := range t.list(dir) {
				if ok, _ := path.Match(element, e.Name()); !ok || e.Name()[0] == '.' && element[0] != '.' {
					continue
				}
				name := path.Join(dir, e.Name())
				switch {
				case last:
					out = append(out, t.look(name))
				case e.IsDir():
					next = append(next, name)
				case e.Type()&fs.ModeSymlink != 0:
					if err := t.followed(name); err != nil {
						out = append(out, found{name: name, err: err})
					} else {
						next = append(next, name)
					}
				}
			}
		}
		dirs = next
	}
	return out
}

// errLink says that a name is a link.
var errLink = errors.New("it is a symbolic link; links are not followed; put the file itself there")

func (t *tree) look(name string) found {
	fi, err := t.lstat(name)
	switch {
	case err != nil:
	case fi.Mode()&fs.ModeSymlink != 0:
		err = errLink
	case !fi.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	}
	return found{name, fi, err}
}

// walk lists the regular files below a folder whose names end in suffix, in
// byte order. Folders with a dot in front are not entered.
func (t *tree) walk(ctx context.Context, dir, suffix string, out []found) []found {
	const deepest = 16
	if strings.Count(dir, "/") > deepest {
		return out
	}
	for _, e := range t.list(dir) {
		name := path.Join(dir, e.Name())
		switch {
		case ctx.Err() != nil || len(out) >= maxFiles:
			return out
		case e.Name()[0] == '.':
		case e.IsDir() && !strings.HasSuffix(e.Name(), suffix):
			out = t.walk(ctx, name, suffix, out)
		case strings.HasSuffix(e.Name(), suffix):
			out = append(out, t.look(name))
		}
	}
	return out
}

// take returns the bytes of what was found, or why there are none.
func (t *tree) take(f found) (data []byte, why string) {
	err := f.err
	if err == nil {
		data, err = t.read(f.name)
	}
	if err != nil {
		return nil, err.Error()
	}
	return data, ""
}

// read returns the bytes of a regular file.
func (t *tree) read(name string) ([]byte, error) {
	fi, err := t.lstat(name)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, store.ErrNotRegular
	}
	if fi.Size() > maxFile {
		return nil, tooLarge(fi.Size())
	}
	f, err := t.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = tooLarge(int64(len(data)))
	}
	return data, err
}

func tooLarge(size int64) error {
	return fmt.Errorf("%w: %.1f MB, at most %d are read; split it", store.ErrTooLarge, float64(size)/(1<<20), maxFile>>20)
}

// modified returns when a file was changed, never in the future and never
// before 1980, where file systems without a clock begin.
func modified(fi fs.FileInfo, now time.Time) time.Time {
	at := fi.ModTime()
	if at.After(now) || at.Year() < 1980 {
		return now
	}
	return at
}
