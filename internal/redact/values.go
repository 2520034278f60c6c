package redact

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// What a value is made of.
type shape struct {
	lower, upper, digit, symbol, space, wide int // wide: bytes beyond ASCII
}

// shaped is how much of a value its shape and its entropy are counted of.
const shaped = 512

func shapeOf(v string) shape {
	var sh shape
	v = v[:min(len(v), shaped)]
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case isLower(c):
			sh.lower++
		case isUpper(c):
			sh.upper++
		case isDigit(c):
			sh.digit++
		case isSpace(c):
			sh.space++
		case c >= 0x80:
			sh.wide++
		default:
			sh.symbol++
		}
	}
	return sh
}

// entropy returns the Shannon entropy of v in bits a byte, of its first 512 bytes.
func entropy(v string) float64 {
	if v = v[:min(len(v), shaped)]; v == "" {
		return 0
	}
	var counts [256]uint16
	for i := 0; i < len(v); i++ {
		counts[v[i]]++
	}
	bits, sum := nLogN(), 0.0
	for i := 0; i < len(v); i++ {
		sum += bits[counts[v[i]]]
		counts[v[i]] = 0
	}
	n := float64(len(v))
	return (bits[len(v)] - sum) / n
}

// nLogN is n times the binary logarithm of n, for counts of bytes.
var nLogN = sync.OnceValue(func() (table *[shaped + 1]float64) {
	table = new([shaped + 1]float64)
	for n := 2; n <= shaped; n++ {
		table[n] = float64(n) * math.Log2(float64(n))
	}
	return table
})

// random reports whether v looks like something a machine drew: long, letters
// and digits mixed throughout, no path, no name with a number at its end.
func random(v string) bool {
	if len(v) < 16 || pathlike(v) {
		return false
	}
	sh := shapeOf(v)
	if sh.space > 0 || sh.wide > 0 || sh.upper == 0 && slug(v) || listOf(v) {
		return false
	}
	h := entropy(v)
	if h < 2.8 {
		return false
	}
	// A machine changes case in the middle of words, people at their beginning.
	if isolatedLetters(v) >= 2 && caseFlips(v) >= len(v)/4 && sh.symbol <= 3 {
		return true
	}
	if sh.lower+sh.upper == 0 {
		return len(v) >= 20
	}
	return changes(v) >= 4 || changes(v) >= 2 && h > 3.5 && sh.digit >= 3
}

// slug reports whether v is words and numbers that hyphens or underscores join, as in names that
// programs give to runs and machines: training-job-resnet50-123.
func slug(v string) bool {
	if strings.Count(v, "-")+strings.Count(v, "_") < 2 {
		return false
	}
	words := 0
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == '-' || r == '_' }) {
		word := strings.TrimRight(part, digits)
		if len(part)-len(word) > 4 || word != "" && (!wordlike(word) || strings.ContainsAny(word, ".:/ '")) {
			return false
		}
		if len(word) >= 4 && len(word) <= 14 && strings.ContainsAny(word, "aeiouy") {
			words++
		}
	}
	return words >= 2
}

// listOf reports whether v is a list of values, as the tags of fields have it: varint,1,opt,name=key.
func listOf(v string) bool { return strings.Count(v, ",") > 1 }

// changes counts how often v goes from letters to digits or back.
func changes(v string) int {
	n := 0
	for i := 1; i < len(v); i++ {
		if isLetter(v[i-1]) && isDigit(v[i]) || isDigit(v[i-1]) && isLetter(v[i]) {
			n++
		}
	}
	return n
}

// isolatedLetters counts the small letters that stand alone between capitals, as words do not.
func isolatedLetters(v string) int {
	n := 0
	for i := 1; i+1 < len(v); i++ {
		if isLower(v[i]) && isUpper(v[i-1]) && isUpper(v[i+1]) {
			n++
		}
	}
	return n
}

// caseFlips counts the letters that differ in case from the letter before them.
func caseFlips(v string) int {
	n := 0
	for i := 1; i < len(v); i++ {
		if isLetter(v[i-1]) && isLetter(v[i]) && (v[i-1]^v[i])&0x20 != 0 {
			n++
		}
	}
	return n
}

