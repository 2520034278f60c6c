package postgres

import (
	"encoding/binary"
	"errors"
	"slices"

	"anamnesis/internal/index"
)

// The table postings has a row for each token and each run of 1024 keys of passages.
// Its data is a list: the number of passages, and then for each passage its distance from
// the one before, some bits of its project, and how often title, tags and body hold the
// token, all as varints. Rows of one token that stand one after the other are read as
// they are. A new passage has a greater key than all others, so that its posting is
// appended: the list of a row is several of these, one after the other.

// runBits is by how many bits the key of a passage is greater than its run.
const runBits = 10

// A posting says how often the fields of a passage hold a token. group stands for its
// project: two may share one, and the filter tells them apart afterwards.
type posting struct {
	passage int64
	group   uint16
	counts  [index.NumFields]int
}

// groupOf makes the bits of a project: as many as two bytes of a varint hold.
func groupOf(project string) uint16 { return uint16(index.ProjectGroup(project) & (1<<14 - 1)) }

// A place is a row of postings.
type place struct {
	token int32
	run   int64
}

// appendList appends a list of postings, whose passages ascend.
func appendList(b []byte, all []posting) []byte {
	if len(all) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(len(all)))
	last := int64(0)
	for _, p := range all {
		b = binary.AppendUvarint(b, uint64(p.passage-last))
		last = p.passage
		b = binary.AppendUvarint(b, uint64(p.group))
		for _, n := range p.counts {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	return b
}

var errPostings = errors.New("a list of postings cannot be read; `anamnesis doctor reindex` rebuilds the shared index of this machine")

// eachPosting calls f for every posting of lists, until it returns false.
func eachPosting[T []byte | string](lists T, f func(posting) bool) error {
	b := []byte(lists)
	bad := false
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			bad = true
			return 0
		}
		b = b[n:]
		return v
	}
	for len(b) > 0 {
		left, passage := next(), int64(0)
		for ; left > 0 && !bad; left-- {
			p := posting{passage: passage + int64(next())}
			passage = p.passage
			p.group = uint16(next())
			for i := range p.counts {
				p.counts[i] = int(min(next(), 1<<20))
			}
			if !bad && !f(p) {
				return nil
			}
		}
		if bad {
			return errPostings
		}
	}
	return nil
}

// without returns a list without some passages, and how many are left.
func without(lists []byte, gone map[int64]bool) (list []byte, left int, err error) {
	var kept []posting
	err = eachPosting(lists, func(p posting) bool {
		if !gone[p.passage] {
			kept = append(kept, p)
		}
		return true
	})
	return appendList(nil, kept), len(kept), err
}

// A gathering holds the postings of new passages, whose keys ascend.
type gathering map[place][]posting

// add adds the tokens of a passage.
func (g gathering) add(passage int64, group uint16, fields [index.NumFields][]string) {
	counts := make(map[int32]*[index.NumFields]int)
	for f, tokens := range fields {
		for _, t := range tokens {
			hash := int32(index.TokenHash(t))
			if counts[hash] == nil {
				counts[hash] = new([index.NumFields]int)
			}
			counts[hash][f]++
		}
	}
	for hash, n := range counts {
		at := place{hash, passage >> runBits}
		g[at] = append(g[at], posting{passage, group, *n})
	}
}

// split returns the places of runs that passages up to last have begun (true), whose rows
// may be there, and those of runs that are new.
func (g gathering) split(last int64) map[bool][]place {
	parts := make(map[bool][]place, 2)
	for at := range g {
		begun := at.run <= last>>runBits
		parts[begun] = append(parts[begun], at)
	}
	return parts
}

// columns returns places in their order, and what stands there, as columns.
func (g gathering) columns(places []place) (tokens []int32, runs []int64, counts []int32, data [][]byte) {
	slices.SortFunc(places, func(a, b place) int {
		if a.token != b.token {
			return int(min(1, max(-1, int64(a.token)-int64(b.token))))
		}
		return int(min(1, max(-1, a.run-b.run)))
	})
	for _, at := range places {
		tokens, runs = append(tokens, at.token), append(runs, at.run)
		counts, data = append(counts, int32(len(g[at]))), append(data, appendList(nil, g[at]))
	}
	return tokens, runs, counts, data
}
