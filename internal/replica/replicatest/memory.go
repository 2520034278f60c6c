package replicatest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/replica"
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
	wait   replica.Backoff
}

var _ replica.Plumbing = (*memBackend)(nil)

func (b *memBackend) tree() replica.Tree {
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
		return replica.Known(name) && name != ".gitattributes" && (paths == nil || slices.Contains(paths, name))
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
		if !ok || !bytes.Equal(b.hub.blobs[e.ID], data) {
			changed[name] = append([]byte{}, data...)
		}
	}
	for name := range committed {
		if !here[name] && wanted(name) && !b.hide[name] {
			if _, gone := b.Stands(name); gone {
				changed[name] = nil
			}
		}
	}
	return changed, nil
}

func (b *memBackend) Snapshot(_ context.Context, paths []string) (s replica.Snapshot, err error) {
	changed, err := b.changes(paths)
	if err != nil {
		return s, err
	}
	spoiled := b.spoiled(changed)
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		data := changed[name]
		if data == nil {
			continue
		}
		why := cmp.Or(spoiled[name], b.o.Withheld(name, data))
		if why != "" {
			s.Held = append(s.Held, replica.WithheldFile{Path: name, Why: why})
			delete(changed, name)
		}
	}
	if s.Committed = len(changed) > 0; !s.Committed {
		return s, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	tree := maps.Clone(b.hub.commits[b.head].tree)
	if tree == nil {
		tree = make(map[string]replica.Entry)
	}
	for name, data := range changed {
		if data == nil {
			delete(tree, name)
		} else {
			tree[name] = replica.Entry{Mode: "100644", ID: b.hub.put(data)}
			delete(b.hide, name)
		}
	}
	subject := b.subject("sync from")
	b.head = b.hub.commit(memCommit{parents: []string{b.head}, tree: tree, subject: subject})
	return s, nil
}

// spoiled tells for changes that must not be committed why.
func (b *memBackend) spoiled(changed map[string][]byte) map[string]string {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	committed, notes := b.hub.commits[b.head].tree, 0
	var all []replica.Overwrite
	for name, e := range committed {
		if strings.HasSuffix(name, ".md") {
			notes++
			if now := changed[name]; now != nil {
				all = append(all, replica.Overwrite{Path: name, Was: b.hub.blobs[e.ID], Now: now})
			}
		}
	}
	why := make(map[string]string)
	for _, f := range b.o.Spoiled(all, notes) {
		why[f.Path] = f.Why
	}
	return why
}

func (b *memBackend) subject(what string) string {
	return fmt.Sprintf("anamnesis: %s %s at %s", what, cmp.Or(b.o.MachineID, "unknown"), b.o.Now().UTC().Format(time.RFC3339))
}

func (b *memBackend) Fetch(context.Context) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	if b.hub.down[b.o.Remote] {
		return false, &replica.LinkError{Kind: replica.LinkDown, Err: errors.New("the link is cut")}
	}
	b.got = b.hub.remotes[b.o.Remote]
	return b.got != "", nil
}

// Outgoing is empty: there is no git to commit with beside the syncs.
func (b *memBackend) Outgoing(context.Context, string, string) ([]replica.OutgoingCommit, error) {
	return nil, nil
}

func (b *memBackend) Push(_ context.Context, commit string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	if b.hub.down[b.o.Remote] {
		return &replica.LinkError{Kind: replica.LinkDown, Err: errors.New("the link is cut")}
	}
	if have := b.hub.remotes[b.o.Remote]; have != "" && !b.hub.ancestors(commit)[have] {
		return &replica.LinkError{Kind: replica.LinkMoved, Err: errors.New("fetch first")}
	}
	b.hub.remotes[b.o.Remote], b.known = commit, commit
	return nil
}

func (b *memBackend) Refs(context.Context) (replica.Refs, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return replica.Refs{Ours: b.head, Short: b.head[:min(7, len(b.head))], Theirs: b.got, Known: b.known}, nil
}

