package redact

import (
	_ "embed" // for rules.txt
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A lazyPattern is a regular expression that is compiled when first needed.
type lazyPattern struct {
	expr  string
	once  sync.Once
	re    *regexp.Regexp
	asked sync.Once
	bound bound // of a match, for those that ask near
}

// get returns the compiled expression. Tests compile every built-in one, and those
// of users have been checked.
func (p *lazyPattern) get() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.expr) })
	return p.re
}

// near returns as much of s as the pattern, which begins where s does, can tell from all
// of it: a regular expression costs by the bytes that it is given, even where it ends
// at the second one.
func (p *lazyPattern) near(s string) string {
	p.asked.Do(func() { p.bound = boundOf(p.expr) })
	s = s[:min(len(s), reach)]
	n := min(len(s), p.bound.most)
	for i := 0; i < n && !p.bound.prose; i++ {
		if !p.bound.bytes[s[i]] {
			n = i
			break
		}
	}
	return s[:min(len(s), n+lookahead)]
}

// lookahead is how many bytes behind a match say whether it ends there: one rune.
const lookahead = utf8.UTFMax

// A bound says which bytes can be part of a match, and how many there are at most.
type bound struct {
	most  int // capped at reach
	bytes [256]bool
	prose bool // blanks and small letters are among them: looking for the end of a run is no use
}

// boundOf reads the bound of an expression, which compiles.
func boundOf(expr string) (b bound) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return b // unreachable: regexp.MustCompile has read it
	}
	b.most = b.of(tree)
	b.prose = b.bytes[' '] && b.bytes['e']
	return b
}

// of adds the bytes that a part of an expression can match, and returns how many at most.
func (b *bound) of(re *syntax.Regexp) (most int) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			n := 0
			for f := r; ; {
				n = max(n, b.runes(f, f))
				if f = unicode.SimpleFold(f); f == r || re.Flags&syntax.FoldCase == 0 {
					break
				}
			}
			most += n
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			most = max(most, b.runes(re.Rune[i], re.Rune[i+1]))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		most = b.runes(0, unicode.MaxRune)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			most += b.of(sub)
		}
	case syntax.OpAlternate, syntax.OpCapture, syntax.OpQuest:
		for _, sub := range re.Sub {
			most = max(most, b.of(sub))
		}
	case syntax.OpStar, syntax.OpPlus:
		b.of(re.Sub[0])
		most = reach
	case syntax.OpRepeat:
		if most = b.of(re.Sub[0]) * re.Max; re.Max < 0 {
			most = reach
		}
	}
	return min(most, reach)
}

// runes adds the bytes of a range of runes, and returns how many one has at most.
func (b *bound) runes(lo, hi rune) int {
	for c := lo; c <= min(hi, utf8.RuneSelf-1); c++ {
		b.bytes[c] = true
	}
	if hi < utf8.RuneSelf {
		return 1
	}
	for c := utf8.RuneSelf; c < len(b.bytes); c++ {
		b.bytes[c] = true // a byte of no rune is matched as one, too
	}
	return utf8.UTFMax
}

// reach is how far behind its keyword a pattern may look. The longest tokens of
// known form are session tokens of about two kilobytes.
const reach = 4096

// A pattern is what a row of rules.txt has besides its keys.
type pattern struct {
	kind string // token, inside or context
	back int    // inside: how many bytes may stand before the key
	expr string

	once sync.Once
	made *lazyPattern
}

//go:embed rules.txt
var rulesText string

// patterns makes the rows of rules.txt, of three lines each: kind, rule and a sentence; keys; pattern.
// Every process that redacts a line makes them, so that of a pattern nothing is looked at before
// a key of it is found.
func patterns(text string) (all []detector) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		body, inner := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case !inner:
			head, about, _ := strings.Cut(line, ": ")
			words := strings.Fields(head)
			p := &pattern{kind: words[0]}
			if len(words) > 2 {
				p.back, _ = strconv.Atoi(words[1]) // a test reads it again
			}
			all = append(all, detector{
				rule: words[len(words)-1], about: about, pattern: p, match: p.visit, exact: p.kind != "context",
			})
		case all[len(all)-1].keys == "":
			all[len(all)-1].keys = strings.ReplaceAll(body, " ", "|")
		default:
			all[len(all)-1].pattern.expr = body
		}
	}
	return all
}

