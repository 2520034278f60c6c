package replicatest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/replica"
)

// A Hub is a world of machines and remotes in memory. It is the fixture of
// property tests, here and in other packages: what is synced through it goes
// through the cycle that git goes through, in microseconds instead of tens of
// milliseconds. Only the repository below the cycle is another one.
type Hub struct {
	mu       sync.Mutex
	commits  map[string]memCommit
	blobs    map[string][]byte
	remotes  map[string]string // address → newest commit
	down     map[string]bool
	machines map[string]*memory
}

type memCommit struct {
	parents []string
	tree    map[string]replica.Entry
	subject string
}

// NewHub returns a world without machines. A remote is there, and empty, as
// soon as somebody's Options name it.
func NewHub() *Hub {
	return &Hub{
		commits: make(map[string]memCommit), blobs: make(map[string][]byte), remotes: make(map[string]string),
		down: make(map[string]bool), machines: make(map[string]*memory),
	}
}

// Open returns the backend of a machine, which is known by o.Dir or, when that
// is empty, by o.MachineID; to open it again goes on with what it has. Its work
// tree is o.Tree, written by o.Apply; without them the folder o.Dir.
func (h *Hub) Open(o replica.Options) (replica.Backend, error) {
	if o.Tree != nil && o.Apply == nil {
		if files, ok := o.Tree.(*Files); ok {
			o.Apply = files.Apply
		} else {
			return nil, errors.New("open replica: a tree that is no folder needs Apply")
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	key := cmp.Or(o.Dir, o.MachineID)
	h.mu.Lock()
	m := h.machines[key]
	if m == nil {
		m = &memory{hub: h, local: new(sync.Mutex), hide: make(map[string]bool)}
		h.machines[key] = m
	}
	h.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.remote != o.Remote {
		m.remote, m.known, m.got = o.Remote, "", ""
	}
	return &memBackend{memory: m, o: o}, nil
}

// Cut takes a remote off the network, or brings it back.
func (h *Hub) Cut(remote string, down bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down[remote] = down
}

// Point makes a remote have what another one has; the empty one has nothing.
func (h *Hub) Point(remote, like string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remotes[remote] = h.remotes[like]
}

// Files returns what a remote has, by path.
func (h *Hub) Files(remote string) map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.files(h.remotes[remote])
}

// Kept returns what the machine with that Dir or MachineID has committed, by path.
func (h *Hub) Kept(machine string) map[string]string {
	h.mu.Lock()
	m := h.machines[machine]
	h.mu.Unlock()
	if m == nil {
		return nil
	}
	m.mu.Lock()
	head := m.head
	m.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.files(head)
}

func (h *Hub) files(commit string) map[string]string {
	files := make(map[string]string)
	for name, e := range h.commits[commit].tree {
		files[name] = string(h.blobs[e.ID])
	}
	return files
}

// put stores a blob. The hub is locked.
func (h *Hub) put(data []byte) string {
	sum := sha256.Sum256(data)
	id := hex.EncodeToString(sum[:16])
	if _, ok := h.blobs[id]; !ok {
		h.blobs[id] = append([]byte{}, data...)
	}
	return id
}

// commit stores a commit under a name that is made from what it holds. The hub is locked.
func (h *Hub) commit(c memCommit) string {
	c.parents = slices.DeleteFunc(c.parents, func(p string) bool { return p == "" })
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q\n", c.parents, c.subject)
	for _, name := range slices.Sorted(maps.Keys(c.tree)) {
		fmt.Fprintf(sum, "%q %v\n", name, c.tree[name])
	}
	id := hex.EncodeToString(sum.Sum(nil)[:16])
	h.commits[id] = c
	return id
}

// ancestors returns a commit and all before it. The hub is locked.
func (h *Hub) ancestors(commit string) map[string]bool {
	seen := make(map[string]bool)
	for todo := []string{commit}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if id == "" || seen[id] {
			continue
		}
		seen[id] = true
		todo = append(todo, h.commits[id].parents...)
	}
	return seen
}

