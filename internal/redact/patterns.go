package redact

import (
	_ "embed" // for rules.txt
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A lazyPattern is a regular expression that is compiled when first needed.
type lazyPattern struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

// get returns the compiled expression. Tests compile every built-in one, and those
// of users have been checked.
func (p *lazyPattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// reach is how far behind its keyword a pattern may look. The longest tokens of
// known form are session tokens of about two kilobytes.
const reach = 4096

// A rule is one of rules.txt: a pattern, and the keys that have to stand in a text
// before it is tried.
type rule struct {
	kind    string // token, inside or context
	back    int    // inside: how many bytes may stand before the key
	id      string
	about   string // a sentence
	keys    []string
	pattern string
}

//go:embed rules.txt
var rulesText string

// readRules reads rules of three lines each: kind, id and a sentence; keys; pattern.
func readRules(text string) []rule {
	var all []rule
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		body, inner := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case !inner:
			head, about, _ := strings.Cut(line, ": ")
			words := strings.Fields(head)
			r := rule{kind: words[0], id: words[len(words)-1], about: about}
			if len(words) > 2 {
				r.back, _ = strconv.Atoi(words[1]) // a test reads it again
			}
			all = append(all, r)
		case all[len(all)-1].keys == nil:
			all[len(all)-1].keys = strings.Fields(body)
		default:
			all[len(all)-1].pattern = body
		}
	}
	return all
}

// patternKeywords makes the keywords of rules.txt.
func patternKeywords() []keyword {
	var out []keyword
	for _, r := range readRules(rulesText) {
		out = append(out, r.keywords()...)
	}
	for i := range out {
		out[i].skip = rarest(out[i].text)
	}
	return out
}

// keywords makes one keyword of each key. What they find is masked as a whole, and
// once is enough for one run of token bytes in which the pattern does not match, or
// a long run made of keys takes for ever.
func (r *rule) keywords() []keyword {
	p := &lazyPattern{expr: r.expr()}
	find := r.finder()
	out := make([]keyword, 0, len(r.keys))
	for _, key := range r.keys {
		k := keyword{text: strings.ToLower(key), match: func(x *scan, at int) {
			if p == x.failed && at < x.failedEnd {
				return
			}
			if tried, found := find(x, p, at, key); tried && !found {
				x.failed, x.failedEnd = p, at+wordRun(x.s[at:min(len(x.s), at+reach)])
			}
		}}
		if r.kind != "context" {
			k.exact = key
		}
		out = append(out, k)
	}
	return out
}

// between is what may stand between a service's name and its token: the rest of
// a name, closing quotes, an operator, opening quotes.
const between = `[\w.\-]{0,40}?[\\"'` + "`" + `\])\s]{0,6}(?:=>|:=|={1,3}|[:,(>/]| "| ')[\\"'` + "`" + `(=>\s]{0,8}`

// expr is the pattern as it is compiled.
func (r *rule) expr() string {
	switch r.kind {
	case "token":
		return `^(?:` + r.pattern + `)`
	case "context":
		return `^` + between + `(` + r.pattern + `)(?:[^\w+=-]|$)`
	}
	return r.pattern
}

// A finder looks for a secret at a key. It says whether the pattern was tried, and
// whether it matched.
type finder func(x *scan, p *lazyPattern, at int, key string) (tried, found bool)

func (r *rule) finder() finder {
	switch r.kind {
	case "token":
		return r.token
	case "context":
		return r.context
	}
	return r.inside
}

// token finds a token that begins with the key.
func (r *rule) token(x *scan, p *lazyPattern, at int, key string) (tried, found bool) {
	if at < x.tokenEnd || isAlnum(key[0]) && !boundary(x.s, at) {
		return false, false
	}
	if !x.anchored(r.id, p, at) {
		return true, false
	}
	x.tokenEnd = x.found[len(x.found)-1].End
	return true, true
}

// inside finds a token that has the key somewhere in its middle.
func (r *rule) inside(x *scan, p *lazyPattern, at int, _ string) (tried, found bool) {
	n := min(r.back, 6)
	if at < x.tokenEnd || at < n || !isToken(x.s[at-1]) || !isToken(x.s[at-n]) {
		return false, false
	}
	lo := max(0, at-r.back)
	m := p.get().FindStringIndex(x.s[lo:min(len(x.s), at+128)])
	if m == nil || lo+m[0] > at || at >= lo+m[1] {
		return true, false
	}
	x.add(r.id, lo+m[0], lo+m[1])
	x.tokenEnd = lo + m[1]
	return true, true
}

// context finds a token behind the key, which is part of a name. What does not look
// drawn by a machine is a long name and no token.
func (r *rule) context(x *scan, p *lazyPattern, at int, key string) (tried, found bool) {
	end := at + len(key)
	if longRun(x.s[end:min(len(x.s), end+160)]) < 16 {
		return false, false
	}
	if !x.anchored(r.id, p, end) {
		return true, false
	}
	if f := x.found[len(x.found)-1]; !random(x.s[f.Start:f.End]) {
		x.found = x.found[:len(x.found)-1]
	}
	return true, true
}

// anchored adds what the pattern matches at offset at and reports whether it did.
func (x *scan) anchored(rule string, p *lazyPattern, at int) bool {
	m := p.get().FindStringSubmatchIndex(x.s[at:min(len(x.s), at+reach)])
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
