package redact

import "strings"

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

// sameAsUser reports whether the value is the name of a user, too, on one of the lines around: the
// login with which a program comes, and which is no secret.
func (p *pair) sameAsUser(s, v string) bool {
	near := strings.ToLower(s[max(0, p.name.start-240):p.name.start] + "\n" + s[p.value.end:min(len(s), p.value.end+120)])
	for line := range strings.SplitSeq(near, "\n") {
		k := strings.Index(line, "user")
		if k < 0 {
			k = strings.Index(line, "login")
		}
		if k >= 0 && strings.Contains(line[k:], strings.ToLower(v)) {
			return true
		}
	}
	return false
}

// userBefore reports whether a user is named on the same line before the pair: Login: admin Password: x.
func (p *pair) userBefore(s string) bool {
	return containsAny(strings.ToLower(s[lineStart(s, p.name.start, 120):p.name.start]), "user", "login", "email", "account", "uid")
}

// userBeside is userBefore, within a few words of the name: user admin pass x.
func (p *pair) userBeside(s string) bool {
	return containsAny(strings.ToLower(s[lineStart(s, p.name.start, 32):p.name.start]), "user", "login", "email", "account", "uid")
}

// inCode reports whether the lines around the pair look like those of a program,
// in which a word without quotes names a variable.
func (p *pair) inCode(s string) bool {
	lo, hi := lineStart(s, p.name.start, 400), lineEnd(s, p.value.end, 400)
	before, after := s[max(0, lo-300):lo], s[hi:min(len(s), hi+200)]
	return codeLines(before, true) || codeLines(after, false)
}

// codeLines reports whether one of the two lines next to a pair, which stand at the
// end or at the beginning of near, is one of a program.
func codeLines(near string, atEnd bool) bool {
	lines := strings.Split(strings.Trim(near, "\n"), "\n")
	if atEnd {
		lines = lines[max(0, len(lines)-2):]
	} else {
		lines = lines[:min(2, len(lines))]
	}
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' || l[0] == '[' {
			continue
		}
		if strings.IndexByte(";{}(),", l[len(l)-1]) >= 0 || strings.Contains(l, "()") || strings.Contains(l, " := ") ||
			hasPrefix(l, "def ", "return", "if ", "for ", "func ", "class ", "import ", "from ", "let ", "const ", "var ", "else",
				"elif ", "try", "with ", "self.", "this.", "print", "raise ", "assert ") {
			return true
		}
		if k := strings.IndexByte(l, '('); k > 0 && isAlnum(l[k-1]) {
			return true
		}
	}
	return false
}

// query reports whether the pair is a parameter called key of an address: ?key=….
func (p *pair) query(s string) bool {
	return p.op == assign && p.name.of(s) == "key" && p.name.start > 0 && (s[p.name.start-1] == '?' || s[p.name.start-1] == '&')
}

// sets reports whether the name is that of a function that sets: setPassword("…").
func (p *pair) sets(s string) bool {
	name := strings.ToLower(p.name.of(s))
	if k := strings.LastIndexByte(name, '.'); k >= 0 {
		name = name[k+1:]
	}
	return hasPrefix(name, "set", "with")
}

// stores reports whether the name is the first argument of a function that
// keeps a value under it: put("password", "…"), define('DB_PASSWORD', '…').
func (p *pair) stores(s string) bool {
	i := p.name.start
	for i > 0 && strings.IndexByte("\"'`\\ ", s[i-1]) >= 0 && p.name.start-i < 4 {
		i--
	}
	if i == 0 || s[i-1] != '(' {
		return false
	}
	j := i - 1
	for j > max(0, i-40) && (isAlnum(s[j-1]) || s[j-1] == '_') {
		j--
	}
	name := strings.ToLower(s[j : i-1])
	return hasPrefix(name, "put", "set", "define", "add", "config", "with", "header", "append", "store", "save", "write",
		"insert", "env", "getenv") ||
		hasSuffix(name, "property", "put", "set", "ordefault")
}

// opensLine reports whether at most three words stand before the name on its line.
func (p *pair) opensLine(s string) bool {
	lead := strings.Trim(s[lineStart(s, p.name.start, 60):p.name.start], " \t-*#>\"")
	return wordlike(lead) && strings.Count(lead, " ") <= 2 && !strings.ContainsAny(lead, ":./")
}

// endsSentence reports whether the value is the last word of a line or a sentence.
func (p *pair) endsSentence(s string) bool {
	rest := s[p.value.end:lineEnd(s, p.value.end, 8)]
	rest = strings.TrimRight(rest, " \t\r")
	return rest == "" || rest == "." || hasPrefix(rest, ". ", ", ", " and", " but")
}

// ends is endsSentence, or the value is followed by a sign.
func (p *pair) ends(s string) bool {
	return p.endsSentence(s) || p.value.end < len(s) && strings.IndexByte(".,;)\"'`\n\r", s[p.value.end]) >= 0 ||
		hasPrefix(s[p.value.end:], " and ", " on ", " for ", " to ", " in ", " at ", " (", " - ")
}

// inCall reports whether the offset stands within the brackets of a call that
// opens on the same line: f(a, password=…
func inCall(s string, at int) bool {
	depth := 0
	for i := at - 1; i >= max(0, at-200) && s[i] != '\n'; i-- {
		switch s[i] {
		case ')':
			depth++
		case '(':
			if depth == 0 {
				return i > 0 && (isAlnum(s[i-1]) || s[i-1] == '_')
			}
			depth--
		}
	}
	return false
}
