package redact

import "strings"

// phrased reads what a sentence, a log or a box on the terminal says of the secret
// that it names, where no operator follows the name at once:
//
//	the password for the staging box is "…"
//	Initial password for 'root': …
//	Please use the following password to proceed:
//
//	…
func (x *scan) phrased(p pair) {
	s := x.s
	if strings.EqualFold(p.name.of(s), "pass") {
		x.columns(p)
		return // pass it on
	}
	if p.class < bare || p.class == password && x.before(p) {
		return
	}
	if x.passphrase(p) || x.columns(p) {
		return
	}
	if p.name.start < x.readEnd[p.class] {
		return // the sentence has been read from a name before
	}
	if x.lastArgument(p) {
		return
	}
	i := p.name.end
	end := sentenceEnd(s, i)
	rest := s[i:end]
	x.readEnd[p.class] = end
	if x.joint(p, i, rest) {
		return
	}
	// The value stands on a separate line below.
	bare := strings.TrimRight(rest, " \t\r"+boxSigns)
	colon := strings.HasSuffix(bare, ":")
	lead := strings.TrimLeft(s[lineStart(s, p.name.start, 80):p.name.start], " \t")
	boxed := lead != "" && strings.IndexByte(boxSigns, lead[0]) >= 0 && len(lead) > 1 && lead[1] == lead[0]
	if !colon && !boxed {
		return
	}
	x.below(p, lineEnd(s, end, 200))
}

// before masks the value that a sentence names before it says what it is: use … as the password,
// … is my root password.
func (x *scan) before(p pair) bool {
	s := x.s
	rest := s[p.name.end:lineEnd(s, p.name.end, 8)]
	if rest != "" && strings.IndexByte(".,;:!?)", rest[0]) < 0 &&
		!hasPrefix(rest, " for", " to", " on", " in", " at", " and", " there", " now") {
		return false
	}
	lo := lineStart(s, p.name.start, 100)
	if !hasMark(s[lo:p.name.start]) {
		return false
	}
	f := fields(s[:p.name.start], lo, 24, p.name.start-lo)
	i := len(f) - 1
	for n := 0; n < 3 && i > 0 && !joinsBack(f[i].of(s)); n++ {
		i-- // the, my, new, root
	}
	if i < 1 || !joinsBack(f[i].of(s)) || f[i].of(s) == "for" && (i < 2 || !hands(f[i-2].of(s))) {
		return false
	}
	v := f[i-1]
	for v.start < v.end && strings.IndexByte("'`(", s[v.start]) >= 0 {
		v.start++
	}
	for v.end > v.start && strings.IndexByte("'`),", s[v.end-1]) >= 0 {
		v.end--
	}
	word := v.of(s)
	sh := shapeOf(word)
	if len(word) < 6 || sh.digit == 0 || sh.lower+sh.upper == 0 || sh.wide > 0 || isFiller(word) || isTechWord(word) || isVersion(word) ||
		pathlike(word) || codelike(word) || isID(word) || allHex(word) || strings.ContainsAny(word, "=<>{}[]()/:,") {
		return false
	}
	x.addAs(p.class.rule(), v.start, v.end)
	return true
}

// joinsBack reports whether a word ties what stands before it to a name behind it.
func joinsBack(word string) bool {
	return word == "as" || word == "is" || word == "for" || word == "als" || word == "ist"
}

// shortestArgument is how long a random word is at least that a command names from afar.
const shortestArgument = 24

// lastArgument masks a random word that ends the line, at most three words behind the name: apikey save
// prod ….
func (x *scan) lastArgument(p pair) bool {
	s := x.s
	if p.class < secret {
		return false
	}
	end := lineEnd(s, p.name.end, 160)
	if line := strings.TrimRight(s[p.name.end:end], " \t\r"); len(line)-strings.LastIndexByte(line, ' ') <= shortestArgument {
		return false
	}
	f := fields(s, p.name.end, 5, end-p.name.end)
	if len(f) < 2 || len(f) > 4 || strings.TrimSpace(s[f[len(f)-1].end:end]) != "" {
		return false
	}
	for _, w := range f[:len(f)-1] {
		if word := w.of(s); !wordlike(word) || strings.ContainsAny(word, ".:/'") {
			return false
		}
	}
	last := f[len(f)-1]
	word := last.of(s)
	if sh := shapeOf(word); len(word) < shortestArgument || wordRun(word) != len(word) ||
		sh.lower == 0 || sh.upper == 0 || sh.digit == 0 || !random(word) ||
		isID(word) {
		return false
	}
	x.addAs(p.class.rule(), last.start, last.end)
	return true
}

