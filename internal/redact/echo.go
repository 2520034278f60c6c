package redact

import (
	"net/url"
	"slices"
	"strings"
)

// Bounds of what is masked wherever it stands: how many bytes a secret has, and
// how many secrets we look for. Beyond them a text is no session of a person.
const (
	shortestEcho = 4
	longestEcho  = 512
	mostEchoes   = 256
)

// learn adds the secrets of a scan to those that are known.
func (r *Redactor) learn(x *scan, known []string) []string {
	added := false
	for _, v := range x.values {
		if len(known) >= mostEchoes {
			break
		}
		word := v.of(x.s)
		if !echoing(word) || slices.Contains(known, word) || (len(r.allow) > 0 || len(r.stopwords) > 0) && r.allowed(word) {
			continue
		}
		if !added {
			known, added = slices.Clip(known), true // the caller's list stays as it is
		}
		known = append(known, word)
		if plain, err := url.QueryUnescape(word); err == nil && plain != word && strings.Contains(word, "%") && echoing(plain) {
			known = append(known, plain)
		}
	}
	return known
}

// echoing reports whether a secret can be told from the words around it when it
// stands elsewhere: a number of four digits is a year as well, and the password
// "main" a branch.
func echoing(v string) bool {
	if len(v) < shortestEcho || len(v) > longestEcho || strings.Contains(v, mark) || strings.Contains(v, privateMark) ||
		strings.TrimSpace(v) != v {
		return false
	}
	low := strings.ToLower(v)
	if isFiller(v) || commonUsers()[low] || isSecretWord(v) {
		return false
	}
	sh := shapeOf(v)
	switch {
	case sh.lower+sh.upper+sh.symbol+sh.wide == 0:
		return len(v) >= 6 // 4711 is too many things
	case wordlike(v):
		return len(v) >= 6
	}
	return true
}

// echoes finds the known secrets in s, as words of their own.
func echoes(s string, known []string) []Finding {
	var found []Finding
	for _, word := range known {
		for at := 0; at < len(s); {
			k := strings.Index(s[at:], word)
			if k < 0 {
				break
			}
			i := at + k
			j := i + len(word)
			at = j
			if isAlnum(word[0]) && !boundary(s, i) || j < len(s) && isAlnum(word[len(word)-1]) && isAlnum(s[j]) {
				continue
			}
			found = append(found, Finding{"same-secret", i, j})
		}
	}
	return found
}
