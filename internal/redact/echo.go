package redact

import (
	"net/url"
	"slices"
	"strings"
)

// Bounds of what is masked wherever it stands: how many bytes a secret has, and
// how many secrets we look for. Beyond them a text is no session of a person.
const (
	shortestEcho = 4
	longestEcho  = 512
	mostEchoes   = 256
)

// A memory holds secrets and finds them in texts, all of them in one pass: it hashes each
// four bytes of a text and asks a bit table whether any secret ends so. Their ends tell
// secrets apart where they begin alike, as the keys of one service do.
//
// It may be read by many goroutines once nobody adds to it.
type memory struct {
	words []string // in the order in which they were learnt
	bits  [1 << 10]uint32
	heads [1 << 10]uint16 // the last word of each hash, counted from one
	next  []uint16        // the word of the same hash before
}

// ending adds a byte to the last four of a text, and hashes them.
func ending(last uint32, c byte) (now, hash uint32) {
	now = last>>8 | uint32(c)<<24
	return now, now * 0x9e3779b1
}

func (m *memory) add(word string) {
	var last, h uint32
	for i := len(word) - shortestEcho; i < len(word); i++ {
		last, h = ending(last, word[i])
	}
	m.words = append(m.words, word)
	m.bits[h>>22] |= 1 << (h >> 17 & 31)
	m.next = append(m.next, m.heads[h>>22])
	m.heads[h>>22] = uint16(len(m.words))
}

// has reports whether the memory holds the word. None holds none.
func (m *memory) has(word string) bool {
	if m == nil || len(word) < shortestEcho {
		return false
	}
	var last, h uint32
	for i := len(word) - shortestEcho; i < len(word); i++ {
		last, h = ending(last, word[i])
	}
	for k := m.heads[h>>22]; k != 0; k = m.next[k-1] {
		if m.words[k-1] == word {
			return true
		}
	}
	return false
}

// count is how many words the memory holds.
func (m *memory) count() int {
	if m == nil {
		return 0
	}
	return len(m.words)
}

// echoes adds to found where the secrets stand in s, as words of their own.
func (m *memory) echoes(s string, found []Finding) []Finding {
	if m.count() == 0 {
		return found
	}
	var ends []int // where each word was met last; it does not overlap itself
	var last, h uint32
	for i := 0; i < len(s); i++ {
		last, h = ending(last, s[i])
		if m.bits[h>>22]&(1<<(h>>17&31)) == 0 {
			continue
		}
		for k := m.heads[h>>22]; k != 0; k = m.next[k-1] {
			word, end := m.words[k-1], i+1
			start := end - len(word)
			if start < 0 || s[start:end] != word {
				continue
			}
			if ends == nil {
				ends = make([]int, len(m.words))
			}
			if start < ends[k-1] {
				continue
			}
			ends[k-1] = end
			if isAlnum(word[0]) && !boundary(s, start) || end < len(s) && isAlnum(word[len(word)-1]) && isAlnum(s[end]) {
				continue
			}
			found = append(found, Finding{"same-secret", start, end})
		}
	}
	return found
}

// known are the secrets that are masked wherever they stand.
type known struct {
	others *memory // of other texts; nobody adds to it any more
	own    *memory // of the text at hand
}

func (k *known) has(word string) bool { return k.others.has(word) || k.own.has(word) }
func (k *known) full() bool           { return k.others.count()+k.own.count() >= mostEchoes }

func (k *known) add(word string) {
	if k.own == nil {
		k.own = &memory{}
	}
	k.own.add(word)
}

// all returns a memory of all that is known.
func (k *known) all() *memory {
	switch {
	case k.own == nil:
		return k.others
	case k.others == nil:
		return k.own
	}
	both := &memory{}
	for _, word := range slices.Concat(k.others.words, k.own.words) {
		both.add(word)
	}
	return both
}

// learn adds the secrets of a scan to those that are known.
func (r *Redactor) learn(x *scan, k *known) {
	for _, v := range x.values {
		if k.full() {
			break
		}
		word := v.of(x.s)
		if k.has(word) || !echoing(word) || (len(r.allow) > 0 || len(r.stopwords) > 0) && r.allowed(word) {
			continue
		}
		k.add(word)
		if plain, err := url.QueryUnescape(word); err == nil && plain != word && strings.Contains(word, "%") && echoing(plain) {
			k.add(plain)
		}
	}
}

// echoing reports whether a secret can be distinguished from the words around it when it
// stands elsewhere: a number of four digits is a year as well, and the password
// "main" a branch.
func echoing(v string) bool {
	if len(v) < shortestEcho || len(v) > longestEcho || strings.Contains(v, mark) || strings.Contains(v, privateMark) ||
		strings.TrimSpace(v) != v {
		return false
	}
	low := strings.ToLower(v)
	if isFiller(v) || commonUsers()[low] || isSecretWord(v) {
		return false
	}
	sh := shapeOf(v)
	switch {
	case sh.lower+sh.upper+sh.symbol+sh.wide == 0:
		return len(v) >= 6 // 4711 is too many things
	case wordlike(v):
		return len(v) >= 6
	}
	return true
}
