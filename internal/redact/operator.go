package redact

import "strings"

// An operator joins a name and its value. The weaker the tie, the more the
// value itself must look like a secret.
type operator int

const (
	none    operator = iota
	assign           // = := => ?= and their like
	colon            // :
	element          // <name>value</name>, name="x" value="y"
	flag             // --name value
	call             // name(value), 'name', value
	says             // name is value, NAME 'value'
)

// operator reads what follows the name and returns where the value begins.
func (p *pair) operator(s string) (int, bool) {
	i := p.name.end
	isQuoted := quoteAt(s, i) != ""
	i = closing(s, i)
	if strings.HasPrefix(s[i:], "[") { // char password[] = "…"
		if k := strings.IndexByte(s[i:min(len(s), i+8)], ']'); k > 0 && strings.Trim(s[i+1:i+k], digits) == "" {
			i += k + 1
		}
	}
	j := skipBlanks(s, i, 48)
	p.spaced = j > i
	if j >= len(s) {
		return 0, false
	}
	if k, ok, read := p.sign(s, j, isQuoted); read {
		return k, ok
	}
	if k, ok := valueKey(s, j); ok {
		p.op = element
		return k, true
	}
	if !p.spaced {
		return 0, false
	}
	return p.blank(s, i, j)
}

// sign reads an operator of signs at j. Without read there is none.
func (p *pair) sign(s string, j int, isQuoted bool) (value int, ok, read bool) {
	rest := s[j:min(len(s), j+4)]
	for _, op := range [...]string{"===", "!==", "||=", "??=", "=>", ":=", "==", "!=", "+=", "?=", "->"} {
		if strings.HasPrefix(rest, op) {
			p.op = assign
			if strings.HasSuffix(op, "==") || op == "!=" {
				p.op = call // a comparison, mostly with a word
			}
			return j + len(op), op != "->" || p.spaced, true
		}
	}
	switch s[j] {
	case '=':
		p.op = assign
		return j + 1, true, true
	case ':':
		if strings.HasPrefix(rest, "::") || p.name.start > 0 && s[p.name.start-1] == ':' && !p.spaced && j+1 < len(s) && !isBlank(s[j+1]) {
			return 0, false, true // C++ and /etc/passwd
		}
		if p.spaced && j+1 < len(s) && isLetter(s[j+1]) {
			return 0, false, true // pass :meth: to it
		}
		p.op = colon
		if k, ok := typed(s, j+1); ok {
			p.op = assign
			p.spaced = true
			return k, true, true
		}
		return j + 1, true, true
	case '>':
		if p.name.start > 0 && s[p.name.start-1] == '<' || p.xmlTag(s) {
			p.op = element
			return j + 1, !p.spaced, true
		}
		return 0, false, true
	case '(':
		p.op = call
		return j + 1, !p.spaced, true
	case ',', ';':
		if k, ok := valueKey(s, j+1); ok {
			p.op = element
			return k, true, true
		}
		p.op = call
		return j + 1, isQuoted && s[j] == ',' && p.class >= secret, true
	}
	return 0, false, false
}

// blank reads what joins a name and a value that stand apart at j, without a sign: a
// flag, the word is, quotes, a type. The name and what closes it end at i.
func (p *pair) blank(s string, i, j int) (int, bool) {
	switch name := p.name.of(s); {
	case name[0] == '-' && !strings.HasSuffix(name, "-") || p.name.start > 0 && s[p.name.start-1] == '-':
		p.op = flag
		return j, s[j] != '-'
	case hasFold(s, j, "is ") && p.class >= bare:
		p.op, p.is = says, true
		return skipBlanks(s, j+3, 4), true
	case quoteAt(s, j) != "":
		p.op = says
		return j, p.class >= bare
	}
	if k, ok := p.declared(s, j); ok {
		return k, true
	}
	// A blank alone joins a name and a value only if the value could be nothing else.
	p.op = says
	if p.class < bare || j != i+1 || !isAlnum(s[j]) {
		return 0, false
	}
	for k := j; k < len(s) && (isToken(s[k]) || strings.IndexByte("!@#%^&*", s[k]) >= 0); k++ {
		if isDigit(s[k]) || k-j > 16 {
			return j, true
		}
	}
	return 0, false
}

// declared reads a type between the name and the equals sign: password string = "…".
func (p *pair) declared(s string, j int) (int, bool) {
	k := runEnds(s, j, 24, "*[]<>.")
	e := skipBlanks(s, k, 16)
	if k == j || e >= len(s) || s[e] != '=' || e+1 < len(s) && s[e+1] == '=' {
		return 0, false
	}
	e = skipBlanks(s, e+1, 16)
	p.op, p.spaced = assign, true // undone by the caller if this is no declaration
	return e, quoteAt(s, e) != ""
}

// typed reads a type after a colon and the equals sign behind it: token: &str = "…".
func typed(s string, i int) (int, bool) {
	i = skipBlanks(s, i, 4)
	k := runEnds(s, i, 40, "*&[]<>.|?_' ")
	if k > i && k < len(s) && s[k] == '=' && s[k-1] == ' ' {
		k = skipBlanks(s, k+1, 16)
		return k, quoteAt(s, k) != ""
	}
	return 0, false
}

// xmlTag reports whether the name ends an XML tag with attributes: <x:password type="s">.
func (p *pair) xmlTag(s string) bool {
	at := p.name.start
	return at > 1 && strings.IndexByte(":/", s[at-1]) >= 0 && strings.IndexByte(s[max(0, at-20):at], '<') >= 0
}

// valueKey reads the other half of a list of names and values: name: API_KEY,
// value: …; <add key="ApiKey" value="…"/>. It returns where the value begins.
func valueKey(s string, i int) (int, bool) {
	hi := min(len(s), i+60)
	for i < hi && (isSpace(s[i]) || s[i] == ',') {
		i++
	}
	i += len(quoteAt(s, i))
	for _, key := range [...]string{"value", "content", "default"} {
		if !hasFold(s, i, key) {
			continue
		}
		i += len(key)
		i = skipBlanks(s, i+len(quoteAt(s, i)), 8)
		return i + 1, i < len(s) && (s[i] == ':' || s[i] == '=')
	}
	return 0, false
}