// hands reports whether a verb hands over what follows it: use …, enter ….
func hands(verb string) bool {
	switch strings.ToLower(verb) {
	case "use", "using", "try", "enter", "type", "typed", "entered", "set", "put":
		return true
	}
	return false
}

// boxSigns are what programs draw boxes and rulers of.
const boxSigns = "*=#|-+~_│║┃"

// sentenceEnd returns where the line at i ends, or the sentence if it does so first.
func sentenceEnd(s string, i int) int {
	hi := min(len(s), i+160)
	for k := i; k < hi; k++ {
		switch {
		case s[k] == '\n', s[k] == '\\' && k+1 < hi && s[k+1] == 'n':
			return k
		case (s[k] == '.' || s[k] == '!' || s[k] == '?') && k+1 < hi && s[k+1] == ' ':
			return k
		}
	}
	return hi
}

// joints are what stands between a name, or what is said about it, and its value.
var joints = [...]string{
	": ", " is ", " are ", " was ", " to ", " = ", " as ", " with ", " from ", " => ", " -> ", " → ",
	" generated ", " be ", ", enter ", ", use ", ", type ", ", try ",
	" è ", " est ", " es ", " ist ", " lautet ", " é ", " jest ", " är ", " er ", " это ",
}

// jointSeconds are the second bytes of the joints.
var jointSeconds = func() (is [256]bool) {
	for _, j := range joints {
		is[j[1]] = true
	}
	return is
}()

// firstJoint returns where the first joint of s begins, and its length; -1 for none. Each
// begins with a blank, a colon or a comma.
func firstJoint(s string) (at, size int) {
	for i := 0; i < len(s); i++ {
		if s[i] != ' ' && s[i] != ':' && s[i] != ',' || i+1 < len(s) && !jointSeconds[s[i+1]] {
			continue
		}
		for _, j := range joints {
			if strings.HasPrefix(s[i:], j) {
				return i, len(j)
			}
		}
	}
	return -1, 0
}

// hasMark reports whether a digit or a quotation mark stands in s.
func hasMark(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; isDigit(c) || c == '"' || c == '\'' || c == '`' {
			return true
		}
	}
	return false
}

// joint masks the value behind the joint of a sentence. The text rest begins at i.
func (x *scan) joint(p pair, i int, rest string) bool {
	found := false
	if !hasMark(rest) {
		return false // nothing there looks like a secret
	}
	for at := 0; at < len(rest); {
		best, size := firstJoint(rest[at:])
		if best < 0 || strings.Count(rest[:at+best], " ") > 12 {
			break
		}
		word := rest[at+best : at+best+size]
		at += best + size
		v, isQuoted := x.wordAt(i + at)
		if next := skipBlanks(x.s, v.end, 4); p.class == password && (word == " is " || word == " was ") && next > v.end && next < i+len(rest) &&
			v.end-v.start <= len("currently") && wordlike(v.of(x.s)) {
			if later, quotes := x.wordAt(next); x.endsAt(later.end) && later.end > later.start && x.tellable(p, later, quotes, word) {
				v, isQuoted = later, quotes // is now …
			}
		}
		if v.end > i+len(rest)+1 || !x.tellable(p, v, isQuoted, word) {
			at--
			continue
		}
		x.addAs(p.class.rule(), v.start, v.end)
		found = true
		at = v.end - i
	}
	return found
}

// wordAt returns the word at i, without what closes a sentence, or the inside of the quotes there.
func (x *scan) wordAt(i int) (v span, isQuoted bool) {
	s := x.s
	i = skipBlanks(s, i, 8)
	if quoteAt(s, i) != "" {
		v, _ = quoted(s, i)
		return v, true
	}
	for _, q := range [...][2]string{{"«", "»"}, {"“", "”"}, {"„", "“"}, {"「", "」"}, {"『", "』"}} {
		if rest, ok := strings.CutPrefix(s[i:min(len(s), i+120)], q[0]); ok {
			if k := strings.Index(rest, q[1]); k > 0 {
				inside := strings.Trim(rest[:k], " \u00a0")
				start := i + len(q[0]) + strings.Index(rest, inside)
				return span{start, start + len(inside)}, true
			}
		}
	}
	j := i
	for j < len(s) && !isSpace(s[j]) && strings.IndexByte("\"'`<>|", s[j]) < 0 && !escapeAt(s, j) {
		j++
	}
	for j > i && strings.IndexByte(".,;:)?!]}", s[j-1]) >= 0 && !(s[j-1] == '!' && j-i > 6) {
		j--
	}
	return span{i, j}, false
}