// evidence reports whether v has a digit or a sign that words have not, among letters.
func evidence(v string) bool {
	sh := shapeOf(v)
	if sh.lower+sh.upper == 0 {
		return sh.digit >= 6 && sh.symbol > 0
	}
	return sh.digit > 0 || strings.ContainsAny(v, "!@#$%^&*?+=~")
}

// wordlike reports whether v is made of letters and of what joins them to names and sentences.
func wordlike(v string) bool {
	for i := 0; i < len(v); i++ {
		if c := v[i]; !isLetter(c) && c < 0x80 && strings.IndexByte("_-.:/ '", c) < 0 {
			return false
		}
	}
	return true
}

// pathlike reports whether v is a path, an address or a dotted name.
func pathlike(v string) bool {
	if hasPrefix(v, "./", "../", "~/", "arn:", `\\`) || strings.Contains(v, "://") {
		return true
	}
	if !strings.ContainsAny(v, `/.\\`) {
		return false // one part
	}
	// Base64 holds a slash now and then; a path holds words between its slashes.
	parts, words := 0, 0
	for p := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == '/' || r == '.' || r == '\\' }) {
		parts++
		if len(p) >= 12 && (changes(p) >= 3 || isolatedLetters(p) >= 2) || strings.ContainsAny(p, "!%*$&^#?=") {
			return false
		}
		if wordlike(p) && caseFlips(p) <= 2 || len(p) <= 3 {
			words++
		}
	}
	slash := strings.ContainsAny(v, `/\\`)
	return parts > 1 && words == parts && (slash || isName(v) && caseFlips(v) < len(v)/2) || parts > 2 && slash &&
		words >= parts-1 || strings.HasPrefix(v, "/") && parts > 1 && 2*words >= parts
}

// isFiller reports whether v stands in for a value: a reference, a template, or what
// documents write there, our own mark among them.
func isFiller(v string) bool { return isReference(v) || isPlaceholder(v) || isTemplate(v) }

// standsIn is isFiller, or v only says what it is.
func standsIn(v string) bool { return isFiller(v) || isSecretWord(v) }

// isReference reports whether v says where the secret is rather than what it is.
func isReference(v string) bool {
	if v == "" {
		return true
	}
	switch v[0] {
	case '<', '{', '@', '`':
		return len(v) == 1 || v[0] != '@' && v[0] != '{' || strings.HasSuffix(v, "}") || isName(v[1:]) && wordlike(v[1:]) ||
			v[0] == '@' && v[1] == '/'
	case '[':
		return !strings.HasPrefix(v, mark)
	case '$':
		// "$PASSWORD" and "$env:PASSWORD" but not "$super$ecret".
		if len(v) == 1 || v[1] == '{' || v[1] == '(' {
			return true
		}
		n := runEnds(v, 1, len(v), "_:")
		return n == len(v) || strings.IndexByte(".[(-/ ", v[n]) >= 0
	case '%':
		return len(v) > 2 && (v[len(v)-1] == '%' || v[1] == '(' || v[1] == '{') || len(v) == 2
	case '!', '#':
		if len(v) > 1 && (v[1] == '{' || wordlike(v[1:]) && len(v) > 3 && isName(v[1:])) {
			return true
		}
	case '\\':
		return wordlike(v[1:])
	case ':':
		return len(v) > 1 && isLetter(v[1])
	case '/', '~', '.':
		return v[0] == '~' && isName(v[1:]) && wordlike(v[1:]) || pathlike(v) || v[0] == '/' && wordlike(v)
	case '*', '-', '_', '=', '?':
		return strings.Trim(v, "*-_=?.") == ""
	}
	return slices.ContainsFunc(referencesBy()[v[0]], func(p string) bool { return strings.HasPrefix(v, p) })
}

// isColour reports whether v is a colour as style sheets write it.
func isColour(v string) bool {
	return v[0] == '#' && (len(v) == 4 || len(v) == 7 || len(v) == 9) && allHex(v[1:])
}

