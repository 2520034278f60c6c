// Package redact is the border that text crosses before it leaves the machine,
// or before a machine writes it down.
//
// The border is a type. A model client takes Text and nothing else, and only a
// Redactor can make a Text that says something. A Redactor replaces what looks
// like a credential by [REDACTED] and what its author marked with <private> tags
// by [PRIVATE]:
//
//	r, err := redact.New(rules...)
//	safe := r.Redact(transcript).Head(24_000) // redact first, then cut
//
// All that gives a secret away is a row of one table, detectors: its rule, the keys that
// must stand in a text, who looks there, what is found (detectors.go, commands.go,
// rules.txt). A case needs each row: TestAblation. Patterns (patterns.go, rules.txt)
// know what the tokens of one service look like. Places hold credentials whatever they
// look like: key blocks, addresses with a password, headers, .netrc files (structures.go,
// headers.go), command lines (commands.go), pipes, lists, manifests, statements of SQL
// (positional.go, documents.go), words of other languages (foreign.go). The assignment rule (assignment.go, operator.go,
// forms.go, names.go) knows how people name secrets: the name decides, and judge.go,
// context.go and values.go know what a value is not: a reference, a type, a
// placeholder, prose. Names without an operator are looked up in sentences (prose.go)
// and in the heads of tables (tables.go). Users add rules of their own with a file
// (userrules.go). Lists of words stand in files (words.go).
//
// What is found in one place is masked in all of them (echo.go), and the colours of
// terminals do not part what belongs together (colours.go).
//
// # Failure policy
//
// Redaction cannot fail: Redact has no error to ignore, takes any bytes, and
// needs time linear in their number. When in doubt it masks inside a credential
// and leaves prose alone. A user's rule file either loads whole or is an error
// that names the file, the line and the next step; we never run with half of
// somebody's rules.
//
// The package keeps no state on disk, reads no environment, and compiles
// nothing before a text asks for it.
package redact

import (
	"slices"
	"strings"
	"sync"
)

// A Finding says where a secret stands and which rule knew it, never what it is.
type Finding struct {
	Rule       string // the rule's id, such as "github-token"
	Start, End int    // byte offsets into the text
}

// A Redactor takes secrets and private spans out of text. It is safe for
// concurrent use and cheap to make; patterns are compiled when a text first
// holds one of their keywords.
type Redactor struct {
	own         []*userRule
	allow       []*lazyPattern
	stopwords   []string
	filter      func() *filter // of built-in and own keywords, made when a text first asks; nil means builtinFilter
	known       *memory        // secrets of other texts, which are masked wherever they stand
	keepPrivate bool
}

// New returns a Redactor with the built-in rules and the given ones.
// It checks that every rule can be used, and strips private spans.
func New(rules ...Rule) (*Redactor, error) {
	r := &Redactor{}
	for _, rule := range rules {
		if err := rule.check(); err != nil {
			return nil, err
		}
		if rule.allow {
			for _, expr := range rule.AllowRegexes {
				r.allow = append(r.allow, &lazyPattern{expr: expr})
			}
			for _, w := range rule.Stopwords {
				r.stopwords = append(r.stopwords, strings.ToLower(w))
			}
			continue
		}
		r.own = append(r.own, &userRule{Rule: rule, pattern: lazyPattern{expr: rule.Regex}})
	}
	if r.own != nil {
		r.filter = sync.OnceValue(func() *filter { return newFilter(r.own) })
	}
	return r, nil
}

// StripPrivate returns a Redactor with the same rules that strips <private>
// spans or lets them pass. New Redactors strip them.
func (r *Redactor) StripPrivate(on bool) *Redactor {
	other := *r
	other.keepPrivate = !on
	return &other
}

// Knowing returns a Redactor with the same rules that also masks every secret of
// the given texts, wherever it stands. What belongs together is redacted by one:
// the title and body of a note, the turns of a session, the parts of a request.
// A password that stands in the address of a database in one of them and in a
// sentence of another is masked in both.
func (r *Redactor) Knowing(texts ...string) *Redactor {
	k := known{others: r.known}
	for _, s := range texts {
		r.redact(s, &k)
	}
	knowing := *r
	knowing.known = k.all()
	return &knowing
}

// Redact returns s without its secrets and private spans.
//
// Each secret becomes [REDACTED]; of an assignment the name, the operator and
// the quotes stay. A secret that one place gives away is masked wherever else it
// stands in s. Redact depends on s and the rules only, and redacting twice is the
// same as redacting once.
func (r *Redactor) Redact(s string) Text {
	return Text{r.redact(s, &known{others: r.known})}
}

// redact returns s without its secrets and those that are known, and adds its own to them.
func (r *Redactor) redact(s string, k *known) string {
	// Taking one secret out may bring another to light (what stood behind it
	// is now the end of a line, say), so we go on until a pass finds nothing.
	// That is also what makes Redact idempotent by construction. A pass that
	// changes the text takes away bytes that are not marks, so this ends; a
	// text built to need many passes is not worth them and loses its tail.
	const enough, tooMany = 8, 16
	for pass := 0; ; pass++ {
		found, tagged := r.scan(s, k)
		if tagged && !r.keepPrivate {
			if t := stripPrivate(s); t != s {
				s = t
				continue
			}
		}
		if len(found) == 0 {
			return s
		}
		switch {
		case pass >= tooMany:
			return mark
		case pass >= enough:
			s = s[:found[0].Start] + mark
			continue
		}
		var b strings.Builder
		b.Grow(len(s))
		at := 0
		for _, f := range found {
			b.WriteString(s[at:f.Start])
			b.WriteString(mark)
			at = f.End
		}
		b.WriteString(s[at:])
		s = b.String()
	}
}

