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
	call             // name(value)
	list             // 'name', value
	compare          // name == value
	says             // name is value, NAME 'value'
)

// operator reads what follows the name and returns where the value begins.
func (p *pair) operator(s string) (int, bool) {
	i := p.name.end
	if n := possessive(s[i:]); n > 0 && p.class >= bare {
		k := skipBlanks(s, i+n, 4)
		p.op, p.is, p.spaced = says, quoteAt(s, k) != "`", true // the secret's `metadata`
		return k, true
	}
	isQuoted := quoteAt(s, i) != ""
	i = closing(s, i)
	i = numbered(s, i)
	j := skipBlanks(s, i, 48)
	p.spaced = j > i
	if j >= len(s) {
		return 0, false
	}
	if k, ok := p.element(s, j); ok {
		return k, true
	}
	if k, ok := p.tagEnd(s, j, isQuoted); ok {
		p.op = element
		return k, true
	}
	if k, ok, read := p.sign(s, j, isQuoted); read {
		if ok && p.op == colon {
			if v, nested := p.nested(s, k); nested {
				return v, true
			}
		}
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

// possessive returns the length of 's and a blank at the beginning of s: the password's ….
func possessive(s string) int {
	for _, has := range [...]string{"'s ", "’s "} {
		if strings.HasPrefix(s, has) {
			return len(has)
		}
	}
	return 0
}

// sign reads an operator of signs at j. Without read there is none.
func (p *pair) sign(s string, j int, isQuoted bool) (value int, ok, read bool) {
	if isAlnum(s[j]) || s[j] == '"' || s[j] == '.' {
		return 0, false, false
	}
	rest := s[j:min(len(s), j+4)]
	if hasFold(rest, 0, "%3d") && j == p.name.end {
		p.op, p.encoded = assign, true
		return j + 3, true, true
	}
	for _, op := range [...]string{"===", "!==", "||=", "??=", "=>", ":=", "==", "!=", "+=", "?=", "->"} {
		if strings.HasPrefix(rest, op) {
			p.op = assign
			if strings.HasSuffix(op, "==") || op == "!=" {
				p.op = compare
			}
			return j + len(op), op != "->" || p.spaced, true
		}
	}
	switch s[j] {
	case '=':
		p.op = assign
		return j + 1, true, true
	case '{':
		p.op = assign
		return j + 1, !p.spaced && quoteAt(s, j+1) != "" && !isQuoted, true
	case ':':
		if strings.HasPrefix(rest, "::") || p.name.start > 0 && s[p.name.start-1] == ':' && !p.spaced && j+1 < len(s) &&
			!isBlank(s[j+1]) {
			return 0, false, true // C++ and /etc/passwd
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
		p.op = list
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
	case hasFold(s, j, "is ") && (p.class >= bare || p.class == weak && strings.EqualFold(p.name.of(s), "key")):
		p.op, p.is = says, true
		return skipBlanks(s, j+3, 4), true
	case quoteAt(s, j) != "":
		p.op = says
		return j, p.class >= bare
	}
	if k, ok := p.declared(s, j); ok {
		return k, true
	}
	for _, form := range [...]string{"ascii-text ", "cleartext ", "plaintext ", "plain-text ", "encrypted "} {
		if k := j + len(form); hasFold(s, j, form) && p.class >= bare &&
			(form != "encrypted " || evidence(s[k:runEnd(s, k)])) { // as routers have it
			p.op, p.directive, p.exported = says, true, true
			return skipBlanks(s, j+len(form), 4), true
		}
	}
	// A blank alone joins a name and a value only if the value could be nothing else.
	p.op = says
	if p.class < bare {
		return 0, false
	}
	if p.directive, p.exported = p.settings(s, j); p.directive {
		return j, true
	}
	if isDigit(s[j]) && j+2 < len(s) && s[j+1] == ' ' && p.class >= bare {
		// password 0 …, as routers and switches write it.
		if end := lineEnd(s, j+2, 200); !strings.ContainsAny(strings.TrimSpace(s[j+2:end]), " \t") {
			p.directive = true
			return j + 2, true
		}
	}
	if j != i+1 || !isAlnum(s[j]) {
		return 0, false
	}
	for k := j; k < len(s) && (isToken(s[k]) || strings.IndexByte("!@#$%^&*", s[k]) >= 0); k++ {
		if isDigit(s[k]) || k-j > 16 {
			return j, true
		}
	}
	return 0, false
}

// settings reports whether the pair is a line of settings that parts name and
// value by a blank, as redis.conf and Gradle do, and whether a command of a shell
// says so: setenv, ENV, set -x.
func (p *pair) settings(s string, j int) (directive, exported bool) {
	i := p.name.start
	for i > 0 && strings.IndexByte(" \t\"'`$%>#;*", s[i-1]) >= 0 && p.name.start-i < 40 {
		i--
	}
	first := i == 0 || s[i-1] == '\n' || i > 1 && s[i-1] == 'n' && s[i-2] == '\\'
	name := p.name.of(s)
	if !first && p.compound && strings.ToUpper(name) == name && hasSuffix(s[max(0, i-24):i], " set", ":set", " add", " put") {
		return s[j] != '-', true // env:set AUTH_TOKEN …
	}
	if !first && s[j] != '-' && (p.class == password) && besideLogin(s[max(0, i-60):i]) {
		return true, true // login bob password …
	}
	if !first && (i == 0 || strings.IndexByte("vVxgt:", s[i-1]) < 0) {
		return false, false
	}
	if !first && (i == p.name.start || !hasSuffix(s[max(0, i-24):i], "setenv", "ENV", "setx", "env-var:", "set -x", "set -gx",
		"set -Ux", "set -Ugx", "set -xg",
		"configure set", "config set")) {
		return false, false
	}
	end := lineEnd(s, j, 200)
	if k := strings.Index(s[j:end], `\n`); k >= 0 {
		end = j + k
	}
	rest := strings.TrimRight(s[j:end], " \t\r`\"';")
	switch {
	case rest == "" || strings.IndexByte("-=:|<>(){},.;&", rest[0]) >= 0:
		return false, false
	case !first:
		return true, true
	case p.class < secret || strings.ContainsAny(rest, " \t"):
		return false, false
	}
	if j-p.name.end > 1 && evidence(rest) && !isVersion(rest) && !isTechWord(rest) {
		return true, false // a column of names and one of values
	}
	if isUpper(rest[0]) && isLower(rest[len(rest)-1]) && wordlike(rest) && caseFlips(rest) == 1 {
		return false, false // Single-Pass Elaboration
	}
	name = strings.ToLower(name)
	return p.compound || hasSuffix(name, passwordEndings()...) && !namingWords()[name], false
}

// besideLogin reports whether a line before a name ends with the word login or user and a word.
func besideLogin(before string) bool {
	if !strings.Contains(before, "login ") && !strings.Contains(before, "user") {
		return false
	}
	f := strings.Fields(before[strings.LastIndexByte(before, '\n')+1:])
	return len(f) >= 2 && (f[len(f)-2] == "login" || f[len(f)-2] == "user" || f[len(f)-2] == "username") &&
		wordRun(f[len(f)-1]) == len(f[len(f)-1]) && !sentenceWords()[strings.ToLower(f[len(f)-1])]
}

// numbered skips what may stand between a name and its operator: the number of one
// of several keys.
func numbered(s string, i int) int {
	k := skipBlanks(s, i, 2)
	j := k
	switch {
	case k >= len(s):
		return i
	case hasFold(s, k, "id ") || hasFold(s, k, "id:") || hasFold(s, k, "id="): // Secret ID
		j = k + len("id")
	case isDigit(s[k]) || s[k] == '#':
		j = runEnds(s, k, 4, "#")
	}
	if e := skipBlanks(s, j, 8); j > k && e < len(s) && (s[e] == ':' || s[e] == '=') && k > i {
		return j
	}
	return i
}

// nested returns where a value begins that stands one level below its name: "password":
// {"value": "…"}, and the default of a parameter in YAML.
func (p *pair) nested(s string, i int) (int, bool) {
	j := skipBlanks(s, i, 8)
	if j < len(s) && s[j] == '{' {
		return valueKey(s, j+1)
	}
	if p.class < secret || j >= len(s) || s[j] != '\n' {
		return 0, false
	}
	indent := p.name.start - lineStart(s, p.name.start, 80)
	for n := 0; n < 6 && j < len(s); n++ {
		end, next := nextLine(s, j)
		line := s[j:end]
		text := strings.TrimLeft(line, " ")
		switch {
		case text == "":
		case len(line)-len(text) <= indent:
			return 0, false
		case hasFold(text, 0, "default:"), hasFold(text, 0, "value:"):
			p.op = element
			return j + len(line) - len(text) + strings.IndexByte(text, ':') + 1, true
		}
		if next <= j {
			return 0, false
		}
		j = next
	}
	return 0, false
}

// element reads the tags between a name and its value: <name>X</name><value>…,
// <key>X</key><string>…, <X><Value>…; and the block in which a variable of
// Terraform has its default.
func (p *pair) element(s string, j int) (int, bool) {
	hi := min(len(s), j+60)
	var k int
	switch {
	case strings.HasPrefix(s[j:], "</"):
		n := strings.IndexByte(s[j:hi], '>')
		if n < 0 {
			return 0, false
		}
		for k = j + n + 1; k < hi && isSpace(s[k]); k++ {
		}
	case s[j] == '>' && j+1 < len(s) && s[j+1] == '<':
		k = j + 1
	case s[j] == '{' && p.class >= secret && p.name.start > 0 && s[p.name.start-1] == '"':
		end := min(len(s), j+400)
		if n := strings.Index(s[j:end], "\n}"); n >= 0 {
			end = j + n
		}
		if n := strings.Index(s[j:end], "default"); n >= 0 {
			e := skipBlanks(s, j+n+len("default"), 16)
			if e < end && s[e] == '=' {
				p.op = assign
				return e + 1, true
			}
		}
		return 0, false
	default:
		return 0, false
	}
	for _, tag := range [...]string{"<value>", "<string>", "<val>", "<data>", "<text>"} {
		if hasFold(s, k, tag) {
			p.op = element
			return k + len(tag), true
		}
	}
	return 0, false
}

// tagEnd returns where the text of an XML element begins whose tag holds the name: as that of the
// element, with attributes behind it, or as the value of an attribute: <entry key="password">….
func (p *pair) tagEnd(s string, j int, isQuoted bool) (int, bool) {
	at := p.name.start
	named := at > 0 && (s[at-1] == '<' || p.xmlTag(s)) && p.spaced
	if !named && !(isQuoted && s[j] == '>' && at > 5 && hasSuffix(s[at-6:at-1], " key=", "name=", " id=", "key=") &&
		strings.IndexByte(s[lineStart(s, at, 80):at], '<') >= 0) {
		return 0, false
	}
	hi := lineEnd(s, j, 200)
	k := strings.IndexAny(s[j:hi], "<>")
	if k < 0 || s[j+k] != '>' || k > 0 && s[j+k-1] == '/' {
		return 0, false
	}
	k += j + 1
	end := strings.IndexByte(s[k:lineEnd(s, k, 200)], '<')
	return k, end > 0 && strings.HasPrefix(s[k+end:], "</")
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
	return at > 1 && strings.IndexByte(":/", s[at-1]) >= 0 && quoteAt(s, at-2) == "" && strings.IndexByte(s[max(0, at-20):at], '<') >= 0
}

// valueKey reads the other half of a list of names and values: name: API_KEY,
// value: …; <add key="ApiKey" value="…"/>. It returns where the value begins.
func valueKey(s string, i int) (int, bool) {
	hi := min(len(s), i+60)
	for i < hi && (isSpace(s[i]) || s[i] == ',') {
		i++
	}
	i += len(quoteAt(s, i))
	if strings.HasPrefix(s[i:], "--value") { // --name API_KEY --value …
		i += len("--value")
		return i + 1, i < len(s) && (s[i] == ' ' || s[i] == '=')
	}
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
