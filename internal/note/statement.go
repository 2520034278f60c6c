package note

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Statement returns what a note says: its title and its body.
func (n *Note) Statement() string { return n.Title + "\n" + n.Body }

// Normalize brings a statement into the form in which two of them are
// compared: NFKC, lower case, every run of characters that are neither letters
// nor digits one space. A statement of nothing but symbols stays as it is, so
// that two different ones differ.
func Normalize(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	gap := false
	s = norm.NFKC.String(s)
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	if b.Len() == 0 {
		return strings.TrimSpace(s)
	}
	return b.String()
}

// Simhash folds the hashes of words into 64 bits such that similar lists of
// words get hashes that differ in few bits (Charikar, STOC 2002). Neighbouring
// words count as pairs too, so that order matters.
func Simhash(words []string, hash func(string) uint64) uint64 {
	var sums [64]int
	add := func(h uint64) {
		for i := range sums {
			sums[i] += int(h>>i&1)*2 - 1
		}
	}
	prev := uint64(0)
	for i, w := range words {
		h := hash(w)
		add(h)
		if i > 0 {
			add(prev*0x9e3779b97f4a7c15 ^ h)
		}
		prev = h
	}
	var sim uint64
	for i, n := range sums {
		if n > 0 {
			sim |= 1 << i
		}
	}
	return sim
}
