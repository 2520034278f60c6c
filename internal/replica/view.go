package replica

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/store/layout"
)

// A view is the tree of a commit as a file system: the plain known files in it.
type view struct {
	ctx    context.Context //nolint:containedctx // a file system has no other place for it
	p      Plumbing
	commit string
	load   func() error
	files  map[string]Entry
	dirs   map[string][]string // names in a folder
	mu     sync.Mutex
	data   map[string][]byte
}

var (
	_ fs.ReadFileFS = (*view)(nil)
	_ fs.ReadDirFS  = (*view)(nil)
)

func newView(ctx context.Context, p Plumbing, commit string) *view {
	v := &view{ctx: ctx, p: p, commit: commit, data: make(map[string][]byte)}
	v.load = sync.OnceValue(v.list)
	return v
}

func (v *view) list() error {
	all, err := v.p.List(v.ctx, v.commit)
	v.files, v.dirs = make(map[string]Entry, len(all)), map[string][]string{".": nil}
	for name, e := range all {
		if !e.plain() || !Known(name) {
			continue
		}
		v.files[name] = e
		for child, dir := name, path.Dir(name); ; child, dir = dir, path.Dir(dir) {
			_, known := v.dirs[dir]
			v.dirs[dir] = append(v.dirs[dir], path.Base(child))
			if known {
				break
			}
		}
	}
	for _, names := range v.dirs {
		slices.Sort(names)
	}
	return err
}

// ReadFile reads a file. The first one of a folder brings its small neighbours
// along, because who reads one reads them all.
func (v *view) ReadFile(name string) ([]byte, error) {
	if err := v.load(); err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	e, ok := v.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if data, ok := v.data[e.ID]; ok {
		return bytes.Clone(data), nil
	}
	ids := []string{e.ID}
	if dir := path.Dir(name); layout.InTree(name) == layout.Tombstone {
		for _, beside := range v.dirs[dir] {
			ids = append(ids, v.files[path.Join(dir, beside)].ID)
		}
	}
	slices.Sort(ids)
	read, err := v.p.Blobs(v.ctx, slices.Compact(ids))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	for id, data := range read {
		v.data[id] = data
	}
	data, ok := v.data[e.ID]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid} // too large
	}
	return bytes.Clone(data), nil
}

func (v *view) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := v.load(); err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	names, ok := v.dirs[name]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	list := make([]fs.DirEntry, 0, len(names))
	for _, base := range names {
		_, isFile := v.files[path.Join(name, base)]
		list = append(list, fs.FileInfoToDirEntry(&viewInfo{v: v, name: path.Join(name, base), dir: !isFile}))
	}
	return list, nil
}

func (v *view) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err := v.load(); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if _, ok := v.dirs[name]; ok {
		list, err := v.ReadDir(name)
		return &viewDir{viewInfo{v: v, name: name, dir: true}, list}, err
	}
	data, err := v.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &viewFile{viewInfo{v: v, name: name}, strings.NewReader(string(data))}, nil
}

type viewInfo struct {
	v    *view
	name string
	dir  bool
}

func (i *viewInfo) Name() string       { return path.Base(i.name) }
func (i *viewInfo) IsDir() bool        { return i.dir }
func (i *viewInfo) ModTime() time.Time { return time.Time{} }
func (i *viewInfo) Sys() any           { return nil }

func (i *viewInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o500
	}
	return 0o400
}

func (i *viewInfo) Size() int64 {
	if i.dir {
		return 0
	}
	data, err := i.v.ReadFile(i.name)
	if err != nil {
		return 0
	}
	return int64(len(data))
}

type viewFile struct {
	info viewInfo
	*strings.Reader
}

func (f *viewFile) Stat() (fs.FileInfo, error) { return &f.info, nil }
func (f *viewFile) Close() error               { return nil }

type viewDir struct {
	info viewInfo
	left []fs.DirEntry
}

func (d *viewDir) Stat() (fs.FileInfo, error) { return &d.info, nil }
func (d *viewDir) Close() error               { return nil }

func (d *viewDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.name, Err: fs.ErrInvalid}
}

func (d *viewDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.left) {
		n = len(d.left)
	}
	list := d.left[:n]
	d.left = d.left[n:]
	return list, nil
}
