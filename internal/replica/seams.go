package replica

import (
	"bytes"
	"crypto/sha256"
)

// A Merger is asked at most once per merge, before the first path that has to
// be merged. Theirs is the tree of the other side, read-only, with the plain
// files in it; it is good until the merge is over.
type Merger func(theirs Tree) (Merge, error)

// A Merge makes one version of two that both differ from base and from each
// other. A nil slice is a file that is not there, so an edit against a deletion
// and two additions come here too, and so does a file that only they have: it
// may be one that was got rid of here. Merged is the version that stays, nil to
// delete; other is a version that lost and must be kept for the user, nil when
// merged holds everything.
//
// It must give the same for the same arguments on every machine, with ours and
// theirs exchanged too, and Merge(path, base, merged, theirs) must be merged
// with no other: a sync that was cut off asks again.
type Merge func(path string, base, ours, theirs []byte) (merged, other []byte, err error)

// A Conflict is a merge with a version that lost.
type Conflict struct {
	Path                              string
	Base, Ours, Theirs, Merged, Other []byte
	OursAt, TheirsAt                  string // commits; OursAt is empty for a file that was not committed
}

// A Change is one file to be written. Old is what has to be there for that, nil
// for nothing; New is what to write, nil to delete.
//
// Options.Apply writes durably, or not at all, each of the changes whose file
// is still equal to Old. It returns the paths of the others, and the sync
// begins again with them. An error ends the sync.
type Change struct {
	Path     string
	Old, New []byte
	Theirs   []byte // what the remote has
	Merged   bool   // New was made of what the remote has and of what is here; else it is what the remote has
}

// A Tree is a tree of files that is no folder: that of a commit, or a work tree in memory.
type Tree interface {
	List() ([]string, error) // the paths of all files, with slashes, in any order
	Read(path string) ([]byte, error)
}

// byBytes is the Merge of those who give none: the greater hash wins, and an
// edit wins over a deletion. What is the winner already stays it, so that a
// second merge with the same other side finds no conflict only when Settle kept
// the first; the loser is handed out again, which is harmless.
func byBytes(_ string, base, ours, theirs []byte) (merged, other []byte, err error) {
	switch {
	case same(ours, theirs), same(theirs, base):
		return ours, nil, nil
	case same(ours, base):
		return theirs, nil, nil
	case theirs == nil:
		return ours, nil, nil
	case ours == nil:
		return theirs, nil, nil
	}
	a, b := sha256.Sum256(ours), sha256.Sum256(theirs)
	if bytes.Compare(a[:], b[:]) > 0 {
		return ours, theirs, nil
	}
	return theirs, ours, nil
}
