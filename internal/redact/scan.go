package redact

import (
	"slices"
	"strings"
	"sync"
)

// A scan is one pass over one text: what was found, and how far each kind of
// matcher has already looked, so that no byte is read again and again.
type scan struct {
	s      string
	found  []Finding
	values []span // of what was found: the secrets themselves

	row *detector // whose key was found

	tagged  bool     // there may be a private tag
	windows [][]span // around the keywords of each user's rule

	names   *[32]namedClass // some of those that were judged
	nameEnd int             // names before this offset have been judged
	runEnd  int             // no space or quote before this offset ...
	runFrom int             // ... counted from this one
	done    int             // structures before this offset have been read

	readEnd [password + 1]int // sentences before this offset have been read, for each class of name

	userOp     operator // users before userEnd that are written so have been masked
	userQuoted bool
	userEnd    int

	webEnd      int      // web tokens before this offset have been judged
	hookEnd     int      // addresses of webhooks before this offset have been judged
	lastCommand *command // the last command read ...
	commandEnd  int      // ... and where its line ends

	tokenEnd  int      // the end of the last token of known form
	failed    *pattern // the last rule whose pattern did not match ...
	failedEnd int      // ... and where the run of bytes ends in which it did not
}

// add masks a secret of the row at hand.
func (x *scan) add(start, end int) { x.addAs(x.row.rule, start, end) }

func (x *scan) addAs(rule string, start, end int) {
	if start < end {
		x.found = append(x.found, Finding{rule, start, end})
		x.values = append(x.values, span{start, end})
	}
}

// addBeside masks what stands beside a secret and is no secret: the name of
// a user, the address of a database. It is not masked elsewhere.
func (x *scan) addBeside(start, end int) {
	if start < end {
		x.found = append(x.found, Finding{x.row.rule, start, end})
	}
}

// A keyword is one of the keys of a row, which has at least three bytes.
type keyword struct {
	text  string // lower case, unless it is exact
	exact bool
	row   *detector
	skip  int // how far behind its beginning the three bytes stand that the filter looks for
}

// rarest returns the offset of the three bytes of a keyword that English has least.
func rarest(text string) (at int) {
	best := -1
	for i := 0; i+3 <= len(text); i++ {
		if score := rarity(lower(text[i])) + rarity(lower(text[i+1])) + rarity(lower(text[i+2])); score > best {
			best, at = score, i
		}
	}
	return at
}

// rarity says how seldom English has a byte.
func rarity(c byte) int {
	if place := frequent[c]; place > 0 {
		return int(place) - 1
	}
	return 13 // folded onto a letter, we do not know which
}

// frequent is the place, counted from one, of the bytes that English has most, the most
// frequent first.
var frequent = [256]uint8{
	' ': 1, 'e': 2, 't': 3, 'a': 4, 'o': 5, 'i': 6, 'n': 7, 's': 8, 'h': 9, 'r': 10, 'd': 11, 'l': 12, 'u': 13, 'c': 14,
	'm': 15, 'f': 16, 'w': 17, 'y': 18, 'p': 19, 'v': 20, 'b': 21, 'g': 22, 'k': 23, 'q': 24, 'j': 25, 'x': 26, 'z': 27,
}

// A filter finds keywords. It hashes each three bytes of the text, letters
// folded, into fifteen bits and asks a bit table whether any keyword begins so;
// 4 KB of table and a handful of instructions a byte carry us over clean text.
type filter struct {
	bits   [1 << 10]uint32
	heads  [1 << 15]uint16 // the group of each trigram, counted from one
	groups []group
	next   []uint16 // the following keyword of the same trigram
	words  []keyword
}

// A group is the keywords of one trigram. Most trigrams of a text are in words that are no
// keyword, which the bytes around them tell.
type group struct {
	before, after uint32 // a bit for each byte, letters folded, that stands there in a keyword
	first         uint16 // keyword, counted from one
}

const any32 = 1<<32 - 1

func trigram(a, b, c byte) uint32 {
	return uint32(a&31)<<10 | uint32(b&31)<<5 | uint32(c&31)
}

// newFilter returns a filter for the table and the user's own rules.
func newFilter(own []*userRule) *filter {
	words := slices.Clip(builtinKeywords())
	for i, u := range own {
		words = append(words, u.keywords(i)...)
	}
	return filterOf(words)
}

// filterOf returns a filter that finds the words.
func filterOf(words []keyword) *filter {
	f := &filter{words: words}
	f.next = make([]uint16, len(f.words)+1)
	f.groups = make([]group, 0, len(f.words))
	for i := len(f.words); i > 0; i-- {
		text, skip := f.words[i-1].text, f.words[i-1].skip
		h := trigram(text[skip], text[skip+1], text[skip+2])
		f.bits[h>>5] |= 1 << (h & 31)
		if f.heads[h] == 0 {
			f.groups = append(f.groups, group{})
			f.heads[h] = uint16(len(f.groups))
		}
		g := &f.groups[f.heads[h]-1]
		f.next[i], g.first = g.first, uint16(i)
		if skip > 0 {
			g.before |= 1 << (text[skip-1] & 31)
		} else {
			g.before = any32
		}
		if skip+3 < len(text) {
			g.after |= 1 << (text[skip+3] & 31)
		} else {
			g.after = any32
		}
	}
	return f
}

// builtinKeywords holds the keys of the table.
var builtinKeywords = sync.OnceValue(func() []keyword {
	const about = 1100 // so that the list does not grow piece by piece
	all, rows := make([]keyword, 0, about), detectors()
	for i := range rows {
		for key := range strings.SplitSeq(rows[i].keys, "|") {
			k := keyword{text: key, exact: rows[i].exact, row: &rows[i]}
			if !rows[i].named {
				k.skip = rarest(key)
			}
			all = append(all, k)
		}
	}
	return all
})

// builtinFilter is the filter of the built-in rules alone. All Redactors without rules of
// a user share it.
var builtinFilter = sync.OnceValue(func() *filter { return newFilter(nil) })

// run calls the matcher of each keyword in the text, in order.
func (f *filter) run(x *scan) {
	s := x.s
	var h uint32
	for i := 0; i < len(s); i++ {
		h = (h<<5 | uint32(s[i]&31)) & (1<<15 - 1)
		if f.bits[h>>5]&(1<<(h&31)) != 0 && i >= 2 {
			f.visit(x, i-2, h)
		}
	}
}

// visit calls the matchers of the keywords whose three bytes stand at the offset at.
func (f *filter) visit(x *scan, at int, h uint32) {
	g := &f.groups[f.heads[h]-1]
	if at+3 < len(x.s) && g.after&(1<<(x.s[at+3]&31)) == 0 || at > 0 && g.before&(1<<(x.s[at-1]&31)) == 0 {
		return
	}
	for k := g.first; k != 0; k = f.next[k] {
		w := &f.words[k-1]
		i := at - w.skip
		if i < 0 {
			continue
		}
		if w.exact && !strings.HasPrefix(x.s[i:], w.text) || !w.exact && !hasFold(x.s, i, w.text) {
			continue
		}
		x.row = w.row
		w.row.match(x, i, i+len(w.text))
	}
}
