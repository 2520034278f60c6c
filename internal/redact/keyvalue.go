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

// A pair is a name and the value it has been given.
type pair struct {
	name, value span
	class       class
	op          operator
	quoted      bool // the value stands in quotes
	is          bool // the operator is the word "is"
	open        bool // the quotes do not end on their line
	wrapped     bool // the value is the argument of a function
	spaced      bool // blanks stand around the operator
	whole       bool // the pair has its line for itself
	compound    bool // the name has more than one word, joined by _ - or .
	argument    bool // the pair stands in an argument list
}

// nameLimit is how long a name may be. Longer runs are data.
const nameLimit = 80

// assignment looks at the name that holds the stem at offset at, and masks its
// value if the two make a secret.
func (x *scan) assignment(at int) {
	if at < x.nameEnd {
		return
	}
	s := x.s
	p := pair{name: nameAround(s, at)}
	x.nameEnd = p.name.end
	if p.name.end-p.name.start > nameLimit {
		return
	}
	name := s[p.name.start:p.name.end]
	if p.class = classify(name); p.class == ordinary {
		return
	}
	if p.class == weak && p.name.start > 8 && (hasFold(s, p.name.start-7, "public ") || hasFold(s, p.name.start-8, "foreign ") || hasFold(s, p.name.start-8, "primary ")) {
		return // public key: …
	}
	p.compound = strings.ContainsAny(strings.Trim(name, "-"), "_-.")
	i, ok := p.operator(s)
	if !ok || !p.read(x, i) {
		return
	}
	if !p.holdsSecret(s) {
		if n := p.value.end - p.value.start; !p.quoted && n > judged {
			x.nameEnd = p.value.start + judged/2 // names within have been judged with it
		}
		return
	}
	x.add(p.class.rule(), p.value.start, p.value.end)
	x.nameEnd = max(x.nameEnd, p.value.end)
	if p.class == password {
		x.login(p)
	}
}

// rule returns the id under which findings of the class are reported.
func (c class) rule() string {
	switch c {
	case password:
		return "password"
	case secret:
		return "named-secret"
	}
	return "possible-secret"
}

// nameAround returns the identifier around offset at.
func nameAround(s string, at int) span {
	a, b := at, at
	for a > max(0, at-nameLimit) && isNameByte(s, a-1) {
		a--
	}
	for b < min(len(s), at+nameLimit) && isNameByte(s, b) {
		b++
	}
	for b > at && (s[b-1] == '.' || s[b-1] == '-') {
		b--
	}
	// The letter of an escaped line feed belongs to no name.
	if a > 0 && s[a-1] == '\\' && b-a > 1 && strings.IndexByte("nrt", s[a]) >= 0 {
		a++
	}
	if a >= 1 && s[a-1] == '%' && b-a > 3 && isHex(s[a]) && isHex(s[a+1]) {
		a += 2
	}
	return span{a, b}
}

func isNameByte(s string, i int) bool {
	c := s[i]
	return isAlnum(c) || c == '_' || c == '-' || c == '.' && i > 0 && i+1 < len(s) && isAlnum(s[i-1]) && (isAlnum(s[i+1]) || s[i+1] == '_')
}

