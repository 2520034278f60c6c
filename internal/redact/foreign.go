package redact

import (
	"strings"
	"unicode/utf8"
)

// firstIdeograph is where the scripts of Chinese, Japanese and Korean begin, but for Hangul's letters.
const firstIdeograph = '\u2e80'

// withoutBlanks masks the value behind a word for password of a language without blanks between words: 密码改成了…, パスワードを…に.
func (x *scan) withoutBlanks(p pair, i, end int) bool {
	s := x.s
	if last, _ := utf8.DecodeLastRuneInString(s[:i]); last < firstIdeograph {
		return false
	}
	for k, n := i, 0; k < end && k-i < 24; k += n {
		var r rune
		if r, n = utf8.DecodeRuneInString(s[k:]); r >= firstIdeograph && r < '\uff00' {
			continue
		}
		v := span{k, k + runEnds(s, k, 64, "_-!@#$%^&*+.") - k}
		if v.end > v.start && isAlnum(s[k]) && x.foreignValue(p, v, v.of(s), false, false) {
			x.add(v.start, v.end)
			return true
		}
		return false
	}
	return false
}

// foreign masks the value behind a word for password of another language.
func (x *scan) foreign(at, i int) {
	s := x.s
	if at < x.nameEnd || isAlnum(s[at]) && !boundary(s, at) {
		return
	}
	end := sentenceEnd(s, i)
	p := pair{name: span{at, i}, class: password}
	sign := false
	if x.withoutBlanks(p, i, end) {
		return
	}
	for k := i; k < end; {
		r, n := utf8.DecodeRuneInString(s[k:])
		switch {
		case r == ':' || r == '=' || r == '\uff1a' || r == '\uff1d':
			sign, k = true, k+n
		case isBlank(s[k]):
			k++
			w := k + runEnds(s, k, 12, "") - k
			for w < end && s[w] >= 0x80 {
				w++
			}
			if !copulas()[strings.ToLower(s[k:w])] {
				if v, isQuoted := x.wordAt(k); !sign && v.end > v.start && s[v.start] < 0x80 && x.foreignValue(p, v, v.of(s), isQuoted, false) {
					x.add(v.start, v.end)
					return
				}
				continue
			}
			sign, k = true, w
		default:
			// Words between: of the database, de la base.
			if !sign && k-i < 40 && (isLetter(s[k]) || r >= utf8.RuneSelf) {
				k += n
				continue
			}
			k = end + 1
		}
		if k > end {
			return
		}
		v, isQuoted := x.wordAt(k)
		word := v.of(s)
		if v.start < v.end && (s[v.start] < 0x80 || isQuoted) && x.foreignValue(p, v, word, isQuoted, sign) {
			x.add(v.start, v.end)
			return
		}
		if next := skipBlanks(s, v.end, 4); sign && !isQuoted && next > v.end && len(word) < 12 && wordlike(word) {
			// An adverb between: ist jetzt …, est maintenant ….
			if v, isQuoted = x.wordAt(next); v.end <= end && v.end > v.start && s[v.start] < 0x80 && x.endsAt(v.end) &&
				x.foreignValue(p, v, v.of(s), isQuoted, false) {
				x.add(v.start, v.end)
				return
			}
		}
	}
}

// foreignValue judges the word behind a name of another language; sign says that a sign or a
// verb joins the two.
func (x *scan) foreignValue(p pair, v span, word string, isQuoted, sign bool) bool {
	if len(word) < 4 || isFiller(word) || isSecretWord(word) && !weakPassword(word) || pathlike(word) || codelike(word) ||
		isVersion(word) || isTechWord(word) || !isQuoted && strings.ContainsAny(word, "()=<>{}") {
		return false
	}
	if strings.Contains(word, " ") {
		return isQuoted && sign && p.phrase(word)
	}
	p.value = v
	sh := shapeOf(word)
	switch {
	case sh.digit > 0 && sh.lower+sh.upper > 0, random(word):
		return sign || len(word) >= 6
	case sh.wide > 0:
		return false
	case isQuoted:
		return sign
	}
	// A word alone: contraseña: naranja. Behind a verb it says how the password is.
	k := p.name.end
	return sign && p.endsSentence(x.s) && sh.upper == 0 && !isState(word) && strings.ContainsAny(x.s[k:v.start], ":=\uff1a") &&
		strings.Trim(x.s[k:v.start], " \t") == strings.TrimSpace(x.s[k:v.start])
}

// endsAt reports whether a sentence or a part of one ends at the offset i.
func (x *scan) endsAt(i int) bool {
	p := pair{value: span{i, i}}
	return p.endsSentence(x.s)
}
