package redact

import "strings"

// judged is how much of a value is looked at.
const judged = 256

// longestUser is how long the names of common users are at most.
const longestUser = 20

// holdsSecret decides whether the value of a pair is a secret.
//
// The name decides: what a password has been given is one, whatever it looks
// like. What is left alone says so itself: a reference, a template, a
// placeholder, a type, a call, a label, prose. The less a name promises and the
// weaker the tie between the two, the more the value itself must look like a
// secret.
func (p *pair) holdsSecret(s string) bool {
	// The beginning tells; a run of a megabyte is judged again for every name in it.
	v := s[p.value.start:min(p.value.end, p.value.start+judged)]
	if strings.Trim(v, " ") == "" || isReference(v) {
		return false
	}
	if p.class < password && (isID(v) || isColour(v)) || !p.quoted && strings.HasSuffix(v, ":") && isName(v[:len(v)-1]) ||
		p.class == weak && isUUID(v[strings.LastIndexByte(v, '/')+1:]) || p.isSelf(s, v) ||
		isDotted(v) || p.testResult(s, v) || p.shown(s) {
		return false
	}
	if strings.HasPrefix(v, mark) {
		return len(v) > len(mark) && isToken(v[len(mark)]) && !p.quoted
	}
	if p.op == assign && p.quoted && p.class == secret && p.compound && len(v) <= 2 {
		return isAlnum(v[0]) // api_key="x": a short one is one all the same
	}
	if isPlaceholder(v) || len(v) <= longestUser && commonUsers()[strings.ToLower(v)] && p.sameAsUser(s, v) {
		return false
	}
	if p.quoted {
		return p.quotedSecret(s, v)
	}
	return p.plainSecret(s, v)
}

// quotedSecret judges a value in quotes.
func (p *pair) quotedSecret(s, v string) bool {
	if isTemplate(v) && !random(v) && !mixed(v) || v[0] == '}' || v[0] == ']' {
		return false // the seam of two strings
	}
	if p.block && !strings.HasPrefix(v, "{{") {
		return len(v) >= 3 && (p.class != bare || evidence(v))
	}
	if strings.ContainsAny(v, " \n") {
		return p.phrase(v)
	}
	if isSecretWord(v) && (p.class != password || !weakPassword(v)) || pathlike(v) {
		return false
	}
	if random(v) {
		return true
	}
	if p.class == weak || p.wrapped && (p.class != password || len(v) < 8 || !evidence(v)) {
		return p.class == weak && len(v) >= 24 && evidence(v) && entropy(v) > 3.8 && !wordlike(v) && !slug(v) && !listOf(v)
	}
	if label(v) {
		return false
	}
	switch p.op {
	case says:
		plain := isLower(v[0]) && s[p.value.start-1] != '`'
		return p.class == password && len(v) >= 4 && (evidence(v) || plain) || p.is && len(v) >= 4 || evidence(v) && len(v) >= 8
	case call:
		return p.class == password && len(v) >= 4 && (evidence(v) || p.sets(s) && isLower(v[0])) ||
			(p.class == secret || p.class == bare && p.compound) && len(v) >= 8 &&
				evidence(v)
	case list:
		if p.stores(s) {
			return p.class == password && len(v) >= 4 || len(v) >= 6 && evidence(v)
		}
		return len(v) >= 6 && evidence(v) && (p.class == password || p.class == secret && len(v) >= 12)
	case compare:
		return p.class == password && len(v) >= 4 || p.class == secret && len(v) >= 4 && evidence(v) ||
			len(v) >= 6 && evidence(v) && (!isName(v) || shapeOf(v).digit >= 2 || strings.ToUpper(p.name.of(s)) == p.name.of(s))
	}
	capital := isUpper(v[0]) && wordlike(v) && caseFlips(v) == 1
	switch p.class {
	case password:
		return len(v) >= 3 && !(capital && p.op == colon)
	case secret:
		return len(v) >= 3 && !(wordlike(v) && isUpper(v[0]) && caseFlips(v) > 0 && p.op == colon)
	}
	// The word secret or token alone: a parser has tokens, too.
	if n := shapeOf(v).digit; n == len(v) {
		return n >= 6
	}
	return len(v) >= 5 && !isVersion(v) && (evidence(v) || p.op <= colon && isLower(v[0]) && wordlike(v) && !isState(v)) ||
		len(v) >= 20
}