// operator reads what follows the name and returns where the value begins.
func (p *pair) operator(s string) (int, bool) {
	i := p.name.end
	isQuoted := quoteAt(s, i) != ""
	i = closing(s, i)
	if strings.HasPrefix(s[i:], "[") { // char password[] = "…"
		if k := strings.IndexByte(s[i:min(len(s), i+8)], ']'); k > 0 && strings.Trim(s[i+1:i+k], "0123456789") == "" {
			i += k + 1
		}
	}
	j := skipBlanks(s, i, 48)
	p.spaced = j > i
	if j >= len(s) {
		return 0, false
	}
	rest := s[j:min(len(s), j+4)]
	for _, op := range [...]string{"===", "!==", "||=", "??=", "=>", ":=", "==", "!=", "+=", "?=", "->"} {
		if strings.HasPrefix(rest, op) {
			p.op = assign
			if strings.HasSuffix(op, "==") || op == "!=" {
				p.op = call // a comparison, mostly with a word
			}
			return j + len(op), op != "->" || p.spaced
		}
	}
	switch s[j] {
	case '=':
		p.op = assign
		return j + 1, true
	case ':':
		if strings.HasPrefix(rest, "::") || p.name.start > 0 && s[p.name.start-1] == ':' && !p.spaced && j+1 < len(s) && !isBlank(s[j+1]) {
			return 0, false // C++ and /etc/passwd
		}
		if p.spaced && j+1 < len(s) && isLetter(s[j+1]) {
			return 0, false // pass :meth: to it
		}
		p.op = colon
		if k, ok := typed(s, j+1); ok {
			p.op = assign
			p.spaced = true
			return k, true
		}
		return j + 1, true
	case '>':
		if p.name.start > 0 && s[p.name.start-1] == '<' || p.xmlTag(s) {
			p.op = element
			return j + 1, !p.spaced
		}
		return 0, false
	case '(':
		p.op = call
		return j + 1, !p.spaced
	case ',', ';':
		if k, ok := valueKey(s, j+1); ok {
			p.op = element
			return k, true
		}
		p.op = call
		return j + 1, isQuoted && s[j] == ',' && p.class >= secret
	}
	if k, ok := valueKey(s, j); ok {
		p.op = element
		return k, true
	}
	if !p.spaced {
		return 0, false
	}
	switch name := s[p.name.start:p.name.end]; {
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
	k := j
	for k < len(s) && k < j+24 && (isAlnum(s[k]) || strings.IndexByte("*[]<>.", s[k]) >= 0) {
		k++
	}
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
	k := i
	for k < len(s) && k < i+40 && (isAlnum(s[k]) || strings.IndexByte("*&[]<>.|?_' ", s[k]) >= 0) {
		k++
	}
	if k > i && k < len(s) && s[k] == '=' && s[k-1] == ' ' {
		k = skipBlanks(s, k+1, 16)
		return k, quoteAt(s, k) != ""
	}
	return 0, false
}

// xmlTag reports whether the name ends an XML tag with attributes: <x:password type="s">.
func (p *pair) xmlTag(s string) bool {
	return p.name.start > 1 && (s[p.name.start-1] == ':' || s[p.name.start-1] == '/') && strings.IndexByte(s[max(0, p.name.start-20):p.name.start], '<') >= 0
}

// valueKey reads the other half of a list of names and values: name: API_KEY,
// value: …; <add key="ApiKey" value="…"/>. It returns where the value begins.
func valueKey(s string, i int) (int, bool) {
	hi := min(len(s), i+60)
	for i < hi && (isSpace(s[i]) || s[i] == ',') {
		i++
	}
	i += len(quoteAt(s, i))
	switch {
	case hasFold(s, i, "value"):
		i += len("value")
	case hasFold(s, i, "content"):
		i += len("content")
	case hasFold(s, i, "default"):
		i += len("default")
	default:
		return 0, false
	}
	i += len(quoteAt(s, i))
	i = skipBlanks(s, i, 8)
	if i < len(s) && (s[i] == ':' || s[i] == '=') {
		return i + 1, true
	}
	return 0, false
}

// read finds the value that begins at or after i.
func (p *pair) read(x *scan, i int) bool {
	s := x.s
	j := skipBlanks(s, i, 48)
	p.spaced = p.spaced && j > i
	// A value may stand on the next line if it is quoted.
	if k := j; k < len(s) && (s[k] == '\n' || s[k] == '\r' || s[k] == '\\' && k+1 < len(s) && s[k+1] == '\n') && p.op <= colon {
		for k < min(len(s), j+80) && (isSpace(s[k]) || strings.HasPrefix(s[k:], "\\\n")) {
			k++
		}
		if q := quoteAt(s, k); q == "" || p.op == colon && q[0] != '"' {
			return false
		}
		// A quoted key below is the next level, not our value.
		if v, ok := quoted(s, k); !ok || v.end+1 < len(s) && strings.HasPrefix(strings.TrimLeft(s[min(len(s), v.end+1):min(len(s), v.end+8)], `"'\ `), ":") {
			return false
		}
		j = k
	}
	if j >= len(s) {
		return false
	}
	j = p.unwrap(s, j)
	if v, ok := quoted(s, j); ok {
		q := quoteAt(s, j)
		if n := p.name.start - len(q); n >= 0 && s[n:p.name.start] == q && !strings.HasPrefix(s[p.name.end:], q) && j-p.name.end <= 2 {
			return false // "PASSWORD=": the mark closes the string that holds the name
		}
		p.value, p.quoted = v, true
		p.open = v.end < len(s) && !strings.HasPrefix(s[v.end:], q[len(q)-1:]) && !strings.HasPrefix(s[v.end:], q)
		return true
	}
	if p.wrapped || p.op == call || p.op == says && !isAlnum(s[j]) {
		return false
	}
	end := x.valueEnd(j)
	if p.op == element && s[p.name.end] == '>' && (end >= len(s) || s[end] != '<') {
		return false
	}
	start := lineStart(s, p.name.start, 120)
	lead := strings.Trim(s[start:p.name.start], " \t-\"'{/#*;$")
	first := lead == "" || lead == "export" || lead == "set" || lead == "ENV" || lead == "env" || lead == "ARG" || strings.HasSuffix(lead, ":") && len(lead) <= 6 || strings.HasSuffix(lead, "`")
	if p.name.start >= 2 && s[p.name.start-2] == '\\' && (s[p.name.start-1] == 'n') {
		first = true
	}
	// The last sign of a value may look like the end of one.
	if first && p.op == assign && !p.spaced {
		for end < len(s) && strings.IndexByte(",;)}]&|", s[end]) >= 0 {
			next := x.valueEnd(end + 1)
			if next == end+1 || strings.IndexByte(s[end:next], '=') >= 0 || isName(s[j:end]) || !isAlnum(s[next-1]) && next-end < 3 {
				break
			}
			end = next
		}
	}
	p.value = span{j, end}
	after := strings.TrimLeft(s[end:lineEnd(s, end, 80)], " \t\r")
	p.whole = first && (after == "" || after[0] == '#' || after[0] == '`' || strings.HasPrefix(after, "//") || after[0] == '\\' || after[0] == '"' && end < len(s) && s[end] != '"')
	prev := strings.TrimRight(s[max(0, p.name.start-4):p.name.start], " \t\n")
	p.argument = prev != "" && (prev[len(prev)-1] == '(' || prev[len(prev)-1] == ',') || strings.HasPrefix(after, ",") || strings.HasPrefix(after, ")")
	return j < end
}

// unwrap skips what stands before a quoted value: the prefix of a string
// (b"…"), the function that takes it (String("…"), env('X', …) aside).
func (p *pair) unwrap(s string, j int) int {
	k := j
	for k < len(s) && k < j+40 && (isAlnum(s[k]) || strings.IndexByte("_.[]", s[k]) >= 0) {
		k++
	}
	switch {
	case k < len(s) && s[k] == '@' && k == j:
		k++
	case k < len(s) && s[k] == '(':
		k = skipBlanks(s, k+1, 4)
		if quoteAt(s, k) != "" {
			p.wrapped = true
			return k
		}
		return j
	case k > j+2:
		return j
	}
	if k > j && quoteAt(s, k) != "" && s[k] != '\\' {
		return k
	}
	return j
}

// valueEnd is runEnd with a memory, so that a long run of pairs without a blank is read once.
func (x *scan) valueEnd(i int) int {
	if i >= x.runFrom && i <= x.runEnd {
		return x.runEnd
	}
	x.runFrom, x.runEnd = i, runEnd(x.s, i)
	return x.runEnd
}

// login masks the user that stands beside a masked password: the two are one
// credential. It looks a few lines back and ahead, on lines of the same form.
func (x *scan) login(p pair) {
	s := x.s
	lo, hi := max(0, p.name.start-240), min(len(s), p.value.end+160)
	for i := lo; i < hi; i++ {
		if c := lower(s[i]); c != 'u' && c != 'l' || i > p.name.start && i < p.value.end {
			continue
		}
		stem := ""
		for _, w := range [...]string{"username", "user", "login", "uid"} {
			if hasFold(s, i, w) {
				stem = w
				break
			}
		}
		if stem == "" {
			continue
		}
		u := pair{name: nameAround(s, i), class: password}
		if u.name.end != i+len(stem) {
			i += len(stem) - 1
			continue
		}
		j, ok := u.operator(s)
		if !ok || u.op != p.op || !u.read(x, j) || u.quoted != p.quoted || u.value.end > hi || u.value.start < p.value.end && u.value.end > p.name.start {
			continue
		}
		if v := s[u.value.start:u.value.end]; len(v) >= 3 && !isReference(v) && !isHole(v) && !isPlaceholder(v) && !strings.ContainsAny(v, " ([") {
			x.add("login", u.value.start, u.value.end)
		}
		i = max(i, u.name.end-1)
	}
}
