package note

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

var (
	// addressed is how this program speaks to an agent of its user. Notes of others speak of "the user".
	addressed = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)()(\byour[\s_*-]+user)\b`) })
	// claimed is a mark in parentheses, all of it.
	claimed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)()([ \t]*\([^()\n]{0,60}?\byour[\s_*-]+user\b[^()\n]{0,120}\))`)
	})
	// posed is such a word in the form of a mark: in parentheses.
	posed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(\([^()\n]{0,60}?\b)(your[\s_*-]+user)\b`)
	})
	// idMark is the id of a note behind its line.
	idMark = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\[([0-9a-hjkmnp-tv-z]{6}|[0-9a-hjkmnp-tv-z]{26})\]`)
	})
)

// Unmarked takes the marks of this program from words that no person wrote: "From your user", "(your user laid it down)". Letters
// that look like those of a mark count as them.
func Unmarked(s string) string {
	s = replaceLike(s, claimed(), func(string) string { return "" })
	return replaceLike(s, addressed(), func(string) string { return "the user" })
}

// UnmarkedTitle is Unmarked for a title, which cannot end as another line of a page either. One that had a mark of this program is no
// heading.
func UnmarkedTitle(s string) string {
	unmarked := Unmarked(s)
	if rest := strings.TrimLeft(unmarked, "#"); unmarked != s && rest != unmarked && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
		unmarked = strings.TrimSpace(rest)
	}
	return unbracketed(unmarked)
}

// Unposed takes the form of a mark from what anybody wrote, and changes no word of it.
func Unposed(s string) string {
	return replaceLike(s, posed(), func(words string) string { return "“" + words + "”" })
}

// UnposedTitle is Unposed for a title.
func UnposedTitle(s string) string { return unbracketed(Unposed(s)) }

// unbracketed takes the brackets from what looks like the id of a note: six characters, one of them a digit, or all of an id.
func unbracketed(s string) string {
	if !strings.Contains(s, "[") {
		return s
	}
	return idMark().ReplaceAllStringFunc(s, func(m string) string {
		if !strings.ContainsAny(m, "0123456789") {
			return m
		}
		return "(" + m[1:len(m)-1] + ")"
	})
}

// replaceLike replaces the second group of each match. It matches what text looks like.
func replaceLike(text string, form *regexp.Regexp, with func(string) string) string {
	plain := strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	if plain && !strings.Contains(strings.ToLower(text), "user") {
		return text
	}
	skeleton, at := skeletonOf(text)
	var out strings.Builder
	done := 0
	for _, m := range form.FindAllStringSubmatchIndex(skeleton, -1) {
		from, to := at[m[4]], at[m[5]]
		out.WriteString(text[done:from] + with(text[from:to]))
		done = to
	}
	return out.String() + text[done:]
}
