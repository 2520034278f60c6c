package replica

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
)

// memory is the repository of one machine of a Hub. The objects are the hub's:
// to fetch is to look, and to push is to set one name.
type memory struct {
	hub    *Hub
	turn   sync.Mutex // one sync at a time
	local  *sync.Mutex
	mu     sync.Mutex // guards the fields below
	remote string
	head   string
	known  string // what the remote had when it was last in step with us
	got    string // what it had at the last fetch
	hide   map[string]bool
	wait   backoff
}

var _ plumbing = (*memBackend)(nil)

func (b *memBackend) tree() Tree {
	if b.o.Tree != nil {
		return b.o.Tree
	}
	return folder{b.o.Dir}
}

// changes returns what differs from the newest commit: nil content for what is gone.
func (b *memBackend) changes(paths []string) (map[string][]byte, error) {
	names, err := b.tree().List()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	committed := b.hub.commits[b.head].tree
	changed := make(map[string][]byte)
	here := make(map[string]bool, len(names))
	wanted := func(name string) bool {
		return Known(name) && name != attributes && (paths == nil || slices.Contains(paths, name))
	}
	for _, name := range names {
		here[name] = true
		if !wanted(name) {
			continue
		}
		data, err := b.tree().Read(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && data == nil {
			delete(here, name)
			continue
		} else if err != nil {
			return nil, err
		}
		e, ok := committed[name]
		if !ok || !bytes.Equal(b.hub.blobs[e.id], data) {
			changed[name] = append([]byte{}, data...)
		}
	}
	for name := range committed {
		if !here[name] && wanted(name) && !b.hide[name] {
			if _, gone := b.stands(name); gone {
				changed[name] = nil
			}
		}
	}
	return changed, nil
}

func (b *memBackend) snapshot(_ context.Context, paths []string) (s snapshot, err error) {
	changed, err := b.changes(paths)
	if err != nil {
		return s, err
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		why := ""
		switch data := changed[name]; {
		case data == nil:
		case len(data) > maxFile:
			why = "it is larger than 2 MiB; make it smaller"
		case hasMarkers(data):
			why = "it holds conflict markers; resolve them in the file"
		case b.o.Hold != nil:
			why = b.o.Hold(name, data)
		}
		if why != "" {
			s.held = append(s.held, HeldFile{name, why})
			delete(changed, name)
		}
	}
	if s.committed = len(changed) > 0; !s.committed {
		return s, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	tree := maps.Clone(b.hub.commits[b.head].tree)
	if tree == nil {
		tree = make(map[string]entry)
	}
	for name, data := range changed {
		if data == nil {
			delete(tree, name)
		} else {
			tree[name] = entry{"100644", b.hub.put(data)}
			delete(b.hide, name)
		}
	}
	subject := "anamnesis: sync from " + printable(b.o.MachineID) + " at " + b.o.Now().UTC().Format("2006-01-02T15:04:05") + "+00:00"
	b.head = b.hub.commit(memCommit{parents: []string{b.head}, tree: tree, subject: subject})
	return s, nil
}

func (b *memBackend) fetch(context.Context) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	if b.hub.down[b.o.Remote] {
		return false, &linkError{linkDown, errors.New("the link is cut")}
	}
	b.got = b.hub.remotes[b.o.Remote]
	return b.got != "", nil
}

// outgoing is empty: there is no git to commit with beside the syncs.
func (b *memBackend) outgoing(context.Context, string, string) ([]outgoingCommit, error) {
	return nil, nil
}

func (b *memBackend) push(_ context.Context, commit string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	if b.hub.down[b.o.Remote] {
		return &linkError{linkDown, errors.New("the link is cut")}
	}
	if have := b.hub.remotes[b.o.Remote]; have != "" && !b.hub.ancestors(commit)[have] {
		return &linkError{linkMoved, errors.New("fetch first")}
	}
	b.hub.remotes[b.o.Remote], b.known = commit, commit
	return nil
}

func (b *memBackend) refs(context.Context) (refs, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return refs{ours: b.head, short: b.head[:min(7, len(b.head))], theirs: b.got, known: b.known}, nil
}

func (b *memBackend) distance(_ context.Context, ours string, theirs ...string) (ahead, behind int, err error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	mine, other := b.hub.ancestors(ours), make(map[string]bool)
	for _, commit := range theirs {
		maps.Copy(other, b.hub.ancestors(commit))
	}
	for id := range mine {
		if !other[id] {
			ahead++
		}
	}
	return ahead, len(other) - (len(mine) - ahead), nil
}

func (b *memBackend) bases(_ context.Context, x, y string) ([]string, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	common, other := b.hub.ancestors(x), b.hub.ancestors(y)
	maps.DeleteFunc(common, func(id string, _ bool) bool { return !other[id] })
	// What is before another common one is not among the best.
	best := maps.Clone(common)
	for id := range common {
		for _, parent := range b.hub.commits[id].parents {
			delete(best, parent)
		}
	}
	return slices.Sorted(maps.Keys(best)), nil
}

func (b *memBackend) diff(_ context.Context, pairs ...[2]string) ([][]delta, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	var all [][]delta
	for _, pair := range pairs {
		before, after := b.hub.commits[pair[0]].tree, b.hub.commits[pair[1]].tree
		var list []delta
		for name, e := range before {
			if after[name] != e {
				list = append(list, delta{name, e, after[name]})
			}
		}
		for name, e := range after {
			if _, ok := before[name]; !ok {
				list = append(list, delta{path: name, new: e})
			}
		}
		all = append(all, list)
	}
	return all, nil
}

func (b *memBackend) list(_ context.Context, commit string) (map[string]entry, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	return b.hub.commits[commit].tree, nil
}

func (b *memBackend) blobs(_ context.Context, ids []string) (map[string][]byte, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	read := make(map[string][]byte, len(ids))
	for _, id := range ids {
		if data := b.hub.blobs[id]; len(data) <= maxFile {
			read[id] = append([]byte{}, data...)
		}
	}
	return read, nil
}

func (b *memBackend) record(_ context.Context, ours, theirs string, steps []step) (string, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	tree := maps.Clone(b.hub.commits[ours].tree)
	if tree == nil {
		tree = make(map[string]entry)
	}
	for i := range steps {
		s := &steps[i]
		if s.next == (entry{}) {
			delete(tree, s.path)
			continue
		}
		if s.next.id == "" {
			s.next.id = b.hub.put(s.data)
		}
		tree[s.path] = s.next
	}
	subject := "anamnesis: merge on " + printable(b.o.MachineID) + " at " + b.o.Now().UTC().Format("2006-01-02T15:04:05") + "+00:00"
	return b.hub.commit(memCommit{parents: []string{ours, theirs}, tree: tree, subject: subject}), nil
}

func (b *memBackend) stage(_ context.Context, written []string, rest []step) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range written {
		delete(b.hide, name)
	}
	for _, s := range rest {
		if s.hidden && s.next != (entry{}) && Known(s.path) {
			b.hide[s.path] = true
		} else {
			delete(b.hide, s.path)
		}
	}
	return nil
}

func (b *memBackend) move(_ context.Context, ours, commit, theirs string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.head != ours {
		return errMoved
	}
	b.head, b.known = commit, theirs
	return nil
}

func (b *memBackend) read(path string) ([]byte, error) {
	data, err := b.tree().Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && data == nil && b.o.Tree != nil {
		data = []byte{}
	}
	return data, err
}

func (b *memBackend) stands(path string) (regular, gone bool) {
	if b.o.Tree == nil {
		return isRegular(b.o.Dir, path)
	}
	data, err := b.read(path)
	return data != nil, data == nil && err == nil
}

func (b *memBackend) hidden(context.Context) (map[string]bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.hide), nil
}

func (b *memBackend) apply(changes []Change) ([]string, error) {
	return applyFiles(filepath.Clean(b.o.Dir), changes)
}

func (b *memBackend) attributes([]byte) error { return nil }

func (b *memBackend) backoff() backoff {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wait
}

func (b *memBackend) setBackoff(p backoff) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wait = p
	return nil
}