// tellable reports whether the word behind a joint is the secret.
func (x *scan) tellable(p pair, at span, isQuoted bool, joint string) bool {
	v := at.of(x.s)
	if p.plainly(v, isQuoted) {
		return false
	}
	if strings.Contains(v, " ") {
		q := p
		q.is = true
		return isQuoted && p.class == password && joint == " is " && q.phrase(v)
	}
	sh := shapeOf(v)
	letters := sh.lower + sh.upper
	switch {
	case p.class == password && joint == ": " && !isQuoted && sh.upper > 0 && sh.lower > 0 && sh.digit > 0 && sh.symbol > 0 && len(v) >= 8 &&
		strings.TrimSpace(x.s[at.end:lineEnd(x.s, at.end, 8)]) == "":
		return true // one that a program drew, whatever its signs
	case sh.wide > 0 || strings.ContainsAny(v, "=(){}[]<>,;|&"), letters == 0:
		return false
	case p.class == password && isQuoted:
		return evidence(v) && !label(v)
	case p.class == password:
		return sh.digit > 0 && len(v) >= 6 && !allHex(v) && (sh.digit >= 2 || sh.symbol > 0 || sh.upper > 0 || joint == ": ") &&
			strings.IndexByte(v, '/') < 0 ||
			random(v) && (!allHex(v) || joint == ": " || strings.Count(v, "-") == 4)
	}
	return random(v) && !allHex(v)
}

// plainly reports whether the word behind a joint is no secret, whatever its signs.
func (p *pair) plainly(v string, isQuoted bool) bool {
	return len(v) < 5 || len(v) > 200 || p.class < password && isID(v) || isFiller(v) || isSecretWord(v) && !weakPassword(v) ||
		pathlike(v) || codelike(v) ||
		isVersion(v) || isTechWord(v) ||
		strings.ContainsAny(v, "@") && strings.Contains(v, ".") && !isQuoted
}

// below masks the word that stands alone on one of the lines below a name, in a box or not.
func (x *scan) below(p pair, i int) {
	s := x.s
	for n := 0; n < 4 && i < len(s); n++ {
		_, i = nextLine(s, i)
		end, _ := nextLine(s, i)
		v := span{i, end}
		cut := " \t\r\"'`>" + boxSigns
		for v.start < v.end && strings.IndexByte(cut, s[v.start]) >= 0 {
			v.start++
		}
		for v.end > v.start && strings.IndexByte(cut, s[v.end-1]) >= 0 {
			v.end--
		}
		word := v.of(s)
		if word == "" {
			continue
		}
		if strings.ContainsAny(word, " \t,;()<>{}@") || len(word) < 6 || isFiller(word) || pathlike(word) || isVersion(word) ||
			isSecretWord(word) || isTechWord(word) {
			return
		}
		if random(word) && (p.class == password || !isID(word)) ||
			p.class == password && evidence(word) && shapeOf(word).digit > 0 && !strings.ContainsAny(word, ":=/") {
			x.addAs(p.class.rule(), v.start, v.end)
		}
		return
	}
}

// passphrase masks the words of a passphrase that stand without quotes behind their name, to
// the end of the line.
func (x *scan) passphrase(p pair) bool {
	s := x.s
	if p.class != password || p.value.start == 0 || p.quoted || p.op != colon && p.op != assign && !p.is {
		return false
	}
	if !p.first(s) && !p.is && !p.opensLine(s) || p.is && p.value.end > 0 && p.value.start > 0 &&
		!strings.Contains(strings.ToLower(p.name.of(s)), "phrase") {
		return false
	}
	v := span{p.value.start, sentenceEnd(s, p.value.start)}
	for v.end > v.start && strings.IndexByte(" \t\r\"'`.", s[v.end-1]) >= 0 {
		v.end--
	}
	text := v.of(s)
	if !strings.Contains(text, " ") || strings.ContainsAny(text, "\"'#,:/\\=") || strings.ToLower(text) != text || p.inCode(s) {
		return false
	}
	for w := range strings.FieldsSeq(text) {
		if sentenceWords()[w] {
			return false
		}
	}
	if words := strings.Count(text, " ") + 1; words < 3 && !evidence(text) || !p.phrase(text) {
		return false
	}
	x.addAs(p.class.rule(), v.start, v.end)
	return true
}
