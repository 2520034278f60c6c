package redact

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

// The lists of words stand in files of their own, which say what they are for. Each
// is read when it is first asked.
//
//go:embed words
var wordFiles embed.FS

var (
	passwordNames   = wordSet("password-names")
	otherTokens     = wordSet("other-tokens")
	weakNames       = wordSet("weak-names")
	plainKeys       = wordSet("plain-keys")
	secretKeys      = wordSet("secret-keys")
	qualifiers      = wordSet("qualifiers")
	attributes      = wordSet("attributes")
	verbs           = wordSet("verbs")
	stopwords       = wordSet("stopwords")
	passwordEndings = wordList("password-endings")
	secretEndings   = wordList("secret-endings")
	commonUsers     = wordSet("common-users")
	copulas         = wordSet("copulas")
	foreignNames    = wordList("foreign-names")
	namingWords     = wordSet("naming-words")
	ownerWords      = wordSet("owner-words")
	sentenceWords   = wordSet("sentence-words")
	states          = wordSet("states")
	passWords       = wordSet("pass-words")
	techWords       = wordSet("tech-words")
	techParts       = wordSet("tech-parts")
	references      = wordList("references")
	referencesBy    = sync.OnceValue(func() *[256][]string { return byFirst(references()) })
	placeholders    = sync.OnceValue(func() *needles { return newNeedles(wordList("placeholders")()) })
)

// byFirst sorts words by their first byte.
func byFirst(words []string) *[256][]string {
	var by [256][]string
	for _, w := range words {
		by[w[0]] = append(by[w[0]], w)
	}
	return &by
}

// needles are words of two bytes at least that are looked for in one pass over a text.
type needles struct {
	pairs [1 << 11]uint32 // a bit for each first two bytes
	by    *[256][]string
}

func newNeedles(words []string) *needles {
	n := &needles{by: byFirst(words)}
	for _, w := range words {
		n.pairs[int(w[0]>>5)<<8|int(w[1])] |= 1 << (w[0] & 31)
	}
	return n
}

// in reports whether any of the words stands in s, in any case.
func (n *needles) in(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		a, b := lower(s[i]), lower(s[i+1])
		if n.pairs[int(a>>5)<<8|int(b)]&(1<<(a&31)) == 0 {
			continue
		}
		for _, w := range n.by[a] {
			if hasFold(s, i, w) {
				return true
			}
		}
	}
	return false
}

// wordList reads a list of words: lines with blanks between them, and comments.
func wordList(name string) func() []string {
	return sync.OnceValue(func() (all []string) {
		text, _ := wordFiles.ReadFile("words/" + name + ".txt") // a test looks at each of them
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "# ") {
				all = append(all, strings.Fields(line)...)
			}
		}
		return all
	})
}

// wordSet is a wordList of which one asks whether a word is in it.
func wordSet(name string) func() map[string]bool {
	list := wordList(name)
	return sync.OnceValue(func() map[string]bool {
		set := make(map[string]bool)
		for _, w := range list() {
			set[w] = true
		}
		return set
	})
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

func hasSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(s, x) })
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}
