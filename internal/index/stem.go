package index

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// A stemmer reduces English words to their stems (Snowball's "English", which
// is Porter 2). It remembers words, because texts repeat them; it is not safe
// for concurrent use.
type stemmer struct {
	env  *snowballstem.Env
	seen map[string]string
}

// maxSeen bounds the memory of words.
const maxSeen = 1 << 13

func newStemmer() *stemmer {
	return &stemmer{env: snowballstem.NewEnv(""), seen: make(map[string]string)}
}

// stem returns the stem of a lower-case ASCII word. Words with digits and
// very short ones stay as they are: they are names.
func (s *stemmer) stem(w string) string {
	if len(w) < 4 {
		return w
	}
	if got, ok := s.seen[w]; ok {
		return got
	}
	for i := range len(w) {
		if !isLower(w[i]) {
			return w
		}
	}
	s.env.SetCurrent(w)
	english.Stem(s.env)
	if s.env.Current() == w && plural(w) {
		s.env.SetCurrent(w[:len(w)-1])
	}
	if len(s.seen) >= maxSeen {
		clear(s.seen)
	}
	got := s.env.Current()
	s.seen[w] = got
	return got
}

// plural reports whether a word is the plural of an abbreviation without
// vowels, such as jdks, which the stemmer takes for no word.
func plural(w string) bool {
	return strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.ContainsAny(w, "aeiouy")
}
