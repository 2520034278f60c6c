package redact

import "strings"

// A pair is a name and the value it has been given.
type pair struct {
	name, value span
	class       class
	op          operator
	quoted      bool // the value stands in quotes
	is          bool // the operator is the word "is"
	wrapped     bool // the value is the argument of a function
	spaced      bool // blanks stand around the operator
	whole       bool // the pair has its line for itself
	compound    bool // the name has more than one word, joined by _ - or .
	argument    bool // the pair stands in an argument list
	listed      bool // the pair stands in a list of pairs that no brackets enclose
	tail        bool // the value is the last thing on its line
	exported    bool // a word of the shell before the name says that a value follows
	block       bool // the value is a block of lines
	encoded     bool // the pair stands in an address that is encoded to be a part of another one
	directive   bool // a line of settings that parts name and value by a blank
}

// nameLimit is how long a name may be. Longer runs are data.
const nameLimit = 80

// assignment looks at the name that holds the stem at offset at, and masks its
// value if the two make a secret.
func (x *scan) assignment(at, _ int) {
	if at < x.nameEnd {
		return
	}
	s := x.s
	p := pair{name: nameAround(s, at)}
	x.nameEnd = p.name.end
	if p.name.end-p.name.start > nameLimit {
		return
	}
	name := p.name.of(s)
	p.class = x.classify(name)
	if p.class <= bare {
		p.class = joined(s, p.name, p.class)
	}
	if p.class == weak && strings.HasPrefix(s[p.name.end:], "(") {
		if k := strings.LastIndex(strings.ToLower(name), "with"); k >= 0 { // builder.withPassword("…")
			p.class = classify(name[k+len("with"):])
		}
	}
	if p.class == ordinary {
		x.several(p.name)
		return
	}
	if p.class == weak && hasSuffix(strings.ToLower(s[max(0, p.name.start-8):p.name.start]), "public ", "foreign ", "primary ") {
		return // public key: …
	}
	p.compound = strings.ContainsAny(strings.Trim(name, "-"), "_-.")
	if x.compared(p) {
		return
	}
	i, ok := p.operator(s)
	if !ok || !p.read(x, i) {
		x.phrased(p)
		return
	}
	if p.op == says && !p.directive && strings.EqualFold(name, "pass") && !p.userBeside(s) {
		x.phrased(p)
		return // the verb: pass `-v` to it
	}
	x.namedLogin(p)
	if p.op == assign && !p.spaced && strings.ToUpper(name) == name { // a variable of the environment
		switch last := name[strings.LastIndexByte(name, '_')+1:]; {
		case p.class == bare:
			p.class = secret // TOKEN=…
		case p.class == weak && passwordNames()[strings.ToLower(last)]:
			p.class = password // MATCH_PASSWORD=…
		}
	}
	if !p.holdsSecret(s) && !p.fallback(s) {
		if n := p.value.end - p.value.start; !p.quoted && n > judged {
			x.nameEnd = p.value.start + judged/2 // names within have been judged with it
		}
		x.phrased(p)
		return
	}
	x.addAs(p.class.rule(), p.value.start, p.value.end)
	x.nameEnd = max(x.nameEnd, p.value.end)
	if p.class == password {
		x.login(p)
	}
}

// namedLogin masks the password of a value that is a user and a password: BASIC_AUTH=user:….
func (x *scan) namedLogin(p pair) {
	v := span{p.value.start, min(p.value.end, p.value.start+judged)}
	user, _, ok := strings.Cut(v.of(x.s), ":")
	if !ok || !hasSuffix(strings.ToLower(p.name.of(x.s)), "auth", "ident", "credentials", "creds") {
		return
	}
	x.secondOf(user, span{p.value.start + len(user) + 1, p.value.end})
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
	// Nor do the digits of an escape of an address: %3Fapi_key%3D….
	if a > 0 && s[a-1] == '%' && b-a > 2 && at >= a+2 && (isDigit(s[a]) && isHex(s[a+1])) {
		a += 2
	}
	return span{a, b}
}

func isNameByte(s string, i int) bool {
	c := s[i]
	return isAlnum(c) || c == '_' || c == '-' || c == '.' && i > 0 && i+1 < len(s) && isAlnum(s[i-1]) && (isAlnum(s[i+1]) ||
		s[i+1] == '_')
}

// read finds the value that begins at or after i.
func (p *pair) read(x *scan, i int) bool {
	s := x.s
	j := skipBlanks(s, i, 48)
	p.spaced = p.spaced && j > i
	if p.op == colon || p.op == assign {
		j = tagged(s, j)
		if v, ok := block(s, p.class, p.name.start, j); ok {
			p.value, p.quoted, p.block = v, true, true
			return true
		}
	}
	if p.op <= colon && hasPrefix(s[j:], "\n", "\r", "\\\n") {
		return p.readNextLine(x, j)
	}
	if j >= len(s) {
		return false
	}
	j = p.unwrap(s, j)
	if v, ok := quoted(s, j); ok {
		p.value, p.quoted = v, true
		return true
	}
	if p.wrapped || p.op == call || p.op == list || p.op == says && !isAlnum(s[j]) {
		return false
	}
	if s[j] == '{' && p.op == assign && p.name.start > 0 && s[p.name.start-1] == ';' {
		if k := strings.IndexAny(s[j:min(len(s), j+120)], "}\n"); k > 1 && s[j+k] == '}' {
			p.value, p.quoted = span{j + 1, j + k}, true // PWD={…}, as ODBC writes it
			return true
		}
	}
	if strings.HasPrefix(s[j:], "<%") {
		p.value = span{j, j + 2} // a template, which may hold the value to fall back on
		return true
	}
	end := x.valueEnd(j)
	if p.encoded {
		if k := strings.Index(s[j:min(end, j+judged)], "%26"); k >= 0 {
			end = j + k
		}
	}
	if p.op == element && s[j-1] == '>' {
		// <password>…</password>: all of it, blanks too.
		end = j + max(0, strings.IndexAny(s[j:min(len(s), j+200)], "<\n"))
		if end >= len(s) || s[end] != '<' || end == j {
			return false
		}
		p.value, p.quoted = span{j, end}, strings.ContainsAny(s[j:end], " &;")
		return true
	}
	first := p.first(s)
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
	if p.class == password && p.op <= colon && end-j == 4 {
		end = groups(s, j, end)
	}
	p.value = span{j, end}
	p.surroundings(s, first)
	return j < end
}

