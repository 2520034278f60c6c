package replica

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sync"

	"anamnesis/internal/store/layout"
)

// A view is the tree of a commit: the plain known files in it.
type view struct {
	ctx   context.Context //nolint:containedctx // a Tree has no other place for it
	p     Plumbing
	files func() (map[string]Entry, error)
	mu    sync.Mutex
	data  map[string][]byte
}

var _ Tree = (*view)(nil)

func newView(ctx context.Context, p Plumbing, commit string) *view {
	files := sync.OnceValues(func() (map[string]Entry, error) {
		all, err := p.List(ctx, commit)
		files := make(map[string]Entry, len(all))
		for name, e := range all {
			if e.plain() && Known(name) {
				files[name] = e
			}
		}
		return files, err
	})
	return &view{ctx: ctx, p: p, files: files, data: make(map[string][]byte)}
}

// List returns the paths of all files.
func (v *view) List() ([]string, error) {
	files, err := v.files()
	return slices.Collect(maps.Keys(files)), err
}

// Read reads a file. The first tombstone brings the others along, because who reads one
// reads them all.
func (v *view) Read(name string) ([]byte, error) {
	files, err := v.files()
	if err != nil {
		return nil, err
	}
	e, ok := files[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if data, ok := v.data[e.ID]; ok {
		return bytes.Clone(data), nil
	}
	ids := []string{e.ID}
	if layout.InTree(name) == layout.Tombstone {
		for beside, other := range files {
			if path.Dir(beside) == path.Dir(name) {
				ids = append(ids, other.ID)
			}
		}
	}
	slices.Sort(ids)
	read, err := v.p.Blobs(v.ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	maps.Copy(v.data, read)
	data, ok := v.data[e.ID]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid} // too large
	}
	return bytes.Clone(data), nil
}
