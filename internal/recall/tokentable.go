package recall

import (
	"math/rand/v2"

	"anamnesis/internal/embed"
)

// A tokenTable keeps what a scorer found out about tokens. A question meets some
// thousand, most of which mean nothing to it: a table of numbers costs a third
// of a map of slices, and can be used again.
type tokenTable struct {
	slots []slot // a power of two of them, at most half taken
	taken int
	odd   uint32      // spreads tokens in a way that no note can know
	lists [][]match   // the first one is empty
	lanes embed.Lanes // of the token at hand

	nothing [1 << nothingBits]uint32 // some of the tokens that stand for nothing, at their last bits
}

// A slot is free when list is 0; otherwise what the token stands for is lists[list-1].
type slot struct{ token, list uint32 }

const leastSlots = 1 << 12

func newTokenTable() *tokenTable {
	s := &tokenTable{slots: make([]slot, leastSlots), odd: rand.Uint32() | 1, lists: make([][]match, 1)}
	s.clear()
	return s
}

// Nine of ten tokens of a note stand for nothing: a look without a call is enough for
// most of them.
const nothingBits = 12

// isNothing reports whether a token stands for nothing. It may say no of one that does.
func (s *tokenTable) isNothing(token uint32) bool {
	return s.nothing[token&(1<<nothingBits-1)] == token
}

// clear makes the table empty.
func (s *tokenTable) clear() {
	clear(s.slots)
	clear(s.lists)
	clear(s.nothing[:])
	s.nothing[0] = 1 // its place is another: 0 is a token too
	s.taken, s.lists = 0, s.lists[:1]
}

// at returns the slot of a token, or the free one where it belongs.
func (s *tokenTable) at(token uint32) *slot {
	last := uint32(len(s.slots) - 1)
	h := token * s.odd
	for i := (h ^ h>>15) & last; ; i = (i + 1) & last {
		if at := &s.slots[i]; at.list == 0 || at.token == token {
			return at
		}
	}
}

// get returns what a token stands for; ok is false when nobody has put it.
func (s *tokenTable) get(token uint32) (got []match, ok bool) {
	list := s.at(token).list
	if list == 1 {
		s.nothing[token&(1<<nothingBits-1)] = token
	}
	if list <= 1 {
		return nil, list == 1
	}
	return s.lists[list-1], true
}

// put stores what a token, which is new, stands for.
func (s *tokenTable) put(token uint32, stands []match) {
	if 2*s.taken >= len(s.slots) {
		old := s.slots
		s.slots = make([]slot, 2*len(old))
		for _, o := range old {
			if o.list != 0 {
				*s.at(o.token) = o
			}
		}
	}
	list := uint32(1)
	if len(stands) > 0 {
		s.lists = append(s.lists, stands)
		list = uint32(len(s.lists))
	}
	*s.at(token) = slot{token, list}
	s.taken++
}