// isTemplate reports whether a string is a template that something else fills.
func isTemplate(v string) bool {
	if !strings.ContainsAny(v, `${#<%&\`) {
		return false // each of the signs below holds one of these
	}
	return containsAny(v, "${", "{{", "#{", "$(", "<%", "%s", "%v", "%d", "%q", "{}", "%@", "\\(", "#[", "&lt;")
}

// isName reports whether v could be the name of a variable, with its fields.
func isName(v string) bool {
	for i := 0; i < len(v); i++ {
		if c := v[i]; !isLetter(c) && c != '_' && c != '.' && c != '-' && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return v != ""
}

// isSecretWord reports whether v only says what it is: mypassword, API_TOKEN,
// user.secret. The words decide, not the letters: a monkey is no key.
func isSecretWord(v string) bool {
	if len(v) > 120 || isolatedLetters(v) >= 3 {
		return false
	}
	var word string
	if strings.Contains(v, ".") && isName(v) && !random(v) {
		word = strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return -1
			}
			return r
		}, v) // ed25519.PrivateKey
	} else if word = strings.TrimRight(v, digits); len(v)-len(word) > 3 {
		return false
	}
	if !wordlike(word) {
		return false
	}
	var words [24]string
	n := splitWords(strings.ToLower(word), word, &words)
	if n == 0 {
		return false
	}
	dense := len(word) < len(v) && strings.Contains(v, ".") // what is left of a mixture of digits and letters
	return slices.ContainsFunc(words[:n], func(w string) bool { return isNamingWord(w) && (!dense || len(w) > 2) })
}

// isNamingWord reports whether a word names a secret: token, or what is made of
// such a word and one that says whose it is, as mypassword and userpass.
func isNamingWord(w string) bool {
	if namingWords()[w] {
		return true
	}
	if len(w) > 24 {
		return false
	}
	for k := 2; k+3 <= len(w); k++ {
		if namingWords()[w[k:]] && (ownerWords()[w[:k]] || namingWords()[w[:k]]) {
			return true
		}
		if namingWords()[w[:k]] && ownerWords()[w[k:]] {
			return true
		}
	}
	return false
}

// weakPassword reports whether v is the word password or secret with a number
// behind it: a name to a program, and to people a password all the same.
func weakPassword(v string) bool {
	word := strings.TrimRight(v, digits)
	return len(v)-len(word) >= 1 && wordlike(word) && !strings.ContainsAny(word, "_-./: ")
}

// mixed reports whether v has letters of both cases or signs among letters and
// digits, as passwords that programs ask for have, and as formats have not.
func mixed(v string) bool {
	if len(v) < 8 || containsAny(v, "${", "{{", "#{", "$(", "<%", "&lt;", " ") {
		return false
	}
	sh := shapeOf(v)
	return sh.digit > 0 && sh.lower > 0 && sh.upper > 0 && sh.symbol > 0
}

// isVersion reports whether v is a version, a date, a size or the name of a format: v1.2, 5.4.5, 10s.
func isVersion(v string) bool {
	if len(v) > 20 {
		return false
	}
	letters := 0
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case isLetter(c):
			letters++
		case !isDigit(c) && strings.IndexByte(".-:+~^<>=,/", c) < 0:
			return false
		}
	}
	unit := len(v)
	for unit > 0 && isLetter(v[unit-1]) {
		unit--
	}
	return letters <= 1 && len(v) < 12 || letters <= 3 && letters == len(v)-unit && unit > 0 || strings.Count(v, ".") >= 2 &&
		letters <= 6
}

// isTechWord reports whether a word with a digit is the name of a technique: sha256, oauth2.
func isTechWord(v string) bool {
	low := strings.ToLower(strings.Trim(v, ".,;:()"))
	return techWords()[low] || strings.Contains(low, "-") && isTechName(low)
}

// isTechName reports whether each part of a name with hyphens is one of a technique, or a number:
// scram-sha-256, ecdsa-sha2-nistp256.
func isTechName(low string) bool {
	named := false
	for part := range strings.SplitSeq(low, "-") {
		word := strings.TrimRight(part, digits)
		known := techParts()[word] || techWords()[part]
		if !known && word != "" {
			return false
		}
		named = named || known
	}
	return named
}

// isState reports whether a word says how a secret is rather than what it is: required, wrong.
func isState(v string) bool {
	low := strings.ToLower(strings.Trim(v, ".,;!"))
	return states()[low] || stopwords()[low] || sentenceWords()[low] || isSecretWord(low) ||
		len(low) > 5 && hasSuffix(low, "ed", "ing", "able", "ible", "ly", "ory", "ive", "less", "ful", "ous")
}
