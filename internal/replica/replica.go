// Package replica keeps the notes tree of several machines the same.
//
// A Backend records what changed under memory/ and exchanges it with the other
// machines. It knows no notes: it is given a folder of files, knows which names
// in it are meant to travel (see Known), and asks its Options how two versions
// of a file become one. The files are the truth; what a backend keeps besides
// is its own, in a hidden folder beside them.
//
// A cycle commits, fetches, merges path by path in this process, writes the
// files, moves the branch, and pushes. The files are written before the branch
// moves. A machine that dies in between finds merged files as its own
// changes, and the next cycle comes to the same end, because a merge is idempotent:
// merging the merged version with the other side once more changes nothing.
//
// The failure policy is: never block, never drop. A machine without git works
// on locally (ErrNoGit), an unreachable remote is a state and no error
// (Outcome.Offline), a commit that has to wait leaves every file as it is
// (ErrBlocked), and a file that must not travel yet is held back by name while
// the others go (ErrHeld). What a remote holds is never trusted: names that are
// not Known, links and files of unusual size stay in git's tree and are never
// written beside the notes; histories that do not belong together are joined
// without a deletion. Nothing here asks questions: children have no terminal,
// no hooks and a time limit, and the user's git configuration only where a
// connection is made, so that credentials and proxies work.
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
// within a process; between processes the caller serialises them. A backend
// that keeps a history is a Historian too.
type Backend interface {
	// Commit records the present state of the given paths, which are relative to
	// the tree and use slashes; nil means all that are known. Unknown paths and
	// paths without a change are passed over. It reports whether there was
	// anything to record; ErrHeld can come with true.
	Commit(ctx context.Context, paths []string) (committed bool, err error)

	// Sync commits everything and exchanges it with the remote, if there is one.
	// What only the user can resolve is no error, but Outcome.Conflicted or
	// Outcome.Held; a remote that cannot be reached is Outcome.Offline.
	Sync(ctx context.Context) (Outcome, error)

	// State tells how things stand, and changes nothing. It does not ask the remote.
	State(ctx context.Context) (State, error)
}

// Options say which tree a backend keeps, and how. The zero value of every
// field but Dir is usable.
type Options struct {
	Backend   string // one of backends, "git" when empty
	Dir       string // the tree, memory/
	MachineID string
	// Installation tells machines of one name apart, as ULIDs do; it stands in the
	// messages of commits. Empty writes none.
	Installation string
	Remote       string // address of the remote, empty when there is none
	// Seal is the folder of this machine's keys: the remote gets sealed files only. Empty
	// sends notes as they are.
	Seal    string
	Env     []string
	Git     string           // the git program, "git" when empty
	Timeout time.Duration    // of one child process, 30 seconds when zero
	Now     func() time.Time // time.Now when nil

	// Automatic marks syncs that nobody waits for. After a failure they leave an
	// unreachable remote alone for a minute, then two, up to an hour.
	Automatic bool
	// MaxDelete is the share of the known files, 0 to 1, that one sync may delete
	// here, also by tombstones, and of the notes that it may take the text of; 0 is no
	// limit. One note may always go, with what belongs to it, and up to five files that
	// tombstones explain or that only moved, unless no note would be left and no
	// tombstone explains it.
	MaxDelete   float64
	AllowDelete bool // lets one sync pass in spite of MaxDelete

	Version     string // of this program, for what the remote asks of its writers
	ResetFormat bool   // what the remote asks of them is taken away from it

	Merger Merger                                // how two versions become one; by bytes when nil
	Settle func(Conflict) error                  // takes the versions that lost; an error ends the sync with nothing changed
	Hold   func(path string, data []byte) string // why a file must not travel yet, empty when it may; from several goroutines
	// NotYet says until when a file stays behind without a word, "" when it does not. What is committed of it already keeps its
	// commits back. nil when there is none; called as Hold is.
	NotYet func(path string, data []byte) string
	// Claims says why a form of a file must not become the remote's: it claims what this machine cannot confirm.
	// The newest commit counts alone, because the other machines take nothing from those before. Called as Hold is.
	Claims func(path string, data []byte) string
	Apply  func([]Change) (changed []string, err error) // writes to the tree; see Change. Own code when nil
	Tree   Tree                                         // what the double of replicatest reads instead of Dir; git reads Dir
	Title  func(data []byte) string                     // what a person calls a note, empty for its path; used in messages
	Says   func(data []byte) []string                   // in what forms a note says what it says; a copy that goes is no loss

	// Loss says what a change takes away of a note, and in a sentence why it does not
	// travel; here says that it was made in the tree. Nothing is lost when nil.
	Loss func(path string, was, now []byte, here bool) (Loss, string)
	// Erases returns the files of the tree that tombstones erase when the changes are
	// made, each with its present content.
	Erases func([]Change) ([]Change, error)

	// Driver is the command line of a merge driver, with git's %O %A %B %P, for
	// people who pull by hand. Empty leaves git's configuration as it is.
	Driver string
}

