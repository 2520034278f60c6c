package redact

import "strings"

// judged is how much of a value is looked at.
const judged = 256

// holdsSecret decides whether the value of a pair is a secret.
//
// A value that machines drew is one almost anywhere. A value that people made up
// looks like the rest of a program, so it takes a name that promises a password,
// an operator that gives it the value and nothing else, and a place where code
// would not stand.
func (p *pair) holdsSecret(s string) bool {
	// The beginning tells; a run of a megabyte is judged again for every name in it.
	v := s[p.value.start:min(p.value.end, p.value.start+judged)]
	if strings.Trim(v, " ") == "" || isReference(v) {
		return false
	}
	if p.open && !random(v) {
		return false
	}
	if strings.HasPrefix(v, mark) {
		return len(v) > len(mark) && isToken(v[len(mark)]) && !p.quoted
	}
	if p.op == assign && p.quoted && p.class == secret && p.compound && len(v) <= 2 {
		return isAlnum(v[0]) // api_key="x": a short one is one all the same
	}
	if isPlaceholder(v) {
		return false
	}
	if p.quoted {
		return p.quotedSecret(s, v)
	}
	return p.plainSecret(s, v)
}

// quotedSecret judges a value in quotes.
func (p *pair) quotedSecret(s, v string) bool {
	if isTemplate(v) && !random(v) || strings.ContainsAny(v, " \n") && !p.phrase(v) {
		return false
	}
	if isSecretWord(v) || pathlike(v) || isPattern(v) {
		return false
	}
	if (v[0] == '+' || v[0] == '.' || v[0] == ',') && wordlike(strings.Trim(v, "+.,()[]")) {
		return false // "password=" + pw + ";": the marks are those of the strings around
	}
	if random(v) {
		return true
	}
	if p.class == weak || p.wrapped && (p.class != password || len(v) < 8 || !evidence(v)) {
		return p.class == weak && len(v) >= 24 && evidence(v) && shapeOf(v).entropy > 3.8 && !wordlike(v)
	}
	switch p.op {
	case call, says:
		if v[0] == '-' || p.op == says && strings.EqualFold(s[p.name.start:p.name.end], "pass") {
			return false // pass "-v" to it
		}
		return len(v) >= 6 && evidence(v) && !label(v) && p.class >= secret && (p.class == password || len(v) >= 12)
	}
	switch p.class {
	case password:
		return len(v) >= 4 && !label(v)
	case secret:
		return len(v) >= 5 && !label(v) && (evidence(v) || p.op != colon || len(v) >= 12)
	default: // bare
		return len(v) >= 8 && evidence(v) && !label(v) || len(v) >= 20 && !label(v)
	}
}

// phrase reports whether a value with blanks may be a passphrase.
func (p *pair) phrase(v string) bool {
	return p.class == password && p.op == assign && len(v) <= 32 && strings.Count(v, " ") <= 1 && evidence(v) &&
		!wordlike(strings.TrimRight(v, "!?.")) && !strings.ContainsAny(v, "%$<{")
}

// isPattern reports whether a value is a regular expression or a range of characters.
func isPattern(v string) bool {
	return containsAny(v, "(?", "[^", `\d`, `\w`, `\s`, `\x`, `\u`, ")*", "]+", "]*", "[a-z", "[A-Z", "[0-9")
}

// label reports whether a value is something programs show or look up: a word
// with a capital and punctuation, a key of a message, a selector, a version.
func label(v string) bool {
	switch v[0] {
	case '#', '.', '/', '@', '%', '&', '(', '[', '{', '|', '^', '\\':
		return wordlike(v[1:]) || v[0] == '\\' || v[0] == '^'
	}
	if strings.ContainsAny(v, "|") && wordlike(strings.NewReplacer("|", "", ",", "", "0", "", "6", "", "8", "", "2", "", "5", "").Replace(v)) {
		return true // required|min:8
	}
	if last := v[len(v)-1]; (last == ':' || last == '?' || last == '*' || last == '.' || last == '=') && wordlike(v[:len(v)-1]) {
		return last != ':' || 'A' <= v[0] && v[0] <= 'Z'
	}
	sh := shapeOf(v)
	if sh.wide > 0 {
		return true // words of other languages; keys and passwords are ASCII but for a few
	}
	joints := strings.Count(v, "_") + strings.Count(v, ".") + strings.Count(v, "-") + strings.Count(v, ":")
	return joints >= 2 && wordlike(v) && sh.upper <= 2 && sh.digit == 0
}

