package text

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A Pattern is a regular expression that looks at a text only when one of the words stands in it without which it cannot
// match. Most texts have none, and looking for words is many times faster.
type Pattern struct {
	*regexp.Regexp
	first   [256]*[4]uint64     // by the first byte of a word the second bytes that may follow; nil for none
	words   [256][]screenedWord // by their first byte, in both cases
	unknown bool                // no such words are known
}

// A screenedWord stands in a text in any case, at a boundary of words where the expression wants one.
type screenedWord struct {
	text          string
	before, after bool
}

// Form is a Pattern of the parts of an expression. It is compiled when it is asked for: hooks do not pay for it.
func Form(parts ...string) func() *Pattern {
	return sync.OnceValue(func() *Pattern { return newPattern(strings.Join(parts, "")) })
}

func newPattern(expression string) *Pattern {
	p := &Pattern{Regexp: regexp.MustCompile(expression)}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		p.unknown = true
		return p
	}
	exact, needs := wordsOf(tree)
	if needs = better(exact, needs); needs == nil {
		p.unknown = true
		return p
	}
	for _, w := range append(needs, "ſ", "\u212a") { // in another case they are s and k
		p.add(w)
	}
	return p
}

func (p *Pattern) add(w string) {
	word := screenedWord{before: w[0] == boundary, after: w[len(w)-1] == boundary}
	word.text = strings.ReplaceAll(w, string(boundary), "")
	for _, a := range cases(word.text[0]) {
		if p.first[a] == nil {
			p.first[a] = new([4]uint64)
		}
		p.words[a] = append(p.words[a], word)
		if len(word.text) == 1 {
			*p.first[a] = [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
			continue
		}
		for _, b := range cases(word.text[1]) {
			p.first[a][b>>6] |= 1 << (b & 63)
		}
	}
}

// cases are the forms of a letter, each once.
func cases(c byte) []byte {
	if 'a' <= c && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

// MatchString reports whether the expression matches a part of s.
func (p *Pattern) MatchString(s string) bool { return p.may(s) && p.Regexp.MatchString(s) }

// ReplaceAllString is s with what the expression matches replaced.
func (p *Pattern) ReplaceAllString(s, with string) string {
	if !p.may(s) {
		return s
	}
	return p.Regexp.ReplaceAllString(s, with)
}

// may reports whether s may match: false is sure.
func (p *Pattern) may(s string) bool {
	if p.unknown {
		return true
	}
	for i := range len(s) {
		next := p.first[s[i]]
		if next == nil || i+1 < len(s) && next[s[i+1]>>6]&(1<<(s[i+1]&63)) == 0 {
			continue
		}
		for _, w := range p.words[s[i]] {
			if w.at(s, i) {
				return true
			}
		}
	}
	return false
}

func (w *screenedWord) at(s string, i int) bool {
	end := i + len(w.text)
	if end > len(s) {
		return false
	}
	for j := range len(w.text) {
		if lowered(s[i+j]) != w.text[j] {
			return false
		}
	}
	return (!w.before || wordAt(s, i-1) != wordAt(s, i)) && (!w.after || wordAt(s, end-1) != wordAt(s, end))
}

func lowered(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}

// wordAt reports whether \w stands at a place.
func wordAt(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := lowered(s[i])
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// The bounds of the words of an expression, and what stands in them for a boundary.
const (
	mostWords = 256
	mostRunes = 16
	boundary  = '\x01'
)

// wordsOf returns all that an expression can match, without regard to case, or nil where that is much; and texts of which
// one stands in whatever it matches, or nil where none is known.
func wordsOf(re *syntax.Regexp) (exact, needs []string) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpNoWordBoundary:
		return []string{""}, nil
	case syntax.OpWordBoundary:
		return []string{string(boundary)}, nil
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if int(re.Rune[i+1]-re.Rune[i])+len(exact) > 2*mostRunes {
				return nil, nil
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				exact = append(exact, string(lowerASCII(r)))
			}
		}
		return distinct(exact), nil
	case syntax.OpCapture:
		return wordsOf(re.Sub[0])
	case syntax.OpQuest:
		if exact, _ = wordsOf(re.Sub[0]); exact != nil {
			exact = distinct(append(exact, ""))
		}
		return exact, nil
	case syntax.OpPlus:
		return nil, better(wordsOf(re.Sub[0]))
	case syntax.OpRepeat:
		if re.Min > 0 {
			return nil, better(wordsOf(re.Sub[0]))
		}
	case syntax.OpAlternate:
		return alternated(re.Sub)
	case syntax.OpConcat:
		return joined(re.Sub)
	}
	return nil, nil
}

// literal is wordsOf for a text. Where a letter beyond ASCII may stand in another case, which has other bytes, the longest stretch
// without one counts.
func literal(re *syntax.Regexp) (exact, needs []string) {
	pieces := strings.FieldsFunc(strings.Map(lowerASCII, string(re.Rune)), func(r rune) bool {
		return re.Flags&syntax.FoldCase != 0 && r >= 0x80 && unicode.SimpleFold(r) != r
	})
	if len(pieces) == 1 && len(pieces[0]) == len(string(re.Rune)) {
		return pieces, nil
	}
	for _, piece := range pieces {
		needs = better([]string{piece}, needs)
	}
	return nil, needs
}

func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r - 'A' + 'a'
	}
	return r
}

func alternated(all []*syntax.Regexp) (exact, needs []string) {
	whole, known := true, true
	for _, sub := range all {
		e, n := wordsOf(sub)
		whole = whole && e != nil
		n = better(e, n)
		known = known && n != nil
		exact, needs = append(exact, e...), append(needs, n...)
	}
	if exact = distinct(exact); !whole || len(exact) > mostWords {
		exact = nil
	}
	if !known {
		needs = nil
	}
	return exact, distinct(needs)
}

// joined is wordsOf for expressions that follow each other: stretches of those of which all is known are one.
func joined(all []*syntax.Regexp) (exact, needs []string) {
	run, whole := []string{""}, true
	end := func() { needs, run, whole = better(run, needs), []string{""}, false }
	for _, sub := range all {
		e, n := wordsOf(sub)
		more := false // what follows e is not known
		if e == nil && (sub.Op == syntax.OpPlus || sub.Op == syntax.OpRepeat && sub.Min > 0) {
			e, _ = wordsOf(sub.Sub[0])
			more = true
		}
		if e == nil {
			end()
			needs = better(n, needs)
			continue
		}
		if len(run)*len(e) > mostWords {
			end()
		}
		var next []string
		for _, a := range run {
			for _, b := range e {
				next = append(next, a+b)
			}
		}
		if run = distinct(next); more {
			end()
		}
	}
	if whole {
		return run, nil
	}
	return nil, better(run, needs)
}

// better returns the set whose shortest text is longer, of two such the smaller one; nil when neither says anything.
func better(a, b []string) []string {
	worth := func(all []string) (n int) {
		for i, s := range all {
			if l := len(s) - strings.Count(s, string(boundary)); i == 0 || l < n {
				n = l
			}
		}
		return min(n, 4)
	}
	switch x, y := worth(a), worth(b); {
	case x == 0 && y == 0:
		return nil
	case x > y || x == y && len(a) <= len(b):
		return a
	}
	return b
}

func distinct(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
