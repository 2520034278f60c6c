package redact

import (
	"regexp"
	"strings"
	"sync"
)

// A lazyPattern is a regular expression that is compiled when first needed.
type lazyPattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

// get returns the compiled expression, or nil if there is none.
func (p *lazyPattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re, _ = regexp.Compile(p.expr) }) // tests compile every built-in one, check those of users
	return p.re
}

// reach is how far behind its keyword a pattern may look. The longest tokens of
// known form are session tokens of about two kilobytes.
const reach = 4096

// A tokenRule knows the tokens of one kind by their first letters.
type tokenRule struct {
	id      string
	about   string
	keys    string // the beginnings, separated by blanks; case counts
	pattern string // the whole token from its beginning; a group, if any, is the secret
}

func (t *tokenRule) keywords() []keyword {
	p := &lazyPattern{expr: `^(?:` + t.pattern + `)`}
	var out []keyword
	for key := range strings.FieldsSeq(t.keys) {
		out = append(out, keyword{text: strings.ToLower(key), exact: key, match: func(x *scan, at int) {
			if at < x.tokenEnd || p == x.failed && at < x.failedEnd || isAlnum(key[0]) && !boundary(x.s, at) {
				return
			}
			if !x.anchored(t.id, p, at) {
				// Once is enough for one run of token bytes, or a long one made of beginnings takes for ever.
				x.failed, x.failedEnd = p, at+wordRun(x.s[at:min(len(x.s), at+reach)])
				return
			}
			x.tokenEnd = x.found[len(x.found)-1].End
		}})
	}
	return out
}

// An insideRule knows a token by letters in its middle, which stand at most
// back bytes behind its beginning.
type insideRule struct {
	tokenRule
	back int
}

func (t *insideRule) keywords() []keyword {
	p := &lazyPattern{expr: t.pattern}
	n := min(t.back, 6)
	var out []keyword
	for key := range strings.FieldsSeq(t.keys) {
		out = append(out, keyword{text: strings.ToLower(key), exact: key, match: func(x *scan, at int) {
			if at < x.tokenEnd || at < n || p == x.failed && at < x.failedEnd || !isToken(x.s[at-1]) || !isToken(x.s[at-n]) {
				return
			}
			re := p.get()
			if re == nil {
				return // unreachable: a test compiles every built-in pattern
			}
			lo := max(0, at-t.back)
			m := re.FindStringIndex(x.s[lo:min(len(x.s), at+128)])
			if m != nil && lo+m[0] <= at && at < lo+m[1] {
				x.add(t.id, lo+m[0], lo+m[1])
				x.tokenEnd = lo + m[1]
				return
			}
			x.failed, x.failedEnd = p, at+wordRun(x.s[at:min(len(x.s), at+reach)])
		}})
	}
	return out
}

// A contextRule knows tokens without a face of their own by a word before them.
type contextRule struct {
	id      string
	about   string
	keys    string // words in any case
	pattern string // the token; an assignment or a blank stands before it, no token byte behind it
}

// between is what may stand between a service's name and its token: the rest of
// a name, closing quotes, an operator, opening quotes.
const between = `[\w.\-]{0,40}?[\\"'` + "`" + `\])\s]{0,6}(?:=>|:=|={1,3}|[:,(>/]| "| ')[\\"'` + "`" + `(=>\s]{0,8}`

func (c *contextRule) keywords() []keyword {
	p := &lazyPattern{expr: `^` + between + `(` + c.pattern + `)(?:[^\w+=-]|$)`}
	var out []keyword
	for key := range strings.FieldsSeq(c.keys) {
		out = append(out, keyword{text: key, match: func(x *scan, at int) {
			end := at + len(key)
			if p == x.failed && at < x.failedEnd || longRun(x.s[end:min(len(x.s), end+160)]) < 16 {
				return
			}
			if !x.anchored(c.id, p, end) {
				x.failed, x.failedEnd = p, at+wordRun(x.s[at:min(len(x.s), at+reach)])
				return
			}
			if f := x.found[len(x.found)-1]; !random(x.s[f.Start:f.End]) {
				x.found = x.found[:len(x.found)-1] // a long name, not a token
			}
		}})
	}
	return out
}

// anchored adds what the pattern matches at offset at and reports whether it did.
func (x *scan) anchored(rule string, p *lazyPattern, at int) bool {
	re := p.get()
	if re == nil {
		return false // unreachable: a test compiles every built-in pattern
	}
	m := re.FindStringSubmatchIndex(x.s[at:min(len(x.s), at+reach)])
	switch {
	case m == nil:
		return false
	case len(m) > 2 && m[2] >= 0:
		x.add(rule, at+m[2], at+m[3])
	default:
		x.add(rule, at+m[0], at+m[1])
	}
	return true
}

// wordRun returns the length of the run of letters, digits and _ - at the beginning of s.
func wordRun(s string) int {
	n := 0
	for n < len(s) && (isAlnum(s[n]) || s[n] == '_' || s[n] == '-') {
		n++
	}
	return n
}

// longRun returns the length of the longest run of letters, digits and _ - in s.
func longRun(s string) int {
	best, n := 0, 0
	for i := 0; i < len(s); i++ {
		if isAlnum(s[i]) || s[i] == '_' || s[i] == '-' {
			n++
			best = max(best, n)
		} else {
			n = 0
		}
	}
	return best
}