// memBackend is a machine of a Hub with the options of one Open.
type memBackend struct {
	*memory
	o replica.Options
}

var _ replica.Backend = (*memBackend)(nil)

func (b *memBackend) Commit(ctx context.Context, paths []string) (bool, error) {
	b.local.Lock()
	defer b.local.Unlock()
	s, err := b.Snapshot(ctx, paths)
	if err == nil && len(s.Held) > 0 {
		err = &replica.HeldError{Files: s.Held}
	}
	return s.Committed, err
}

func (b *memBackend) Sync(ctx context.Context) (replica.Outcome, error) {
	b.turn.Lock()
	defer b.turn.Unlock()
	return replica.Exchange(ctx, b, b.o, b.local)
}

func (b *memBackend) State(ctx context.Context) (replica.State, error) {
	b.local.Lock()
	defer b.local.Unlock()
	r, err := b.Refs(ctx)
	if err != nil || r.Ours == "" {
		return replica.State{Remote: replica.HidePassword(b.o.Remote), Detail: "not initialized"}, err
	}
	s := replica.State{Initialized: true, Remote: replica.HidePassword(b.o.Remote), Head: r.Short, Detail: "ok"}
	changed, err := b.changes(nil)
	s.Dirty = len(changed) > 0
	if invalid := replica.CheckRemote(b.o.Remote); invalid != nil {
		s.Detail = invalid.Error()
	} else if b.o.Remote != "" && err == nil {
		s.Ahead, s.Behind, err = b.Distance(ctx, r.Ours, r.Known, r.Theirs)
		if wait := b.Backoff(); wait.Remote == b.o.Remote {
			s.Failures, s.Next = wait.Failures, wait.Next
		}
	}
	return s, err
}

// Files is a work tree in memory, for Options.Tree of a Hub. The zero value is
// an empty tree. It is safe for concurrent use.
type Files struct {
	mu   sync.Mutex
	data map[string][]byte
}

var _ replica.Tree = (*Files)(nil)

// List returns the paths of all files.
func (f *Files) List() ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.data)), nil
}

// Read returns a file.
func (f *Files) Read(path string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, ok := f.data[path]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return data, nil
}

// Write makes or replaces a file; nil data removes it.
func (f *Files) Write(path string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.write(path, data)
}

func (f *Files) write(path string, data []byte) {
	if f.data == nil {
		f.data = make(map[string][]byte)
	}
	if data == nil {
		delete(f.data, path)
	} else {
		f.data[path] = append([]byte{}, data...)
	}
}

// Apply is an Options.Apply.
func (f *Files) Apply(changes []replica.Change) (changed []string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ch := range changes {
		if have, ok := f.data[ch.Path]; ok != (ch.Old != nil) || !bytes.Equal(have, ch.Old) || ch.New != nil && f.obstructs(ch.Path) {
			changed = append(changed, ch.Path)
		} else {
			f.write(ch.Path, ch.New)
		}
	}
	return changed, nil
}

// obstructs reports whether a folder could not hold the file beside the others.
func (f *Files) obstructs(path string) bool {
	for name := range f.data {
		if strings.HasPrefix(name, path+"/") || strings.HasPrefix(path, name+"/") {
			return true
		}
	}
	return false
}

// folder is a Tree of the files of a folder.
type folder struct{ dir string }

func (f folder) List() ([]string, error) {
	var names []string
	err := filepath.WalkDir(f.dir, func(at string, d fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(f.dir, at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || rerr != nil || rel == ".":
			return errors.Join(err, rerr)
		case strings.HasPrefix(d.Name(), ".") && d.IsDir():
			return filepath.SkipDir
		case d.Type().IsRegular():
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	return names, err
}

func (f folder) Read(path string) ([]byte, error) {
	if regular, _ := replica.Stands(f.dir, path); !regular {
		return nil, fs.ErrNotExist
	}
	return os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(path)))
}
