package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"anamnesis/internal/layout"

	"github.com/gofrs/flock"
)

// ErrLocked says that another process holds a lock for longer than one waits.
var ErrLocked = errors.New("another anamnesis process is working on the store; try again")

// A processLock is a mutex within the process and an advisory file lock
// between processes. The operating system frees it when its holder dies.
type processLock struct {
	mu   sync.Mutex
	path string
}

// LockTimeout is how long a writer waits for the store before it gives up.
const LockTimeout = 30 * time.Second

// Lock waits for the store lock without asking for the right to write: for what
// has to happen while nobody writes. Nobody may hold it across a network or a
// model call.
func (s *Store) Lock(ctx context.Context) (unlock func(), err error) {
	if s.readOnly {
		return nil, fmt.Errorf("lock %s: %w", s.root, ErrReadOnly)
	}
	ctx, cancel := context.WithTimeout(ctx, LockTimeout)
	defer cancel()
	return s.lock.acquire(ctx)
}

// LockFile waits for the right to replace a file that is no part of a store, or
// that many may replace without the store lock, such as a set of questions. The
// lock is a hidden, empty file beside it, which stays; its folder must be there.
// Whoever holds it calls no network and no model, as with BeginWrite.
func LockFile(ctx context.Context, file string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, LockTimeout)
	defer cancel()
	l := processLock{path: filepath.Join(filepath.Dir(file), layout.LockOf(filepath.Base(file)))}
	return l.acquire(ctx)
}

func (l *processLock) acquire(ctx context.Context) (func(), error) {
	for !l.mu.TryLock() {
		if err := pause(ctx); err != nil {
			return nil, fmt.Errorf("lock %s: %w", l.path, ErrLocked)
		}
	}
	f := flock.New(l.path, flock.SetPermissions(0o600))
	for {
		ok, err := f.TryLock()
		if err != nil {
			l.mu.Unlock()
			return nil, fmt.Errorf("lock %s: %w", l.path, err)
		}
		if ok {
			return func() { _ = f.Unlock(); l.mu.Unlock() }, nil
		}
		if err := pause(ctx); err != nil {
			l.mu.Unlock()
			return nil, fmt.Errorf("lock %s: %w", l.path, ErrLocked)
		}
	}
}

// pause waits a moment, short enough that writers in turn cost each other little.
func pause(ctx context.Context) error {
	t := time.NewTimer(500 * time.Microsecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// TryLock takes the named lock ("sync" or "drain") if nobody has it; those
// runs are single, so whoever comes second leaves.
func (s *Store) TryLock(name string) (unlock func(), ok bool, err error) {
	if s.readOnly {
		return nil, false, fmt.Errorf("lock %s: %w", s.root, ErrReadOnly)
	}
	f := flock.New(s.Path(name+".lock"), flock.SetPermissions(0o600))
	ok, err = f.TryLock()
	if err != nil || !ok {
		return nil, false, err
	}
	return func() { _ = f.Unlock() }, true, nil
}
