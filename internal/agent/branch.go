package agent

import (
	"hash/maphash"
	"sort"
)

// Some agents write a tree: each record names the one before it, and a user who goes back to an
// earlier prompt begins a new branch behind the record before that prompt. The branch that was left
// stays in the file. Only the chain from the newest record of the talk to the first one is in force.

// A recordKind says what a record means for the branches.
type recordKind uint8

// The kinds of records.
const (
	otherRecord  recordKind = iota // part of a chain, and never the end of one
	talkRecord                     // said by the agent, or the result of a tool
	promptRecord                   // a prompt: a user who goes back takes one back
	steerRecord                    // words typed while the agent was at work
)

// A branchTree finds the records of the branches that the user left.
type branchTree struct {
	seed  maphash.Seed
	index map[uint64]int32 // by the hash of an id
	nodes []branchNode
	leaf  int32 // the newest record of the talk, or the one that the client went back to; -1 for none

	linked bool   // a record named the one before it: one that names none continues nothing
	first  int32  // prompt; -1 for none
	prompt int32  // the newest one; -1 for none
	moved  uint64 // the record that the client last said it went back to
	void   bool   // everything was taken back
}

type branchNode struct {
	parent uint64 // hash of the id; 0 for none
	offset int64
	kind   recordKind
	// prompts counts the prompts that continue the record.
	prompts int32
	root    bool // a prompt that continues nothing
	state   branchState
}

type branchState uint8

const (
	undecided branchState = iota
	inForce
	takenBack
)

func newBranchTree() branchTree {
	return branchTree{seed: maphash.MakeSeed(), index: make(map[uint64]int32), leaf: -1, first: -1, prompt: -1}
}

// hash returns the hash of an id, a JSON string of a record; 0 for none.
func (b *branchTree) hash(id []byte) uint64 {
	if !isString(id) || len(id) == 2 {
		return 0
	}
	return max(1, maphash.Bytes(b.seed, id))
}

// add takes a record. ids are JSON strings; a record without one is in no chain. parent is nil where
// the record has no member for it.
func (b *branchTree) add(id, parent []byte, kind recordKind, offset int64) {
	h := b.hash(id)
	if h == 0 || len(b.nodes) >= maxUUIDs {
		return
	}
	if _, dup := b.index[h]; dup {
		return
	}
	at := int32(len(b.nodes)) //nolint:gosec // below maxUUIDs
	b.index[h] = at
	n := branchNode{parent: b.hash(parent), offset: offset, kind: kind}
	n.root = n.parent == 0 && parent != nil && kind == promptRecord && (at == 0 || b.linked)
	p, known := b.index[n.parent]
	b.linked = b.linked || n.parent != 0 && known
	b.nodes = append(b.nodes, n)
	if kind != otherRecord {
		b.leaf, b.void = at, false
	}
	if kind == promptRecord {
		if b.prompt = at; b.first < 0 {
			b.first = at
		}
		if known && p != at {
			b.nodes[p].prompts++
		}
	}
}

// nilID is the id that Claude Code writes for the place before the first record.
const nilID = `"00000000-0000-0000-0000-000000000000"`

// back takes the client's word that the user went back to a record. The client repeats such a
// record, and may write it behind the prompt that followed: then the prompt says where it belongs.
func (b *branchTree) back(id []byte) {
	h := b.hash(id)
	if h == 0 || h == b.moved {
		return
	}
	b.moved = h
	at, known := b.index[h]
	switch {
	case b.prompt < 0:
	case string(id) == nilID:
		b.void = !b.nodes[b.prompt].root || b.first == b.prompt
	case known && b.nodes[at].prompts < 2: // with two, the newer one followed it when the user had gone back
		b.leaf = at
	}
}

// before returns the record that a record continues, -1 for none. One whose id is not known, because
// its line is damaged or in another file, continues the record before it in the file.
func (b *branchTree) before(at int32) int32 {
	n := &b.nodes[at]
	if n.root {
		return -1
	}
	if p, ok := b.index[n.parent]; ok && n.parent != 0 && p != at {
		return p
	}
	return at - 1
}

// decide sets the state of every record. A record outside the chain is taken back when
// its branch has a prompt: results of tools that ran side by side are leaves, too. Words that
// were typed while the agent was at work are taken back with a prompt above them, or when the chain
// goes on with another prompt where they branch off.
func (b *branchTree) decide() {
	next := make(map[int32]int32) // of a record in force, the one behind it
	for at, behind := b.leaf, int32(-1); !b.void && at >= 0 && b.nodes[at].state == undecided; at = b.before(at) {
		b.nodes[at].state, next[at] = inForce, behind
		behind = at
	}
	var path []int32
	for i := range b.nodes {
		path = path[:0]
		at := int32(i) //nolint:gosec // below maxUUIDs
		for at >= 0 && b.nodes[at].state == undecided && len(path) <= len(b.nodes) {
			path = append(path, at)
			b.nodes[at].state = inForce // ends a circle
			at = b.before(at)
		}
		state := inForce
		if at >= 0 {
			state = b.nodes[at].state
		}
		for k := len(path) - 1; k >= 0; k-- {
			n := &b.nodes[path[k]]
			if n.kind == promptRecord || n.kind == steerRecord && at >= 0 && b.leftAt(next, at) {
				state = takenBack
			}
			n.state = state
		}
	}
}

// leftAt reports whether the chain goes on behind a record in force with a prompt, or with nothing.
func (b *branchTree) leftAt(next map[int32]int32, at int32) bool {
	behind, ok := next[at]
	for ok && behind >= 0 && b.nodes[behind].kind == otherRecord {
		behind = next[behind]
	}
	return ok && (behind < 0 || b.nodes[behind].kind == promptRecord)
}

// left reports whether the user took back the record that begins at an offset. decide was called.
func (b *branchTree) left(offset int64) bool {
	i := sort.Search(len(b.nodes), func(i int) bool { return b.nodes[i].offset >= offset })
	return i < len(b.nodes) && b.nodes[i].offset == offset && b.nodes[i].state == takenBack
}
