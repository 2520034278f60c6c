package redact

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// ParseRules reads a user's rule file. The format is the part of gitleaks' TOML
// that describes rules, so that rules can be copied from one to the other:
//
//	[[rules]]
//	id = "acme-token"
//	description = "Token of the Acme shop"
//	regex = '''acme_[a-z0-9]{32}'''
//	keywords = ["acme_"]
//	secretGroup = 0
//	entropy = 3.0
//
//	[allowlist]
//	regexes = ['''^acme_test''']
//	stopwords = ["example"]
//
// Keys and tables we do not know are read and ignored. Errors name the file,
// the line and what to do.
func ParseRules(file string, data []byte) ([]Rule, error) {
	text := string(data)
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("%s:1: the file is not UTF-8: save it as UTF-8", file)
	}
	var f ruleFile
	if err := toml.Unmarshal(data, &f); err != nil {
		return nil, tomlError(file, err)
	}
	var out []Rule
	for i := range f.Rules {
		t := &f.Rules[i]
		r, err := t.rule()
		if t.Path != "" && r.Regex == "" && len(r.AllowRegexes)+len(r.Stopwords) == 0 {
			continue // a rule about paths only
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, lineOf(text, i, true), err)
		}
		out = append(out, r)
	}
	for i, list := range append(tables(f.Allowlist), tables(f.Allowlists)...) {
		r, err := allowRule(list)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, lineOf(text, i, false), err)
		}
		if len(r.AllowRegexes)+len(r.Stopwords) > 0 {
			out = append(out, r)
		}
	}
	return out, nil
}

// A ruleFile is what a rule file holds. Gitleaks has one table of what is
// allowed in older files, and a list of them in newer ones.
type ruleFile struct {
	Rules      []ruleTable `toml:"rules"`
	Allowlist  any         `toml:"allowlist"`
	Allowlists any         `toml:"allowlists"`
}

type ruleTable struct {
	ID          string   `toml:"id"`
	Description string   `toml:"description"`
	Regex       string   `toml:"regex"`
	Path        string   `toml:"path"`
	Keywords    []string `toml:"keywords"`
	Regexes     []string `toml:"regexes"`
	Stopwords   []string `toml:"stopwords"`
	SecretGroup int      `toml:"secretGroup"`
	Entropy     float64  `toml:"entropy"`
}

// rule makes a rule and checks it.
func (t *ruleTable) rule() (Rule, error) {
	r := Rule{
		ID: t.ID, Description: t.Description, Regex: t.Regex, SecretGroup: t.SecretGroup, Entropy: t.Entropy,
		Keywords: filled(t.Keywords), AllowRegexes: filled(t.Regexes), Stopwords: filled(t.Stopwords),
	}
	if err := r.check(); err != nil {
		return r, err
	}
	if r.Entropy >= 0 && r.Entropy <= 8 { // not so for NaN
		return r, nil
	}
	return r, fmt.Errorf("rule %q: entropy is %v: it lies between 0 and 8", r.ID, r.Entropy)
}

// tables lists what is one table, or a list of them.
func tables(v any) (all []map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		return []map[string]any{v}
	case []any:
		for _, e := range v {
			all = append(all, tables(e)...)
		}
	}
	return all
}

// allowRule makes a rule of what is allowed; one without a text allows nothing.
func allowRule(table map[string]any) (r Rule, err error) {
	for key, field := range map[string]*[]string{"regexes": &r.AllowRegexes, "stopwords": &r.Stopwords} {
		list, isList := table[key].([]any)
		for _, e := range list {
			s, isText := e.(string)
			isList = isList && isText
			*field = append(*field, s)
		}
		if table[key] != nil && !isList {
			return r, fmt.Errorf("%s has a value of the wrong kind: it is a list of texts", key)
		}
		*field = filled(*field)
	}
	if len(r.AllowRegexes)+len(r.Stopwords) == 0 {
		return r, nil
	}
	return r, r.check()
}

// filled leaves out empty texts, which everything contains.
func filled(list []string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// tomlError says what is wrong with a file, and where.
func tomlError(file string, err error) error {
	line, problem := 1, strings.TrimPrefix(err.Error(), "toml: ")
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, _ = bad.Position()
		if key := bad.Key(); len(key) > 0 {
			problem = key[len(key)-1] + " has a value of the wrong kind"
		}
	}
	return fmt.Errorf("%s:%d: %s: see the example in the documentation of the rule file", file, max(line, 1), problem)
}

var tableHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*\[+[ \t]*(rules|allowlists?)[ \t]*\]`)
})

// lineOf returns the line of a table: of the rule of that number, or of what is
// allowed. The library does not tell.
func lineOf(text string, number int, rule bool) int {
	for _, at := range tableHeader().FindAllStringSubmatchIndex(text, -1) {
		if (text[at[2]:at[3]] == "rules") != rule {
			continue
		}
		if number == 0 {
			return 1 + strings.Count(text[:at[2]], "\n")
		}
		number--
	}
	return 1
}