// compiled returns the pattern as it is compiled.
func (p *pattern) compiled() *lazyPattern {
	p.once.Do(func() { p.made = &lazyPattern{expr: p.whole()} })
	return p.made
}

// visit looks for a secret at a key. What the pattern finds is masked as a whole, and once is
// enough for one run of token bytes in which it does not match, or a long run made of keys
// takes for ever.
func (p *pattern) visit(x *scan, at, end int) {
	if p == x.failed && at < x.failedEnd {
		return
	}
	if tried, found := p.find(x, at, end); tried && !found {
		x.failed, x.failedEnd = p, at+wordRun(x.s[at:min(len(x.s), at+reach)])
	}
}

// find looks for a secret at a key. It says whether the pattern was tried, and whether it
// matched.
func (p *pattern) find(x *scan, at, end int) (tried, found bool) {
	switch p.kind {
	case "token":
		return p.token(x, at)
	case "context":
		return p.context(x, end)
	}
	return p.inside(x, at)
}

// between is what may stand between a service's name and its token: the rest of
// a name, closing quotes, an operator, opening quotes.
const between = `[\w.\-]{0,40}?[\\"'` + "`" + `\])\s]{0,6}(?:=>|:=|={1,3}|[:,(>/]| "| ')[\\"'` + "`" + `(=>\s]{0,8}`

// whole is the expression of a pattern with what stands around it.
func (p *pattern) whole() string {
	switch p.kind {
	case "token":
		return `^(?:` + p.expr + `)`
	case "context":
		return `^` + between + `(` + p.expr + `)(?:[^\w+=-]|$)`
	}
	return p.expr
}

// token finds a token that begins with the key.
func (p *pattern) token(x *scan, at int) (tried, found bool) {
	if at < x.tokenEnd || isAlnum(x.s[at]) && !boundary(x.s, at) {
		return false, false
	}
	if !p.anchored(x, at) {
		return true, false
	}
	x.tokenEnd = x.found[len(x.found)-1].End
	return true, true
}

// inside finds a token that has the key somewhere in its middle.
func (p *pattern) inside(x *scan, at int) (tried, found bool) {
	n := min(p.back, 6)
	if at < x.tokenEnd || at < n || !isToken(x.s[at-1]) || !isToken(x.s[at-n]) {
		return false, false
	}
	lo := max(0, at-p.back)
	m := p.compiled().get().FindStringIndex(x.s[lo:min(len(x.s), at+128)])
	if m == nil || lo+m[0] > at || at >= lo+m[1] {
		return true, false
	}
	x.add(lo+m[0], lo+m[1])
	x.tokenEnd = lo + m[1]
	return true, true
}

// context finds a token behind the key, which is part of a name. What does not look
// drawn by a machine is a long name and no token.
func (p *pattern) context(x *scan, end int) (tried, found bool) {
	if longRun(x.s[end:min(len(x.s), end+160)]) < 16 {
		return false, false
	}
	if !p.anchored(x, end) {
		return true, false
	}
	if f := x.found[len(x.found)-1]; !random(x.s[f.Start:f.End]) && !isUUID(x.s[f.Start:f.End]) {
		x.found, x.values = x.found[:len(x.found)-1], x.values[:len(x.values)-1]
	}
	return true, true
}

// anchored adds what the pattern matches at offset at and reports whether it did.
func (p *pattern) anchored(x *scan, at int) bool {
	c := p.compiled()
	m := c.get().FindStringSubmatchIndex(c.near(x.s[at:]))
	if m == nil || isSample(x.s[at+m[0]:at+m[1]]) {
		return false
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 {
			x.add(at+m[g], at+m[g+1])
			return true
		}
	}
	x.add(at+m[0], at+m[1])
	return true
}
