package redact

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
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
	p := &ruleFile{name: file, text: string(data), line: 1}
	if !utf8.Valid(data) {
		return nil, p.errorf("the file is not UTF-8: save it as UTF-8")
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	var out []Rule
	for _, e := range p.entries {
		if e.rule.Regex == "" && e.ignorable && len(e.rule.AllowRegexes)+len(e.rule.Stopwords) == 0 {
			continue // a rule about paths only, or an empty allowlist
		}
		if err := e.rule.check(); err != nil {
			p.line = e.line
			return nil, p.errorf("%w", err)
		}
		out = append(out, e.rule)
	}
	return out, nil
}

// A ruleFile is a reader of the subset of TOML that rule files are written in.
type ruleFile struct {
	name    string
	text    string // what is left to read
	line    int
	entries []*ruleEntry
}

type ruleEntry struct {
	rule      Rule
	line      int
	ignorable bool
}

func (p *ruleFile) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: "+format, append([]any{p.name, p.line}, args...)...)
}

func (p *ruleFile) read() error {
	var entry *ruleEntry // nil: keys here are none of ours
	for {
		p.skip(true)
		if p.text == "" {
			return nil
		}
		if p.text[0] == '[' {
			line, _, _ := strings.Cut(p.text, "\n")
			head, _, _ := strings.Cut(line, "#")
			head = strings.TrimSpace(head)
			if double := strings.HasPrefix(head, "[["); !strings.HasSuffix(head, "]") || double && !strings.HasSuffix(head, "]]") {
				return p.errorf("table header %q does not end: close it with ]", head)
			}
			entry = nil
			switch name := strings.ReplaceAll(strings.Trim(head, "[]"), " ", ""); name {
			case "rules":
				entry = &ruleEntry{line: p.line}
			case "allowlist", "allowlists":
				entry = &ruleEntry{line: p.line, ignorable: true}
			}
			if entry != nil {
				p.entries = append(p.entries, entry)
			}
			p.text = strings.TrimPrefix(p.text, line)
			continue
		}
		key, err := p.key()
		if err != nil {
			return err
		}
		line := p.line
		v, err := p.value(0)
		if err != nil {
			return err
		}
		p.skip(false)
		if p.text != "" && p.text[0] != '\n' {
			return p.errorf("unexpected text after the value of %s: put each key on its own line", key)
		}
		if entry == nil {
			continue
		}
		if err := entry.set(key, v); err != nil {
			p.line = line
			return p.errorf("%w", err)
		}
	}
}

// set stores one value.
func (e *ruleEntry) set(key string, v any) error {
	r := &e.rule
	var ok bool
	switch key {
	case "id":
		r.ID, ok = v.(string)
	case "description":
		r.Description, ok = v.(string)
	case "regex":
		r.Regex, ok = v.(string)
	case "path":
		e.ignorable, ok = true, true
	case "keywords":
		r.Keywords, ok = texts(v)
	case "regexes":
		r.AllowRegexes, ok = texts(v)
	case "stopwords":
		r.Stopwords, ok = texts(v)
	case "secretGroup":
		var n float64
		n, ok = v.(float64)
		r.SecretGroup = int(n)
		ok = ok && n >= 0 && n <= 100 && float64(r.SecretGroup) == n
	case "entropy":
		r.Entropy, ok = v.(float64)
		ok = ok && r.Entropy >= 0 && r.Entropy <= 8
	default:
		return nil
	}
	if !ok {
		return fmt.Errorf("%s has a value of the wrong kind: see the example in the documentation of the rule file", key)
	}
	return nil
}

