package anchor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// The bounds of what is read of a clone.
const (
	maxFile  = 1 << 20 // bytes of one file; a larger one is Unknown
	maxFiles = 200     // files that are read
	maxBytes = 8 << 20 // of all files
)

// skipped are folders that hold nothing which a person wrote.
var skipped = []string{"node_modules", "vendor", "target", "dist", "build", "third_party"}

// A Clone is the working tree of a project. It remembers what it has read, so one is for
// one look. It is not safe for several goroutines.
type Clone struct {
	root    *os.Root
	bytes   int                 // that were read
	entries int                 // that may still be looked at
	files   map[string][]string // by path; nil for what is not there
	errs    map[string]error
	byBase  map[string][]string // every file of the tree by the last part of its path
}

// Open opens the working tree at root. While it looks for a file that is not where it
// was, it looks at entries files and folders at most.
func Open(root string, entries int) (*Clone, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	return &Clone{root: r, entries: entries, files: make(map[string][]string), errs: make(map[string]error)}, nil
}

// Root is its top folder.
func (c *Clone) Root() string { return c.root.Name() }

// Close closes it.
func (c *Clone) Close() { _ = c.root.Close() }

var (
	errMany = errors.New("too many files, or too large ones")
	errKind = errors.New("not a regular file of a bearable size")
)

// lines returns a file as lines. There is fs.ErrNotExist when it is not there, another
// error when that cannot be said.
func (c *Clone) lines(file string) ([]string, error) {
	if err, seen := c.errs[file]; seen {
		return c.files[file], err
	}
	if len(c.errs) >= maxFiles || c.bytes >= maxBytes {
		return nil, errMany
	}
	data, err := c.read(file)
	c.errs[file] = err
	c.bytes += len(data)
	if err == nil {
		c.files[file] = strings.Split(string(data), "\n")
	}
	return c.files[file], err
}

func (c *Clone) read(file string) ([]byte, error) {
	info, err := c.root.Stat(file) // before it is opened: to open a pipe may take for ever
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir):
		return nil, fs.ErrNotExist
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, errKind
	}
	f, err := c.root.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err == nil && bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil, errKind
	}
	return data, err
}

// Check tells what became of stamps. It stops looking when ctx ends; what it has not
// looked up then is Unknown.
func (c *Clone) Check(ctx context.Context, stamps []Stamp) []Finding {
	all := make([]Finding, len(stamps))
	for i, s := range stamps {
		all[i] = Finding{Stamp: s, State: Unknown}
		if ctx.Err() == nil {
			all[i].State, all[i].Where = c.check(s, stamps)
		}
	}
	for i, f := range all { // two machines may have stamped it in two states: either holds
		same := func(o Finding) bool { return o.About() == f.About() && o.State == Same }
		if slices.ContainsFunc(all, same) {
			all[i].State = Same
		}
	}
	return all
}

func (c *Clone) check(s Stamp, beside []Stamp) (State, string) {
	lines, err := c.lines(s.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.elsewhere(s)
	case err != nil:
		return Unknown, ""
	case s.Name == "":
		return Same, "" // that a file was worked on is no news
	}
	if block := definition(lines, s); block != nil {
		if hash(block) == s.Hash {
			return Same, ""
		}
		return Changed, ""
	}
	for _, o := range beside { // moved to a file that the note names too
		if others, err := c.lines(o.File); err == nil && o.File != s.File {
			if block := definition(others, s); block != nil {
				return Moved, o.File
			}
		}
	}
	return Gone, ""
}

// elsewhere looks for a file that is not where it was.
func (c *Clone) elsewhere(s Stamp) (State, string) {
	if c.byBase == nil {
		c.walk()
	}
	for _, file := range c.byBase[path.Base(s.File)] {
		lines, err := c.lines(file)
		if err != nil {
			continue
		}
		if s.Name == "" {
			return Moved, file
		}
		if block := definition(lines, s); block != nil {
			if hash(block) == s.Hash {
				return Moved, file
			}
			return Changed, file
		}
	}
	if c.entries < 0 {
		return Changed, "" // it may stand in what was not looked at
	}
	return Gone, ""
}

// walk finds every file of the tree, the uppermost first.
func (c *Clone) walk() {
	c.byBase = make(map[string][]string)
	for level := []string{"."}; len(level) > 0; {
		var next []string
		for _, dir := range level {
			entries, err := fs.ReadDir(c.root.FS(), dir)
			if err != nil {
				continue
			}
			for _, e := range entries {
				if c.entries--; c.entries < 0 {
					return
				}
				switch name := path.Join(dir, e.Name()); {
				case e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(skipped, e.Name()):
					next = append(next, name)
				case e.Type().IsRegular():
					c.byBase[e.Name()] = append(c.byBase[e.Name()], name)
				}
			}
		}
		level = next
	}
}