// phrase reports whether a value with blanks may be a passphrase: words, but none
// of those that make a sentence.
func (p *pair) phrase(v string) bool {
	v = strings.TrimSpace(v)
	if p.class < bare || p.op == call || p.op == list || len(v) > 200 ||
		strings.ContainsAny(v, "\n%$<>{}()[]|;=") {
		return false
	}
	words := strings.Fields(v)
	if len(words) == 1 {
		return !isSecretWord(v) && !isPlaceholder(v) && !label(v)
	}
	if len(words) > 25 || wordlike(v) && isUpper(v[0]) && (len(words) == 2 || p.op == colon) {
		return false
	}
	little := 0
	for i, w := range words {
		low := strings.ToLower(strings.Trim(w, ",.!?:;'\"…"))
		if sentenceWords()[low] {
			little++
		}
		if isSecretWord(low) {
			return false
		}
		if last := w[len(w)-1]; (last == '.' || last == '?' || last == ':' || last == ',') && (i+1 < len(words) || !evidence(w)) {
			return false
		}
	}
	if little > 1 || little == 1 && (p.class != password || len(words) < 3 || strings.ToLower(v) != v) {
		return false
	}
	return p.class == password || evidence(v) || len(words) >= 3
}

// label reports whether a value is something programs show or look up: a word
// with a capital and punctuation, a key of a message, a selector, a version.
func label(v string) bool {
	switch v[0] {
	case '.', '/', '@', '%', '&', '(', '[', '{', '|', '^', '\\', ':', ',':
		return wordlike(v[1:]) || v[0] == '\\' || v[0] == '^'
	}
	if strings.ContainsAny(v, "|") && wordlike(strings.NewReplacer("|", "", ",", "", "0", "", "6", "", "8", "", "2", "", "5",
		"").Replace(v)) {
		return true // required|min:8
	}
	sh := shapeOf(v)
	if sh.wide > 0 && (sh.digit == 0 || sh.lower+sh.upper == 0) {
		return true // words of other languages; keys and passwords are ASCII but for a few
	}
	joints := strings.Count(v, "_") + strings.Count(v, ".") + strings.Count(v, "-") + strings.Count(v, ":")
	return joints >= 2 && wordlike(v) && sh.upper <= 2 && sh.digit == 0 && strings.Count(v, "-") < joints
}

// plainSecret judges a value without quotes.
func (p *pair) plainSecret(s, v string) bool {
	if p.class == password && p.whole && wordlike(v) && len(v) > 8 && isSecretWord(v) && p.op == assign && !p.spaced {
		return p.besideUser(s) // thisismypassword, in a file of settings
	}
	if p.speaks(v) {
		return false
	}
	switch p.op {
	case says:
		return p.said(s, v)
	case compare:
		return p.class == password && len(v) >= 6 && mixed(v) || random(v) && !allHex(v)
	}
	if random(v) {
		return p.class > weak || p.query(s) && len(v) >= 24 && !isUUID(v) || !allHex(v) && shapeOf(v).upper > 0 && !strings.HasPrefix(v, "0x")
	}
	if p.class == weak {
		return false
	}
	sh := shapeOf(v)
	if sh.lower+sh.upper == 0 {
		return p.number(sh)
	}
	if isName(v) && sh.digit == 0 {
		return p.wordSecret(s, v, sh)
	}
	return p.mixedSecret(v)
}

// speaks reports whether a value without quotes is code, a template, a path or a word of the trade.
func (p *pair) speaks(v string) bool {
	return codelike(v) && (calls(v) || !random(v)) || isTemplate(v) && !mixed(v) || pathlike(v) ||
		isSecretWord(v) && !(p.class == password && (p.op == assign && !p.spaced && !p.argument || p.op == flag) && weakPassword(v))
}

// mixedSecret judges a value of letters and other signs: hunter2, Tr0ub4dor&3, nwsw#izuylb.
func (p *pair) mixedSecret(v string) bool {
	if p.class == bare {
		return len(v) >= 5 && evidence(v) && !isVersion(v) && (p.op == assign && !p.spaced || p.op == flag || p.op == element ||
			p.whole || len(v) >= 8)
	}
	return len(v) >= 3 && (p.op != colon || p.whole || p.compound || p.argument || len(v) >= 6)
}

// number judges a value of digits: a PIN, but also a counter and the column of a table.
func (p *pair) number(sh shape) bool {
	if sh.digit < 4 || p.argument && p.op == assign && p.class != password {
		return false
	}
	switch p.op {
	case assign:
		return p.class == password || sh.digit >= 6 && (!p.spaced || p.whole || p.class == secret)
	case colon:
		return p.class == password && (p.whole || p.compound) || p.class == secret && sh.digit >= 6 || p.whole && sh.digit >= 6 &&
			p.class == bare
	case element, flag:
		return true
	}
	return false
}

