package risk

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A form is an expression that is compiled when a text may hold it: a hook looks at one sentence.
type form struct {
	needs []string // in lower case: a text without any of them holds no match
	get   func() *regexp.Regexp
}

// may reports whether a text in lower case may hold a match.
func (f *form) may(low string) bool {
	return slices.ContainsFunc(f.needs, func(n string) bool { return strings.Contains(low, n) })
}

func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
