package replica

import (
	"context"
	"sync"
)

// Plumbing is a repository as the cycle sees it: git, and the double of replicatest.
// Commits and blobs have opaque names; the empty name is the commit
// before the first one, whose tree is empty.
type Plumbing interface {
	// Snapshot commits the paths that changed, all when nil.
	Snapshot(ctx context.Context, paths []string) (Snapshot, error)
	// Fetch gets the branch of the remote. Found is false when the remote has
	// none. What went wrong is a *LinkError.
	Fetch(ctx context.Context) (found bool, err error)
	// Refs returns the commits that matter.
	Refs(ctx context.Context) (Refs, error)
	// Distance counts the commits that only ours has, and those that only one of theirs has.
	Distance(ctx context.Context, ours string, theirs ...string) (ahead, behind int, err error)
	// Deleters tells for paths that are in ours and not in theirs who deleted them
	// there. What nobody can tell is left out.
	Deleters(ctx context.Context, ours, theirs string, gone []string) (map[string]string, error)
	// Bases returns the best common ancestors, in the order of their names.
	Bases(ctx context.Context, a, b string) ([]string, error)
	// Deltas returns what differs between two trees, for each pair, in any order.
	Deltas(ctx context.Context, pairs ...[2]string) ([][]Delta, error)
	// List returns the files of a commit by path.
	List(ctx context.Context, commit string) (map[string]Entry, error)
	// Blobs reads blobs; those over the limit of bytes for one file are left out.
	Blobs(ctx context.Context, ids []string) (map[string][]byte, error)
	// Record writes the merge of two commits, the tree of ours with the steps.
	Record(ctx context.Context, ours, theirs string, steps []Step) (commit string, err error)
	// Stage makes the index what the commit will be. Written paths are read from
	// the tree; the rest is set as it is, and hidden when the tree must not have it.
	Stage(ctx context.Context, written []string, rest []Step) error
	// Move makes commit the newest one. It fails with ErrMoved if ours no longer is.
	Move(ctx context.Context, ours, commit, theirs string) error
	// Outgoing returns the files of those commits that the remote does not have and
	// that no sync made, in any order.
	Outgoing(ctx context.Context, commit, theirs string) ([]OutgoingCommit, error)
	// Push offers the commit to the remote. What went wrong is a *LinkError.
	Push(ctx context.Context, commit string) error

	// Look is the command with which a person looks at what was fetched.
	Look() string

	// Read returns a plain file of the tree, nil when there is none.
	Read(path string) ([]byte, error)
	// Stands tells whether a path is a plain file in the tree, not behind a link,
	// or whether nothing is there. A link or a folder in its place is neither.
	Stands(path string) (regular, gone bool)
	// Hidden returns the known paths that are committed but not in the tree.
	Hidden(ctx context.Context) (map[string]bool, error)
	// Apply is the Options.Apply of those who give none.
	Apply([]Change) (changed []string, err error)
	// SetAttributes writes .gitattributes.
	SetAttributes(data []byte) error

	// Backoff is what is remembered about a remote that could not be reached.
	Backoff() Backoff
	SetBackoff(Backoff) error
}

// A Snapshot is what a commit of local changes found.
type Snapshot struct {
	Committed bool
	Held      []WithheldFile // in order
}

// Refs are the commits that matter; empty when there is none.
type Refs struct {
	Ours   string
	Short  string // of ours
	Theirs string // as just fetched
	Known  string // what the remote had when it was last in step with us
}

// An Entry is a file in a tree; the zero Entry is none.
type Entry struct{ Mode, ID string }

// plain reports whether an entry is a file and no link, folder or submodule.
func (e Entry) plain() bool { return e.Mode == "100644" || e.Mode == "100755" || e.Mode == "100664" }

// A Delta is a path on which two trees differ.
type Delta struct {
	Path     string
	Old, New Entry
}

// A Step is one path of a merge.
type Step struct {
	Path   string
	Ours   Entry  // what our tree has
	Next   Entry  // what the merged tree has; without id when data is new
	Old    []byte // content of ours, nil when absent or not to be read
	Data   []byte // content of next
	Theirs []byte // content of what the remote has, nil when absent or not to be read
	Hidden bool   // belongs into git's tree only
}

// Exchange runs one sync of what p keeps. Local is held while the tree and the
// branch are looked at and changed, not while the network is.
func Exchange(ctx context.Context, p Plumbing, o Options, local sync.Locker) (Outcome, error) {
	return (&cycle{p: p, o: o, local: local}).sync(ctx)
}

// Withheld says why a file with that content must not be committed, "" when it may.
func (o Options) Withheld(path string, data []byte) string {
	switch {
	case len(data) > MaxFile:
		return tooLarge
	case hasMarkers(data):
		return "it holds conflict markers; resolve them in the file"
	}
	if o.Hold != nil {
		if why := o.Hold(path, data); why != "" {
			return why
		}
	}
	if o.Claims != nil {
		return o.Claims(path, data)
	}
	return ""
}