// said judges a value that nothing but a blank or the word is ties to its name.
func (p *pair) said(s, v string) bool {
	sh := shapeOf(v)
	mix := sh.digit > 0 && sh.lower+sh.upper > 0 && len(v) >= 5 && !isTechWord(v) && !isVersion(v) && !versioned(v)
	switch {
	case random(v):
		return (!allHex(v) || p.directive || p.is && p.class == secret && len(v) >= 32) && (sh.upper > 0 || sh.digit >= 4) &&
			!strings.Contains(v, "..")
	case p.directive:
		return len(v) >= 3 && !states()[strings.ToLower(v)] && (mix || sh.symbol > 0 && sh.lower+sh.upper > 0 || p.class != bare ||
			p.exported)
	case p.is && p.class == password:
		return mix || len(v) >= 6 && !wordlike(v) && sh.lower+sh.upper > 0 || p.endsSentence(s) && len(v) >= 5 && sh.upper == 0 &&
			wordlike(v) && !isState(v)
	case p.is:
		return mix && len(v) >= 8
	case p.class == password:
		return mix && len(v) >= 6 && (p.ends(s) || sh.symbol > 0)
	}
	return mix && len(v) >= 12
}

// wordSecret judges a value that could be the name of a variable.
func (p *pair) wordSecret(s, v string, sh shape) bool {
	if p.argument && !p.listed || isState(v) && (p.op == colon || p.op == flag) {
		return false
	}
	switch p.op {
	case assign:
		return p.assignedWord(s, v)
	case colon:
		return p.declaredWord(s, v, sh)
	case element:
		return len(v) >= 3 && p.class >= secret || len(v) >= 4
	case flag:
		return len(v) >= 3 && p.class >= secret && sh.upper == 0
	}
	return false
}

// assignedWord judges a word behind an equals sign: a value in a file of settings
// and on a command line, a variable in a program.
func (p *pair) assignedWord(s, v string) bool {
	plain := isLower(v[0]) && !strings.ContainsAny(v, "_-.")
	if p.spaced {
		return p.whole && len(v) >= 3 && (p.class >= secret && p.besideUser(s) ||
			(p.class == password || p.compound || plain && !isState(v)) && !p.inCode(s))
	}
	if p.class == bare {
		return len(v) >= 4 && p.whole && plain && !isState(v) && !p.inCode(s)
	}
	return len(v) >= 3
}

// declaredWord judges a word behind a colon: a value of YAML, a type, a word of prose.
func (p *pair) declaredWord(s, v string, sh shape) bool {
	switch {
	case p.argument, len(v) < 3:
		return false
	case !p.whole:
		return p.class == password && p.tail && len(v) >= 4 && (p.userBefore(s) || p.listed)
	case p.class == password && p.besideUser(s):
		return true
	case p.inCode(s):
		return p.compound && p.class >= secret && sh.upper == 0
	case p.class == password:
		return p.compound || !isUpper(v[0])
	}
	if sh.lower == 0 && sh.symbol == 0 && len(v) >= 12 {
		return true // no word of capitals is that long
	}
	return sh.upper == 0 && (p.compound && p.class == secret || len(v) >= 4 && !strings.ContainsAny(v, "_-"))
}

// codelike reports whether a value is an expression.
func codelike(v string) bool {
	if containsAny(v, "(", "[", "{", "->", "::") || hasPrefix(v, "&", "*") {
		return !strings.HasPrefix(v, mark)
	}
	if field := strings.Replace(v, ".#", ".", 1); strings.IndexByte(v, '.') > 0 && isName(field) && dottedWords(field) {
		return true // settings.password, this.#password
	}
	i := strings.IndexByte(v, '+')
	return i > 0 && isName(v[:i]) && shapeOf(v[:i]).digit == 0 && (shapeOf(v).digit == 0 || len(v)-i == 2)
}

// dottedWords reports whether each of the parts of a dotted name is one that people give: a word, perhaps
// with a number behind it.
func dottedWords(v string) bool {
	last := ""
	for part := range strings.SplitSeq(v, ".") {
		if !wordlike(strings.TrimRight(part, digits)) {
			return false
		}
		last = part
	}
	return len(last) > 1
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
