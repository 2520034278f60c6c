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
	techWords       = wordSet("tech-words")
	references      = wordList("references")
	placeholders    = wordList("placeholders")
)

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