func (b *memBackend) Distance(_ context.Context, ours string, theirs ...string) (ahead, behind int, err error) {
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

func (b *memBackend) Bases(_ context.Context, x, y string) ([]string, error) {
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

func (b *memBackend) Deltas(_ context.Context, pairs ...[2]string) ([][]replica.Delta, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	var all [][]replica.Delta
	for _, pair := range pairs {
		before, after := b.hub.commits[pair[0]].tree, b.hub.commits[pair[1]].tree
		var list []replica.Delta
		for name, e := range before {
			if after[name] != e {
				list = append(list, replica.Delta{Path: name, Old: e, New: after[name]})
			}
		}
		for name, e := range after {
			if _, ok := before[name]; !ok {
				list = append(list, replica.Delta{Path: name, New: e})
			}
		}
		all = append(all, list)
	}
	return all, nil
}

func (b *memBackend) List(_ context.Context, commit string) (map[string]replica.Entry, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	return b.hub.commits[commit].tree, nil
}

func (b *memBackend) Blobs(_ context.Context, ids []string) (map[string][]byte, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	read := make(map[string][]byte, len(ids))
	for _, id := range ids {
		if data := b.hub.blobs[id]; len(data) <= replica.MaxFile {
			read[id] = append([]byte{}, data...)
		}
	}
	return read, nil
}

func (b *memBackend) Record(_ context.Context, ours, theirs string, steps []replica.Step) (string, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	tree := maps.Clone(b.hub.commits[ours].tree)
	if tree == nil {
		tree = make(map[string]replica.Entry)
	}
	for i := range steps {
		s := &steps[i]
		if s.Next == (replica.Entry{}) {
			delete(tree, s.Path)
			continue
		}
		if s.Next.ID == "" {
			s.Next.ID = b.hub.put(s.Data)
		}
		tree[s.Path] = s.Next
	}
	subject := b.subject("merge on")
	return b.hub.commit(memCommit{parents: []string{ours, theirs}, tree: tree, subject: subject}), nil
}

func (b *memBackend) Stage(_ context.Context, written []string, rest []replica.Step) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range written {
		delete(b.hide, name)
	}
	for _, s := range rest {
		if s.Hidden && s.Next != (replica.Entry{}) && replica.Known(s.Path) {
			b.hide[s.Path] = true
		} else {
			delete(b.hide, s.Path)
		}
	}
	return nil
}

func (b *memBackend) Move(_ context.Context, ours, commit, theirs string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.head != ours {
		return replica.ErrMoved
	}
	b.head, b.known = commit, theirs
	return nil
}

func (b *memBackend) Read(path string) ([]byte, error) {
	data, err := b.tree().Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && data == nil && b.o.Tree != nil {
		data = []byte{}
	}
	return data, err
}

func (b *memBackend) Stands(path string) (regular, gone bool) {
	if b.o.Tree == nil {
		return replica.Stands(b.o.Dir, path)
	}
	data, err := b.Read(path)
	return data != nil, data == nil && err == nil
}

func (b *memBackend) Hidden(context.Context) (map[string]bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.hide), nil
}

func (b *memBackend) Apply(changes []replica.Change) ([]string, error) {
	return replica.ApplyFiles(filepath.Clean(b.o.Dir), changes)
}

func (b *memBackend) SetAttributes([]byte) error { return nil }

func (b *memBackend) Backoff() replica.Backoff {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wait
}

func (b *memBackend) SetBackoff(p replica.Backoff) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wait = p
	return nil
}

func (b *memBackend) Deleters(_ context.Context, ours, theirs string, gone []string) (map[string]string, error) {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	mine, by := b.hub.ancestors(ours), make(map[string]string, len(gone))
	for id := range b.hub.ancestors(theirs) {
		c := b.hub.commits[id]
		f := strings.Fields(c.subject) // anamnesis: sync from NAME at …
		if mine[id] || len(c.parents) != 1 || len(f) < 4 {
			continue
		}
		for _, name := range gone {
			_, had := b.hub.commits[c.parents[0]].tree[name]
			if _, has := c.tree[name]; had && !has {
				by[name] = f[3]
			}
		}
	}
	return by, nil
}

func (b *memBackend) Look() string { return "git log refs/anamnesis/theirs" }
