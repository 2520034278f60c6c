package replica

import "context"

// plumbing is a repository as the cycle sees it. git implements it, and so does
// memory. Commits and blobs have opaque names; the empty name is the commit
// before the first one, whose tree is empty.
type plumbing interface {
	// snapshot commits the paths that changed, all when nil.
	snapshot(ctx context.Context, paths []string) (snapshot, error)
	// fetch gets the branch of the remote. Found is false when the remote has
	// none. What went wrong is a *linkError.
	fetch(ctx context.Context) (found bool, err error)
	refs(ctx context.Context) (refs, error)
	// distance counts the commits that only ours has, and those that only one of theirs has.
	distance(ctx context.Context, ours string, theirs ...string) (ahead, behind int, err error)
	// deleters tells for paths that are in ours and not in theirs who deleted them
	// there. What nobody can tell is left out.
	deleters(ctx context.Context, ours, theirs string, gone []string) (map[string]string, error)
	// bases returns the best common ancestors, in the order of their names.
	bases(ctx context.Context, a, b string) ([]string, error)
	// diff returns what differs between two trees, for each pair, in any order.
	diff(ctx context.Context, pairs ...[2]string) ([][]delta, error)
	list(ctx context.Context, commit string) (map[string]entry, error)
	// blobs reads blobs; those over the limit of bytes for one file are left out.
	blobs(ctx context.Context, ids []string) (map[string][]byte, error)
	// record writes the merge of two commits, the tree of ours with the steps.
	record(ctx context.Context, ours, theirs string, steps []step) (commit string, err error)
	// stage makes the index what the commit will be. Written paths are read from
	// the tree; the rest is set as it is, and hidden when the tree must not have it.
	stage(ctx context.Context, written []string, rest []step) error
	// move makes commit the newest one. It fails with errMoved if ours no longer is.
	move(ctx context.Context, ours, commit, theirs string) error
	// outgoing returns the files of those commits that the remote does not have and
	// that no sync made, in any order.
	outgoing(ctx context.Context, commit, theirs string) ([]outgoingCommit, error)
	// push offers the commit to the remote. What went wrong is a *linkError.
	push(ctx context.Context, commit string) error

	// look is the command with which a person looks at what was fetched.
	look() string

	// read returns a plain file of the tree, nil when there is none.
	read(path string) ([]byte, error)
	// stands tells whether a path is a plain file in the tree, not behind a link,
	// or whether nothing is there. A link or a folder in its place is neither.
	stands(path string) (regular, gone bool)
	// hidden returns the known paths that are committed but not in the tree.
	hidden(ctx context.Context) (map[string]bool, error)
	// apply is the Options.Apply of those who give none.
	apply([]Change) (changed []string, err error)
	// attributes writes the file of that name.
	attributes(data []byte) error

	backoff() backoff
	setBackoff(backoff) error
}

// A snapshot is what a commit of local changes found.
type snapshot struct {
	committed bool
	held      []HeldFile // in order
}

// refs are the commits that matter; empty when there is none.
type refs struct {
	ours   string
	short  string // of ours
	theirs string // as just fetched
	known  string // what the remote had when it was last in step with us
}

// An entry is a file in a tree; the zero entry is none.
type entry struct{ mode, id string }

// plain reports whether an entry is a file and no link, folder or submodule.
func (e entry) plain() bool { return e.mode == "100644" || e.mode == "100755" || e.mode == "100664" }

type delta struct {
	path     string
	old, new entry
}

// A step is one path of a merge.
type step struct {
	path   string
	ours   entry  // what our tree has
	next   entry  // what the merged tree has; without id when data is new
	old    []byte // content of ours, nil when absent or not to be read
	data   []byte // content of next
	hidden bool   // belongs into git's tree only
}