// plainSecret judges a value without quotes.
func (p *pair) plainSecret(s, v string) bool {
	if p.class == password && p.whole && wordlike(v) && len(v) > 8 && isSecretWord(v) && p.op == assign && !p.spaced {
		return p.besideUser(s) // thisismypassword, in a file of settings
	}
	if codelike(v) && (calls(v) || !random(v)) || isTemplate(v) || pathlike(v) || isSecretWord(v) || isPattern(v) {
		return false
	}
	next := byte('\n')
	if p.value.end < len(s) {
		next = s[p.value.end]
	}
	if next == '(' || next == '[' || next == '<' && p.op != element {
		return false
	}
	if p.op == says {
		sh := shapeOf(v)
		switch {
		case p.is:
			return p.class == password && len(v) >= 6 && sh.digit > 0 && sh.lower+sh.upper > 0 && !isName(v) || random(v) && !allHex(v)
		case p.class == password && p.whole && len(v) >= 8 && sh.digit > 0 && sh.symbol > 0 && sh.lower+sh.upper > 0 && !isName(v):
			return true
		}
		return random(v) && !allHex(v) && (sh.upper > 0 || sh.digit >= 4) && !strings.Contains(v, ".")
	}
	if random(v) {
		return p.class > weak || !allHex(v) && shapeOf(v).upper > 0
	}
	sh := shapeOf(v)
	switch p.class {
	case weak:
		return false
	case bare:
		return len(v) >= 8 && sh.digit > 0 && sh.lower+sh.upper > 0 && evidence(v) && !isName(v)
	}
	if sh.lower+sh.upper == 0 || strings.HasPrefix(strings.TrimLeft(v, "-"), "0x") {
		// Numbers: a PIN, but also a counter and the column of a table.
		return p.class == password && p.op == assign && !p.argument && sh.digit >= 4 && !p.spaced
	}
	if isName(v) && sh.digit == 0 {
		return p.wordSecret(s, v, sh)
	}
	// Mixed: hunter2, Tr0ub4dor&3, nwsw#izuylb.
	if p.argument && isName(v) {
		return false // f(password=arg1)
	}
	return len(v) >= 4 && (p.op != colon || p.whole || p.compound || len(v) >= 8)
}

// wordSecret judges a value that could be the name of a variable.
func (p *pair) wordSecret(s, v string, sh shape) bool {
	if p.argument || strings.Contains(v, ".") {
		return false
	}
	if p.class >= secret && len(v) >= 24 && !strings.ContainsAny(v, "_-") && (sh.lower == 0 || sh.upper == 0) {
		return true // no word is that long
	}
	switch p.op {
	case assign:
		if p.spaced {
			// password = openSesame: a settings file if a user stands beside it.
			return p.whole && p.class == password && p.besideUser(s)
		}
		if strings.EqualFold(s[p.name.start:p.name.end], "pwd") && (p.name.start == 0 || s[p.name.start-1] != ';') {
			return false // the working directory
		}
		return len(v) >= 3
	case colon:
		if !p.whole || sh.upper > 0 && sh.lower > 0 && p.class != password {
			return false
		}
		return p.compound && len(v) >= 3 || p.class == password && (p.besideUser(s) || len(v) >= 14)
	case element:
		return len(v) >= 4
	case flag:
		return len(v) >= 6 && p.class == password && p.compound
	}
	return false
}

// besideUser reports whether one of the lines around the pair names a user in the same way.
func (p *pair) besideUser(s string) bool {
	near := strings.ToLower(s[max(0, p.name.start-240):p.name.start] + "\n" + s[p.value.end:min(len(s), p.value.end+120)])
	for line := range strings.SplitSeq(near, "\n") {
		name, _, ok := strings.Cut(line, "=")
		if !ok {
			name, _, ok = strings.Cut(line, ":")
		}
		name = strings.Trim(name, " \t-\"'")
		if ok && hasSuffix(name, "user", "username", "login", "uid", "user id", "userid", "email", "account") &&
			!strings.ContainsAny(name, "(.") {
			return true
		}
	}
	return false
}

// codelike reports whether a value is an expression.
func codelike(v string) bool {
	if containsAny(v, "(", "[", "{", "->", "::") || hasPrefix(v, "&", "*") || strings.HasPrefix(v, "!") && isName(v[1:]) {
		return !strings.HasPrefix(v, mark)
	}
	if i := strings.IndexByte(v, '.'); i > 0 && isName(v) && shapeOf(v).digit <= 2 {
		return true // settings.password
	}
	i := strings.IndexByte(v, '+')
	return i > 0 && isName(v[:i])
}

// calls reports whether a value begins with the name of what it calls or indexes.
func calls(v string) bool {
	i := strings.IndexAny(v, "([{")
	return i == 0 || i > 0 && isName(strings.TrimLeft(v[:i], "&*!"))
}

func allHex(v string) bool {
	for i := 0; i < len(v); i++ {
		if !isHex(v[i]) && v[i] != '-' {
			return false
		}
	}
	return true
}
