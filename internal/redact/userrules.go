package redact

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// A Rule is a user's own: what a secret of theirs looks like. The fields are
// those of a [[rules]] table of gitleaks that make sense here.
type Rule struct {
	ID          string   // the name under which findings are reported
	Description string   // a sentence for people
	Regex       string   // RE2 syntax
	Keywords    []string // at least one must stand near a match; without any the whole text is searched
	SecretGroup int      // the group that holds the secret; 0 is the first group if there is one, else the match
	Entropy     float64  // bits a byte that the secret must have at least, 0 for any

	// An allowlist is a Rule that only has these: secrets that match stay.
	AllowRegexes []string
	Stopwords    []string

	allow bool // the rule is an allowlist
}

// maxRegex bounds a user's expression. Longer ones are lists that belong into keywords.
const maxRegex = 4096

// maxProgram bounds what an expression may grow to when repetitions are written out.
const maxProgram = 20000

// check reports why the rule cannot be used.
func (r *Rule) check() error {
	if len(r.AllowRegexes)+len(r.Stopwords) > 0 && r.Regex == "" {
		r.allow = true
		for _, expr := range r.AllowRegexes {
			if _, err := compile(expr); err != nil {
				return fmt.Errorf("allowlist: %w", err)
			}
		}
		return nil
	}
	if r.ID == "" {
		return fmt.Errorf("rule without an id: give it one, findings are reported under it")
	}
	if r.Regex == "" {
		return fmt.Errorf("rule %q has no regex: add one, or remove the rule", r.ID)
	}
	re, err := compile(r.Regex)
	if err != nil {
		return fmt.Errorf("rule %q: %w", r.ID, err)
	}
	if r.SecretGroup < 0 || r.SecretGroup > re.NumSubexp() {
		return fmt.Errorf("rule %q: secretGroup is %d, but the regex has %d groups: change one of them",
			r.ID, r.SecretGroup, re.NumSubexp())
	}
	return nil
}

// compile compiles a user's expression unless it is dangerous.
func compile(expr string) (*regexp.Regexp, error) {
	if len(expr) > maxRegex {
		return nil, fmt.Errorf("the regex has %d characters, at most %d are allowed: split it into several rules", len(expr), maxRegex)
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the regex does not compile (Go and RE2 have no look-around): %w", err)
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("compile regex: %w", err)
	}
	if len(prog.Inst) > maxProgram {
		return nil, fmt.Errorf("the regex is too large (%d steps, at most %d): make its repetitions smaller", len(prog.Inst), maxProgram)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("compile regex: %w", err)
	}
	if re.MatchString("") {
		return nil, fmt.Errorf("the regex matches the empty text: it would match everywhere, make it ask for something")
	}
	return re, nil
}

// A userRule is a Rule at work.
type userRule struct {
	Rule
	pattern lazyPattern
}

// How far before and after a keyword a user's rule looks.
const (
	before = 256
	behind = 1024
)

// keywords returns those of rule number n. Keywords of one or two bytes would
// match everywhere and cost more than they save: such a rule searches the text.
func (u *userRule) keywords(n int) []keyword {
	var out []keyword
	if u.everywhere() {
		return nil
	}
	for _, k := range u.Keywords {
		out = append(out, keyword{text: strings.ToLower(k), row: &detector{match: func(x *scan, at, _ int) {
			w := span{max(0, at-before), min(len(x.s), at+behind)}
			if ws := x.windows[n]; len(ws) > 0 && ws[len(ws)-1].end >= w.start {
				ws[len(ws)-1].end = w.end
				return
			}
			x.windows[n] = append(x.windows[n], w)
		}}})
	}
	return out
}

func (u *userRule) everywhere() bool {
	return len(u.Keywords) == 0 || slices.ContainsFunc(u.Keywords, func(k string) bool {
		return len(k) < 3 || strings.ToLower(k) != lowerASCII(k)
	})
}

// lowerASCII folds as the filter does, bytes beyond ASCII left alone.
func lowerASCII(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}

// find adds the matches of the rule within the windows.
func (u *userRule) find(x *scan, windows []span) {
	if u.everywhere() {
		windows = []span{{0, len(x.s)}}
	}
	for _, w := range windows {
		// Begin and end between words, so that \b means what it says.
		for k := 0; k < 64 && w.start > 0 && isAlnum(x.s[w.start-1]); k++ {
			w.start--
		}
		for k := 0; k < 64 && w.end < len(x.s) && isAlnum(x.s[w.end]); k++ {
			w.end++
		}
		re := u.pattern.get()
		if re == nil {
			return // unreachable: New has compiled it
		}
		for _, m := range re.FindAllStringSubmatchIndex(x.s[w.start:w.end], -1) {
			g := u.SecretGroup
			if g == 0 && len(m) > 2 {
				g = 1
			}
			if m[2*g] < 0 {
				g = 0
			}
			if v := (span{w.start + m[2*g], w.start + m[2*g+1]}); u.Entropy == 0 || entropy(v.of(x.s)) >= u.Entropy {
				x.addAs(u.ID, v.start, v.end)
			}
		}
	}
}