// readNextLine finds a value on the line after the one that ends at j: one that is quoted, or that a backslash goes on with.
func (p *pair) readNextLine(x *scan, j int) bool {
	s := x.s
	if j, ok := nextLineValue(s, p, j); ok {
		v, _ := quoted(s, j)
		p.value, p.quoted = v, true
		return true
	}
	if k := skipBlanks(s, j+2, 48); hasPrefix(s[j:], "\\\n") && p.op == assign && random(s[k:min(x.valueEnd(k), k+judged)]) {
		p.value, p.tail = span{k, x.valueEnd(k)}, true
		return true
	}
	return false
}

// groups returns where four groups of four small letters end, as Google writes the passwords that it
// gives to programs; end if it is one group alone.
func groups(s string, j, end int) int {
	k := j
	for n := range 4 {
		if n > 0 {
			if k >= len(s) || s[k] != ' ' {
				return end
			}
			k++
		}
		g := k
		for k < len(s) && isLower(s[k]) {
			k++
		}
		if k-g != 4 {
			return end
		}
	}
	if strings.TrimSpace(s[k:lineEnd(s, k, 8)]) != "" {
		return end
	}
	return k
}

// first reports whether the name is the first thing on its line.
func (p *pair) first(s string) bool {
	at := p.name.start
	if at >= 2 && s[at-2:at] == `\n` {
		return true
	}
	switch lead := strings.Trim(s[lineStart(s, at, 120):at], " \t-\"'{/#*;$"); lead {
	case "", "export", "set", "ENV", "env", "ARG":
		return true
	default:
		return strings.HasSuffix(lead, ":") && len(lead) <= 6 || strings.HasSuffix(lead, "`")
	}
}

// surroundings looks at what stands around a pair without quotes.
func (p *pair) surroundings(s string, first bool) {
	end := p.value.end
	after := strings.TrimLeft(s[end:lineEnd(s, end, 80)], " \t\r")
	p.whole = first && (after == "" || hasPrefix(after, "#", "`", "//", `\`) || after[0] == '"' && s[end] != '"')
	p.tail = after == ""
	if hasSuffix(s[max(0, p.name.start-12):p.name.start], "-e ", "--env ", "--env=", "--build-arg ", "-var ", "--set ", " -D", " -P") {
		p.whole = true // an argument that is an assignment and nothing else
	}
	before := strings.TrimRight(s[max(0, p.name.start-4):p.name.start], " \t\n")
	p.argument = hasSuffix(before, "(", ",") || hasPrefix(after, ",", ")")
	if p.argument && p.op == assign && !p.spaced && !strings.HasSuffix(before, "(") && !inCall(s, p.name.start) &&
		strings.Trim(after, " ,") != "" ||
		p.argument && p.op == assign && !p.spaced && strings.HasSuffix(before, ",") && after == "" && !inCall(s, p.name.start) {
		p.argument, p.listed = false, true // username=bob,password=…,vers=3
	}
	if p.argument && p.op == colon && p.tail && strings.HasSuffix(before, ",") && p.userBefore(s) && !inCall(s, p.name.start) {
		p.argument = false // Login: admin, password: …
	}
}

// unwrap skips what stands before a quoted value: the prefix of a string
// (b"…"), the function that takes it (String("…"), env('X', …) aside).
func (p *pair) unwrap(s string, j int) int {
	k := runEnds(s, j, 40, "_.[]")
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
	if k > j && !isDigit(s[j]) && quoteAt(s, k) != "" && s[k] != '\\' {
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
	if x.userOp == p.op && x.userQuoted == p.quoted {
		lo = max(lo, min(x.userEnd, p.name.start)) // a password before this one has looked there
	}
	x.userOp, x.userQuoted, x.userEnd = p.op, p.quoted, p.value.end
	for i := lo; i < hi; i++ {
		c := s[i] | 0x20
		if c != 'u' && c != 'l' || i+1 >= hi || i > p.name.start && i < p.value.end {
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
		if !ok || u.op != p.op || !u.read(x, j) || u.quoted != p.quoted || u.value.end > hi ||
			u.value.start < p.value.end && u.value.end > p.name.start {
			continue
		}
		if v := u.value.of(s); len(v) >= 3 && !isFiller(v) && !commonUsers()[strings.ToLower(v)] && !strings.ContainsAny(v, " ([") {
			x.found = append(x.found, Finding{"login", u.value.start, u.value.end})
		}
		i = max(i, u.name.end-1)
	}
}
