package redact

import "strings"

// codes masks the codes that recover an account, on the line that names them or below.
func (x *scan) codes(at, _ int) {
	s := x.s
	before := strings.ToLower(s[max(0, at-24):at])
	if !containsAny(before, "recovery", "backup", "scratch", "rescue", "emergency", "one-time", "2fa", "mfa", "restore") {
		return
	}
	end := lineEnd(s, at, 200)
	colon := strings.IndexByte(s[at:end], ':')
	if colon < 0 {
		return
	}
	i := at + colon + 1
	for n, empty := 0, 0; n < 400 && i < len(s); {
		for i < len(s) && strings.IndexByte(" \t\r,;|*-•\"'`[]()", s[i]) >= 0 {
			i++
		}
		if i < len(s) && (s[i] == '\n' || strings.HasPrefix(s[i:], `\n`)) {
			if empty++; empty > 3 {
				return
			}
			i += 1 + strings.Count(s[i:i+1], `\`)
			continue
		}
		j := runEnds(s, i, 64, "-_")
		word := strings.TrimRight(s[i:j], "-_")
		switch {
		case len(word) <= 3 && strings.Trim(word, digits) == "" && j < len(s) && (s[j] == '.' || s[j] == ')') && word != "":
			i = j + 1 // 1. a2bc-d3ef
		case len(word) >= 4 && (strings.ContainsAny(word, digits) || strings.Count(word, "-") >= 2) &&
			!isTechWord(word):
			x.add(i, i+len(word))
			i, empty = i+len(word), 0
			n++
		default:
			return
		}
	}
}

// pairOfLogin masks the password of a pair in prose: log in with admin:…, credentials admin / ….
func (x *scan) pairOfLogin(at, _ int) {
	s := x.s
	start, end := lineStart(s, at, 80), sentenceEnd(s, at)
	f := fields(s, start, 30, end-start)
	for i, w := range f {
		word := strings.Trim(w.of(s), ".,;()")
		if k := strings.IndexByte(word, '='); k >= 0 && k < 10 {
			word = word[k+1:] // login=user:…
		}
		if word == "with" && i > 1 && i+1 < len(f) && f[i-2].of(s) == "as" {
			x.secondOf(f[i-1].of(s), f[i+1]) // log in as root with …
		}
		if word == "/" && i > 0 && i+1 < len(f) {
			x.secondOf(f[i-1].of(s), f[i+1])
			continue
		}
		for _, sep := range [...]string{":", "/"} {
			if user, pass, ok := strings.Cut(word, sep); ok && user != "" && pass != "" {
				x.secondOf(user, span{w.start + strings.Index(w.of(s), word) + len(user) + 1, w.end})
				break
			}
		}
	}
}

// userValue masks the password in the value of a user: user=ops:….
func (x *scan) userValue(_, i int) {
	end := runEnd(x.s[:min(len(x.s), i+judged)], i)
	if user, _, ok := strings.Cut(x.s[i:end], ":"); ok && user != "" {
		x.secondOf(user, span{i + len(user) + 1, end})
	}
}

// secondOf masks the second half of a pair of user and password.
func (x *scan) secondOf(user string, v span) {
	for v.end > v.start && strings.IndexByte(".,;)", x.s[v.end-1]) >= 0 {
		v.end--
	}
	word := v.of(x.s)
	sh := shapeOf(word)
	if wordRun(strings.Trim(user, `"'(`)) != len(strings.Trim(user, `"'(`)) && !strings.Contains(user, "@") || len(word) < 5 ||
		sh.digit == 0 || sh.lower+sh.upper == 0 ||
		standsIn(word) && !weakPassword(word) || isVersion(word) || versioned(word) || isFileName(word) || isTechWord(word) ||
		strings.ContainsAny(word, "/:=(){}[]<>") ||
		allHex(word) || strings.HasPrefix(word, mark) {
		return
	}
	x.add(v.start, v.end)
}

// isFileName reports whether v ends as the name of a file does, with a dot and a few small letters.
func isFileName(v string) bool {
	ext := v[strings.LastIndexByte(v, '.')+1:]
	return len(ext) < len(v)-1 && len(ext) >= 2 && len(ext) <= 5 && strings.ToLower(ext) == ext && wordRun(ext) == len(ext) && isLetter(ext[0])
}

// versioned reports whether v is a name with a version behind it: checkout@v4.
func versioned(v string) bool {
	name, version, ok := strings.Cut(v, "@")
	return ok && wordlike(name) && len(version) > 1 && (version[0] == 'v' || strings.Contains(version, ".")) && isVersion(version)
}

// pin masks the digits of a PIN or of another short code that opens something.
func (x *scan) pin(at, _ int) {
	s := x.s
	if !boundary(s, at) || at > 0 && strings.IndexByte("-_.", s[at-1]) >= 0 || hasFold(s, max(0, at-5), "gpio ") {
		return
	}
	i := at
	for i < len(s) && isLetter(s[i]) {
		i++
	}
	for n := 0; n < 3 && i < len(s); n++ { // pin code is, PIN:
		for i < len(s) && strings.IndexByte(" :=\"'`#", s[i]) >= 0 {
			i++
		}
		j := i
		for j < len(s) && j < i+8 && isLetter(s[j]) {
			j++
		}
		switch strings.ToLower(s[i:j]) {
		case "is", "code", "number", "für", "ist", "was":
			i = j
		}
	}
	if i < len(s) && isLetter(s[i]) && hasPrefix(s[i:], "for ", "of ", "to ") {
		rest := s[i:sentenceEnd(s, i)] // PIN for the door is …
		if k, n := firstJoint(rest); k >= 0 && strings.Count(rest[:k], " ") <= 4 {
			i += k + n
		}
	}
	j := i
	for j < len(s) && isDigit(s[j]) {
		j++
	}
	next := byte(' ')
	if j < len(s) {
		next = s[j]
	}
	if j-i >= 4 && j-i <= 8 && !isAlnum(next) && strings.IndexByte("-_/:", next) < 0 &&
		(next != '.' || j+1 >= len(s) || !isDigit(s[j+1])) {
		x.add(i, j)
	}
}

// codeIs masks a short code that opens something, where a sentence says what it is.
func (x *scan) codeIs(at, _ int) {
	f := fields(x.s, lineStart(x.s, at, 40), 12, at-lineStart(x.s, at, 40))
	if len(f) == 0 {
		return
	}
	switch strings.ToLower(f[len(f)-1].of(x.s)) {
	case "your", "my", "verification", "security", "access", "login", "sms", "door", "unlock", "2fa", "mfa", "otp", "pin", "alarm", "gate":
		x.pin(at, at)
	}
}

// seed masks the seed of one-time passwords behind its name.
func (x *scan) seed(_, i int) {
	s := x.s
	rest := s[i:sentenceEnd(s, i)]
	if k, n := firstJoint(rest); k > 0 && strings.Count(rest[:k], " ") <= 5 {
		i += k + n // 2FA seed for the account: …
	}
	for n := 0; i < len(s) && n < 8 && strings.IndexByte(" :=\"'`is", s[i]) >= 0; n++ {
		i++
	}
	j := i
	for j < len(s) && (isUpper(s[j]) || s[j] >= '2' && s[j] <= '7') {
		j++
	}
	if j-i >= 16 {
		x.add(i, j)
	}
}

// oneCode masks the code that follows the word for it.
func (x *scan) oneCode(_, i int) {
	v, _ := x.wordAt(i)
	if w := v.of(x.s); len(w) >= 8 && strings.ContainsAny(w, digits) && strings.Trim(w, digits+smallAndCapital+"-") == "" {
		x.add(v.start, v.end)
	}
}

const smallAndCapital = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// loginCommand masks the second argument of a command called login, if it is the last, or a random
// one that is alone.
func (x *scan) loginCommand(_, i int) {
	args := arguments(x.s, i, 120)
	if len(args) == 1 {
		if word := strings.Trim(args[0].of(x.s), `"'`); len(word) >= 24 && random(word) && wordRun(word) == len(word) {
			x.add(args[0].start, args[0].end)
		}
		return
	}
	if len(args) != 2 {
		return
	}
	user, word := args[0].of(x.s), strings.Trim(args[1].of(x.s), `"'`)
	sh := shapeOf(word)
	if wordRun(user) == len(user) && user[0] != '-' && len(word) >= 6 && sh.digit > 0 && sh.lower+sh.upper > 0 &&
		!strings.ContainsAny(word, "/:.=$<({,") &&
		word[0] != '-' && !isTechWord(word) && !isVersion(word) {
		x.add(args[1].start, args[1].end)
	}
}

// userFlag masks the argument of a flag for a password behind one for a user, of
// whatever program: tool -u me -p ….
func (x *scan) userFlag(at, _ int) {
	if before := fields(x.s, lineStart(x.s, at, 120), 24, at-lineStart(x.s, at, 120)); len(before) >= 2 {
		x.passwordFlag(before[len(before)-2], before[len(before)-1])
	}
	args := arguments(x.s, at, 400)
	if len(args) < 4 {
		return
	}
	for i := 2; i+1 < len(args); {
		flag, value := args[i].of(x.s), args[i+1].of(x.s)
		if len(flag) < 2 || flag[0] != '-' {
			return
		}
		if x.passwordFlag(args[i], args[i+1]) {
			return
		}
		if value != "" && value[0] != '-' {
			i++
		}
		i++
	}
}

// passwordFlag masks the argument of a flag if the flag is one for a password, and
// reports whether it is.
func (x *scan) passwordFlag(flag, arg span) bool {
	switch flag.of(x.s) {
	case "-p", "-P", "-w", "-pw", "-pass", "--pass":
		word := strings.Trim(arg.of(x.s), `"'\`)
		if wordlike(word) && containsAny(x.s[lineStart(x.s, flag.start, 80):flag.start], "mysql", "mariadb", "psql") {
			return true // they take the password glued to the flag: this is a database
		}
		if (!standsIn(word) || weakPassword(word)) && !pathlike(word) && len(word) >= 4 && word[0] != '-' &&
			strings.Trim(word, digits+":.-") != "" &&
			!strings.ContainsAny(word, "/:,=") {
			x.add(arg.start, arg.end)
		}
		return true
	}
	return false
}

// identifiedBy masks the password of a user in a statement of SQL, without quotes.
func (x *scan) identifiedBy(at, i int) {
	s := x.s
	before := strings.ToLower(s[lineStart(s, at, 160):at])
	if !containsAny(before, "create user ", "alter user ", "grant ", "create role ", "set role ") {
		return
	}
	i = skipBlanks(s, i, 4)
	for _, word := range [...]string{"by ", "values ", "password "} {
		if hasFold(s, i, word) {
			i = skipBlanks(s, i+len(word), 4)
		}
	}
	v := span{i, runEnd(s, i)}
	if word := v.of(s); len(word) >= 3 && !standsIn(word) && !strings.ContainsAny(word, "():") {
		x.add(v.start, v.end)
	}
}

func skipSpace(s string, i int) int {
	for n := 0; i < len(s) && n < 200 && isSpace(s[i]); n++ {
		i++
	}
	return i
}

// mailbox masks the password behind an address of mail, as lists of accounts have
// it: me@x.org:…. It begins at i; the address holds the offset at.
func (x *scan) mailbox(at, i int) {
	s := x.s
	a := at
	for a > max(0, at-80) && (isAlnum(s[a-1]) || strings.IndexByte("@._+-", s[a-1]) >= 0) {
		a--
	}
	user, _, ok := strings.Cut(s[a:at], "@")
	end := runEnd(s, i)
	v := s[i:end]
	if !ok || user == "" || user == "git" || len(v) < 5 || strings.ContainsAny(v, "/:@") || !evidence(v) || shapeOf(v).digit == 0 ||
		strings.Trim(v, digits) == "" || standsIn(v) || isVersion(v) ||
		strings.TrimSpace(s[end:lineEnd(s, end, 4)]) != "" {
		return
	}
	x.add(i, end)
}