// Find returns where the secrets of s stand, in order and without overlaps.
// The empty answer means that s may travel as far as we can tell; marks left by
// an earlier Redact are not secrets, and neither are private spans.
func (r *Redactor) Find(s string) []Finding {
	found, _ := r.scan(s, &known{others: r.known})
	return found
}

// scan runs every rule over s, adds what it finds to what is known, and masks that. It
// reports also whether s may hold a private tag.
func (r *Redactor) scan(s string, k *known) (found []Finding, tagged bool) {
	tables := builtinFilter
	if r.filter != nil {
		tables = r.filter
	}
	plain, offsets := uncoloured(s)
	x := scan{s: plain, windows: make([][]span, len(r.own))}
	tables().run(&x)
	for i, u := range r.own {
		u.find(&x, x.windows[i])
	}
	r.learn(&x, k)
	x.found = k.own.echoes(plain, k.others.echoes(plain, x.found))
	if offsets != nil {
		for i, f := range x.found {
			x.found[i].Start, x.found[i].End = offsets[f.Start], offsets[f.End-1]+1
		}
		for _, at := range titles(s) {
			inner, _ := r.scan(s[at.start:at.end], k)
			for _, f := range inner {
				f.Start, f.End = f.Start+at.start, f.End+at.start
				x.found = append(x.found, f)
			}
		}
	}
	if len(x.found) == 0 {
		return nil, x.tagged
	}
	return r.settle(s, x.found), x.tagged
}

// settle sorts and joins findings, widens them to whole marks, and drops those
// that hold nothing but marks and those the user allows.
func (r *Redactor) settle(s string, found []Finding) []Finding {
	if len(r.allow) > 0 || len(r.stopwords) > 0 {
		found = slices.DeleteFunc(found, func(f Finding) bool { return r.allowed(s[f.Start:f.End]) })
	}
	for i := range found {
		found[i].Start, found[i].End = widen(s, found[i].Start, found[i].End)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	out := found[:0]
	for _, f := range found {
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, f.End)
			continue
		}
		out = append(out, f)
	}
	out = slices.DeleteFunc(out, func(f Finding) bool {
		return strings.ReplaceAll(s[f.Start:f.End], mark, "") == ""
	})
	if len(out) == 0 {
		return nil
	}
	return out
}

// allowed reports whether the user's allowlist names the secret.
func (r *Redactor) allowed(secret string) bool {
	for _, p := range r.allow {
		if p.get().MatchString(secret) {
			return true
		}
	}
	low := ""
	for _, w := range r.stopwords {
		if low == "" {
			low = strings.ToLower(secret)
		}
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// widen moves the ends of a span that cut a mark to the mark's own ends.
func widen(s string, start, end int) (int, int) {
	for _, m := range [...]string{mark, privateMark} {
		if lo := max(0, start-len(m)+1); start > 0 {
			if k := strings.Index(s[lo:min(len(s), start+len(m)-1)], m); k >= 0 {
				start = lo + k
			}
		}
		if lo := max(0, end-len(m)+1); end < len(s) {
			if k := strings.Index(s[lo:min(len(s), end+len(m)-1)], m); k >= 0 {
				end = lo + k + len(m)
			}
		}
	}
	return start, end
}

// stripPrivate replaces each <private> span by a mark. A span may hold others
// and ends with the text if nobody closed it. The mark, rather than nothing,
// tells a model that something was said here, and keeps the two sides from
// growing together into a new tag or a new token.
func stripPrivate(s string) string {
	var b strings.Builder
	depth, from, at := 0, 0, 0 // from: where the text after the last span begins
	for at < len(s) {
		i, n, opens := privateTag(s, at)
		if i < 0 {
			break
		}
		switch {
		case opens && depth == 0:
			b.WriteString(s[from:i])
			b.WriteString(privateMark)
			depth = 1
		case opens:
			depth++
		case depth > 0:
			depth--
			from = i + n
		}
		at = i + n
	}
	if b.Len() == 0 && depth == 0 {
		return s
	}
	if depth == 0 {
		b.WriteString(s[from:])
	}
	return b.String()
}

// privateTag finds the first opening or closing tag at or after at. An opening
// tag may carry attributes. JSON encoders write < as \u003c, and so may we.
func privateTag(s string, at int) (i, n int, opens bool) {
	const name = "private"
	for i = at; i < len(s); i++ {
		k := strings.IndexAny(s[i:], `<\`)
		if k < 0 {
			break
		}
		i += k
		j := i + bracket(s[i:], '<', `\u003c`)
		if j == i {
			continue
		}
		opens = !(j < len(s) && s[j] == '/')
		if !opens {
			j++
		}
		if !hasFold(s, j, name) {
			continue
		}
		j += len(name)
		if w := bracket(s[j:], '>', `\u003e`); w > 0 {
			return i, j + w - i, opens
		}
		if j == len(s) || !isSpace(s[j]) {
			continue
		}
		for k := j; k < min(len(s), j+200) && s[k] != '<'; k++ {
			if w := bracket(s[k:], '>', `\u003e`); w > 0 {
				return i, k + w - i, opens
			}
		}
	}
	return -1, 0, false
}

// bracket returns how many bytes of s spell the bracket c, plain or escaped.
func bracket(s string, c byte, escaped string) int {
	if s != "" && s[0] == c {
		return 1
	}
	if hasFold(s, 0, escaped) {
		return len(escaped)
	}
	return 0
}
