package replica_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
	"anamnesis/internal/replica/seal"
	"anamnesis/internal/store/storetest"
)

// A circle is machines that may read the same sealed remotes, known to each other before
// they first sync.
type circle struct {
	t     testing.TB
	mu    sync.Mutex
	free  []*seal.Identity
	taken map[string]string // folder of keys by name of a machine
	group []byte
}

func newCircle(t testing.TB) *circle {
	t.Helper()
	c := &circle{t: t, taken: make(map[string]string)}
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var group seal.Group
	for n := range 8 {
		i, err := seal.NewIdentity()
		if err == nil {
			name := "machine " + string(rune('1'+n))
			if n == 0 {
				group, err = seal.NewGroup(i, name, must(seal.NewIdentity()).Member("recovery key"), now)
			} else {
				group, err = group.Add(c.free[0], i.Member(name), now)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		c.free = append(c.free, i)
	}
	data, err := json.Marshal(map[string]any{"v": 1, "group": group})
	if err != nil {
		t.Fatal(err)
	}
	c.group = data
	return c
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// keys returns the folder of the keys of a machine.
func (c *circle) keys(name string) string {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken[name] == "" {
		dir := c.t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "identity.txt"), []byte(c.free[0].Secret()+"\n"), 0o600),
			os.WriteFile(filepath.Join(dir, "group.json"), c.group, 0o600)); err != nil {
			c.t.Fatal(err)
		}
		c.free, c.taken[name] = c.free[1:], dir
	}
	return c.taken[name]
}

// fresh returns the keys of a machine as it had them before it ever synced.
func (c *circle) fresh(t testing.TB, name string) string {
	t.Helper()
	from, dir := c.keys(name), t.TempDir()
	data, err := os.ReadFile(filepath.Join(from, "identity.txt"))
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, "identity.txt"), data, 0o600), os.WriteFile(filepath.Join(dir, "group.json"), c.group, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// files opens what a remote has, as a machine that never saw it.
func (c *circle) files(t *testing.T, remote string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	o := options(t, dir)
	o.Remote, o.Seal, o.MachineID = remote, c.fresh(t, "reader"), "reader"
	if out, err := open(t, o).Sync(t.Context()); err != nil || out.Offline || out.Pushed {
		t.Fatalf("read the remote: %+v, %v", out, err)
	}
	return committed(t, dir)
}

func TestSealed(t *testing.T) {
	c := newCircle(t)
	replicatest.Run(t, replicatest.Subject{
		Open: func(t *testing.T, dir string) replica.Backend {
			o := options(t, dir)
			o.Seal = c.keys("studio-desktop")
			return open(t, o)
		},
		Kept: kept,
	})
}

func TestSealedWorld(t *testing.T) {
	replicatest.RunWorld(t, func(t *testing.T) replicatest.World {
		storetest.SkipQuick(t, quickWorld...)
		t.Parallel()
		c := newCircle(t)
		w := gitWorld(t)
		w.Open = func(t *testing.T, o replica.Options) replica.Backend {
			o = filled(t, o)
			o.Seal = c.keys(o.MachineID)
			return open(t, o)
		}
		w.Files = c.files
		return w
	})
}
