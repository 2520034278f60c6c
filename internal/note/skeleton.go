package note

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are characters that are drawn like a letter or sign of a frame and do not decompose into it:
// the rows of confusables.txt (Unicode Technical Standard 39) whose prototype is a small letter, "<", "!", "-" or "/",
// of scripts in use, and letters beside them that a model reads as one (Cyrillic т, к, м, н, п).
var lookalikes = [...]string{
	'a': "аɑαᎪ", 'b': "ЬƄᖯ", 'c': "сϲᴄⲥ", 'd': "ԁᏧᑯ", 'e': "еҽεҿ", 'f': "ſƒք", 'g': "ɡցᶃ", 'h': "һհᏂн", 'i': "іıɩιӏӀ",
	'j': "јϳ", 'k': "кκᴋ", 'l': "ӏΙІ∣ןⅼ", 'm': "мᴍ", 'n': "пηոռո", 'o': "оοօσഠ", 'p': "рρⲣ", 'q': "ԛգզ", 'r': "гᴦⲅ", 's': "ѕꜱᏚ",
	't': "тτᴛ", 'u': "υսʋᴜ", 'v': "ѵνᴠ", 'w': "ԝωᴡա", 'x': "хχ᙮", 'y': "уүγყ", 'z': "ᴢ",
	'<': "‹ᐸ˂❮〈⟨", '!': "ǃⵑ", '-': "‐‑‒–—−⁃─", '/': "⁄∕╱⟋", '[': "❲〔〚【⟦",
}

var lookalike = sync.OnceValue(func() map[rune]byte {
	m := make(map[rune]byte)
	for ascii, like := range lookalikes {
		for _, r := range like {
			m[r] = byte(ascii)
		}
	}
	return m
})

// skeletonOf returns how text is read: each character that is drawn like a letter or sign of a frame is that
// letter, accents and joiners are gone, any white space is a blank. at gives, for each byte of it and for its end, the
// byte in text.
func skeletonOf(text string) (skeleton string, at []int) {
	var b strings.Builder
	at = make([]int, 0, len(text)+1)
	alike := lookalike()
	add := func(i int, r rune) {
		if as, ok := alike[r]; ok {
			r = rune(as)
		} else if as, ok := alike[unicode.ToLower(r)]; ok {
			r = rune(as)
		}
		b.WriteRune(r)
		for range utf8.RuneLen(r) {
			at = append(at, i)
		}
	}
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
			at = append(at, i)
		case unicode.IsSpace(r):
			add(i, ' ')
		case unicode.In(r, unicode.Mn, unicode.Cf):
		default:
			parts := norm.NFKD.PropertiesString(text[i:]).Decomposition()
			if parts == nil {
				add(i, r)
			}
			for _, d := range string(parts) {
				if !unicode.Is(unicode.Mn, d) {
					add(i, d)
				}
			}
		}
	}
	return b.String(), append(at, len(text))
}

// bracket puts the second group of each match into brackets. It matches what text looks like.
func bracket(text string, frames []*regexp.Regexp) string {
	plain := strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	for _, frame := range frames {
		if plain {
			text = frame.ReplaceAllString(text, "$1($2)")
			continue
		}
		skeleton, at := skeletonOf(text)
		found := frame.FindAllStringSubmatchIndex(skeleton, -1)
		if found == nil {
			continue
		}
		var out strings.Builder
		done := 0
		for _, m := range found {
			from, to := at[m[4]], at[m[5]]
			out.WriteString(text[done:from] + "(" + text[from:to] + ")")
			done = to
		}
		text = out.String() + text[done:]
	}
	return text
}

// opens reports whether a frame could begin in a text.
func opens(text string) bool {
	return strings.ContainsAny(text, "<＜﹤"+lookalikes['<']) || strings.ContainsAny(text, "[［"+lookalikes['[']) && named(text)
}

// named reports whether our name could stand in a text: it does, or letters of others do.
func named(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 ||
		strings.Contains(strings.ToLower(text), "anamnesis")
}