// Outcome is what a Sync did.
type Outcome struct {
	Committed  bool
	Pushed     bool
	Pulled     int            // commits of others
	Conflicted bool           // the user has something to resolve; Detail says what
	Offline    bool           // the remote could not be asked; Detail says why
	Held       bool           // what the remote has was not taken; Detail says why and what to do
	HeldFiles  []WithheldFile // files that were left out, or that keep everything from being pushed; Conflicted is true then
	Deletes    int            // files that the remote would have deleted here, when it is Held for that
	Removed    int            // notes that this sync deleted in the tree, those that moved left out
	Result     SyncResult     // how the exchange ended
	Why        string         // what Result comes from, empty when that is Synced or empty
	Conflicts  int            // versions that lost and were given to Options.Settle
	Changed    []string       // paths in the tree that this sync wrote or deleted, in order
	Ahead      int            // commits that the remote does not have, as far as is known
	Behind     int            // commits of the remote that are not here
	Head       string         // short name of the newest commit, empty when there is none
	Detail     string         // one line for the user
}

// State is how things stand in a tree.
type State struct {
	Initialized bool
	Remote      string // without a password
	Head        string
	Dirty       bool // known paths have changes that are not committed
	Ahead       int  // commits that the remote did not have when it was last asked
	Behind      int  // commits that the remote had then and that are not here, those that wait for the user too
	// Failures counts the syncs in a row that did not reach the remote; automatic
	// ones leave it alone until Next.
	Failures int
	Next     time.Time
	Detail   string // "ok", "not initialized", or what stands in the way
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
	// ErrDamaged means that the remote answers, but sends what git will not have.
	ErrDamaged = errors.New("the remote is damaged")
	// ErrRefused means that the remote answers and will not take a push.
	ErrRefused = errors.New("the remote refuses the push")
	// ErrSealed means that the remote holds sealed files where notes are sent as they are,
	// or notes where they are sealed, or that this machine may not read what is sealed.
	ErrSealed = errors.New("nothing was sent or taken")
)

// A backendKind is one way to keep trees the same.
type backendKind struct {
	Name string
	Doc  string
	open func(Options) (Backend, error)
}

// backends lists the ways, the default first.
var backends = []backendKind{
	{"git", "a git repository, and a remote if you set one", openTree},
	{"none", "nothing leaves the tree and nothing is recorded", openNone},
}

// Open returns the backend that o asks for. It starts no process and writes
// nothing. A remote that CheckRemote refuses is no reason for an error here: what
// is local works, State tells it, and Sync fails with ErrRemote.
func Open(o Options) (Backend, error) {
	if o.Backend == "" {
		o.Backend = backends[0].Name
	}
	var names []string
	for _, k := range backends {
		if k.Name == o.Backend {
			return k.open(o)
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("open replica: %q is not one of %s", o.Backend, strings.Join(names, ", "))
}
