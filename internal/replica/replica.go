// Package replica keeps the notes tree of several machines the same.
//
// A Backend records what changed under memory/ and exchanges it with the other
// machines. It knows no notes: it is given a folder of files and knows which
// names in it are meant to travel (see Known). The files are the truth; what a
// backend keeps besides is its own, in a hidden folder beside them.
//
// The failure policy is: never block, never drop. A machine without git works
// on locally (ErrNoGit), a commit that has to wait leaves every file as it is
// (ErrBlocked), and a file that must not travel yet is held back by name while
// the others go (ErrHeld). Nothing here asks questions: children have no
// terminal, no hooks, no user configuration, and a time limit.
//
// The package reads no environment variables. A caller passes its environment
// in Options, and holds the lock that keeps two processes from syncing at once.
package replica

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A Backend keeps one notes tree. Its methods are safe for concurrent use
// within a process; between processes the caller serialises them.
type Backend interface {
	// Commit records the present state of the given paths, which are relative to
	// the tree and use slashes; nil means all that are known. Unknown paths and
	// paths without a change are passed over. It reports whether there was
	// anything to record; ErrHeld can come with true.
	Commit(ctx context.Context, paths []string) (committed bool, err error)

	// Sync commits everything and exchanges it with the remote, if there is one.
	// What only the user can resolve is no error, but Outcome.Conflicted.
	Sync(ctx context.Context) (Outcome, error)

	// State tells how things stand, and changes nothing.
	State(ctx context.Context) (State, error)
}

// Options say which tree a backend keeps, and how.
type Options struct {
	Backend   string // one of Backends, "git" when empty
	Dir       string // the tree, memory/
	MachineID string
	Remote    string // address of the remote, empty when there is none
	Env       []string
	Git       string           // the git program, "git" when empty
	Timeout   time.Duration    // of one child process, 30 seconds when zero
	Now       func() time.Time // time.Now when nil
}

// Outcome is what a Sync did.
type Outcome struct {
	Committed  bool
	Pushed     bool
	Pulled     int    // commits of others
	Conflicted bool   // the user has something to resolve; Detail says what
	Head       string // short name of the newest commit, empty when there is none
	Detail     string // one line for the user
}

// State is how things stand in a tree.
type State struct {
	Initialized bool
	Remote      string
	Head        string
	Dirty       bool   // known paths have changes that are not committed
	Detail      string // "ok", "not initialized", or what stands in the way
}

// What callers tell apart. The messages around them name the next step.
var (
	// ErrNoGit means that there is no git, or an old one: go on without.
	ErrNoGit = errors.New("no usable git")
	// ErrBlocked means that nothing was committed, because the user is in the
	// middle of something in the tree.
	ErrBlocked = errors.New("the notes repository cannot be committed to now")
	// ErrHeld means that some files were left out of a commit.
	ErrHeld = errors.New("held back")
)

// A Kind is one way to keep trees the same.
type Kind struct {
	Name string
	Doc  string
	open func(Options) (Backend, error)
}

// Backends lists the ways, the default first.
var Backends = []Kind{
	{"git", "a git repository, and a remote if you set one", openGit},
	{"none", "nothing leaves the tree and nothing is recorded", openNone},
}

// Open returns the backend that o asks for. It starts no process and writes nothing.
func Open(o Options) (Backend, error) {
	if o.Backend == "" {
		o.Backend = Backends[0].Name
	}
	var names []string
	for _, k := range Backends {
		if k.Name == o.Backend {
			return k.open(o)
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("open replica: %q is not one of %s", o.Backend, strings.Join(names, ", "))
}
