package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"anamnesis/internal/store/layout"

	"github.com/gofrs/flock"
)

// ErrLocked says that another process holds a lock for longer than one waits.
var ErrLocked = errors.New("another anamnesis process is working on the store; try again")

// A processLock is a mutex within the process and an advisory file lock
// between processes. The operating system frees it when its holder dies.
type processLock struct {
	held chan struct{} // of one element: there while somebody in this process has the lock or waits for the file's
	path string
}

func newProcessLock(path string) processLock {
	return processLock{held: make(chan struct{}, 1), path: path}
}

// LockTimeout is how long a writer waits for the store before it gives up,
// unless Options say otherwise.
const LockTimeout = 30 * time.Second

// Lock waits for the store lock without asking for the right to write: for what
// has to happen while nobody writes. Nobody may hold it across a network or a
// model call.
func (s *Store) Lock(ctx context.Context) (unlock func(), err error) {
	if s.unwritable != nil {
		return nil, fmt.Errorf("lock %s: %w", s.root, s.unwritable)
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	if unlock, err = s.lock.acquire(ctx); err != nil {
		return nil, err
	}
	if err := s.checkFormat(); err != nil { // a newer program may have raised it since the store was opened
		unlock()
		return nil, &outdated{err}
	}
	return unlock, nil
}

// LockFile waits for the right to replace a file that is no part of a store, or
// that many may replace without the store lock, such as a set of questions. The
// lock is a hidden, empty file beside it, which stays; its folder must be there.
// Whoever holds it calls no network and no model, as with BeginWrite.
func LockFile(ctx context.Context, file string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, LockTimeout)
	defer cancel()
	l := newProcessLock(filepath.Join(filepath.Dir(file), layout.LockOf(filepath.Base(file))))
	return l.acquire(ctx)
}

// acquire waits in the kernel's queue: processes that asked by turns cost each
// other processor time, and the one that came first could come last.
func (l *processLock) acquire(ctx context.Context) (func(), error) {
	select {
	case l.held <- struct{}{}:
	default: // not above: of two that are ready select takes any, and a free lock is taken by whoever asks
		select {
		case l.held <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", l.path, ErrLocked)
		}
	}
	f := flock.New(l.path, flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if !ok && err == nil {
		got := make(chan error, 1)
		go func() { got <- f.Lock() }()
		select {
		case err = <-got:
		case <-ctx.Done():
			err = ErrLocked
			go func() { // nothing takes it out of the queue: what comes too late is given back
				if <-got == nil {
					_ = f.Unlock()
				}
			}()
		}
	}
	if err != nil {
		<-l.held
		return nil, fmt.Errorf("lock %s: %w", l.path, err)
	}
	return func() { _ = f.Unlock(); <-l.held }, nil
}

// TryLock takes the named lock ("sync" or "drain") if nobody has it; those
// runs are single, so whoever comes second leaves.
func (s *Store) TryLock(name string) (unlock func(), ok bool, err error) {
	err = s.unwritable
	if err == nil {
		if err = s.checkFormat(); err != nil {
			err = &outdated{err}
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", s.root, err)
	}
	f := flock.New(s.Path(name+".lock"), flock.SetPermissions(0o600))
	ok, err = f.TryLock()
	if err != nil || !ok {
		return nil, false, err
	}
	return func() { _ = f.Unlock() }, true, nil
}