func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	var out []string
	for _, e := range list {
		s, isText := e.(string)
		if !isText {
			return nil, false
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out, ok
}

// skip skips blanks and comments, and line feeds too if lines is set.
func (p *ruleFile) skip(lines bool) {
	for p.text != "" {
		switch c := p.text[0]; {
		case c == ' ' || c == '\t' || c == '\r':
		case c == '#':
			n := strings.IndexByte(p.text, '\n')
			if n < 0 {
				n = len(p.text)
			}
			p.text = p.text[n:]
			continue
		case c == '\n' && lines:
			p.line++
		default:
			return
		}
		p.text = p.text[1:]
	}
}

func (p *ruleFile) key() (string, error) {
	n := 0
	for n < len(p.text) && (isAlnum(p.text[n]) || strings.IndexByte(`_-."'`, p.text[n]) >= 0) {
		n++
	}
	key := strings.Trim(p.text[:n], `"'`)
	p.text = p.text[n:]
	p.skip(false)
	if key == "" || p.text == "" || p.text[0] != '=' {
		return "", p.errorf("expected key = value: give the line that form or comment it out with #")
	}
	p.text = p.text[1:]
	p.skip(false)
	return key, nil
}

// value reads a string, a number, a boolean or an array of them.
func (p *ruleFile) value(depth int) (any, error) {
	if p.text == "" || p.text[0] == '\n' {
		return nil, p.errorf("a value is missing: write one after the equals sign")
	}
	switch c := p.text[0]; {
	case c == '"' || c == '\'':
		return p.str()
	case c == '[' && depth < 8:
		p.text = p.text[1:]
		var list []any = []any{}
		for {
			p.skip(true)
			if p.text == "" {
				return nil, p.errorf("an array does not end: close it with ]")
			}
			if p.text[0] == ']' {
				p.text = p.text[1:]
				return list, nil
			}
			v, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
			p.skip(true)
			if strings.HasPrefix(p.text, ",") {
				p.text = p.text[1:]
			} else if p.text != "" && p.text[0] != ']' {
				return nil, p.errorf("expected a comma or ] in an array: add it")
			}
		}
	case c == '{' || c == '[':
		return nil, p.errorf("inline tables are not read here: write a [table] of its own")
	}
	n := strings.IndexAny(p.text, " \t\r\n,]#")
	if n < 0 {
		n = len(p.text)
	}
	word := p.text[:n]
	p.text = p.text[n:]
	if word == "true" || word == "false" {
		return word == "true", nil
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64)
	if err != nil || f != f {
		return nil, p.errorf("%q is no value: put text into quotes", word)
	}
	return f, nil
}

// str reads a string in one of TOML's four kinds of quotes.
func (p *ruleFile) str() (string, error) {
	q := p.text[:1]
	if strings.HasPrefix(p.text, q+q+q) {
		q += q + q
	}
	body := p.text[len(q):]
	from := p.line
	for i := 0; i < len(body); i++ {
		switch {
		case strings.HasPrefix(body[i:], q):
			// A mark or two may stand directly before the closing three.
			for len(q) == 3 && strings.HasPrefix(body[i+1:], q) {
				i++
			}
			p.text = body[i+len(q):]
			text := body[:i]
			if len(q) == 3 {
				text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
			}
			if q[0] == '"' {
				return p.unescape(text)
			}
			return text, nil
		case body[i] == '\\' && q[0] == '"':
			i++
		case body[i] == '\n':
			if len(q) == 1 {
				return "", p.errorf("a string does not end on its line: close it, or use three quotes")
			}
			p.line++
		}
	}
	p.line = from
	return "", p.errorf("a string does not end: close it with %s", q)
}

func (p *ruleFile) unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", p.errorf("a string ends with a backslash: write two")
		}
		if k := strings.IndexByte(`btnfr"\e`, s[i]); k >= 0 {
			b.WriteByte("\b\t\n\f\r\"\\\x1b"[k])
			continue
		}
		n := map[byte]int{'u': 4, 'U': 8, 'x': 2}[s[i]]
		if n == 0 && isSpace(s[i]) { // a line feed that does not count
			for i+1 < len(s) && isSpace(s[i+1]) {
				i++
			}
			continue
		}
		if n == 0 || i+n >= len(s) {
			return "", p.errorf(`\%c is no escape: use '''…''' for regexes, nothing is escaped there`, s[i])
		}
		r, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
		if err != nil || !utf8.ValidRune(rune(r)) {
			return "", p.errorf(`\%s is no character: use four hexadecimal digits after \u`, s[i:i+1+n])
		}
		b.WriteRune(rune(r))
		i += n
	}
	return b.String(), nil
}
