package note

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A caseShape says how a word is written.
type caseShape int

const (
	other    caseShape = iota // not letters alone, or letters in no usual case
	small                     // word, don't, well-known; also in scripts without case
	capital                   // Word, Well-Known
	capitals                  // WORD
	letter                    // A: one capital letter
)

// shapeOf looks at a word without what stands around it. Apostrophes and hyphens may stand in it.
func shapeOf(word string) caseShape {
	upper, lower, letters, capped := 0, 0, 0, true
	inner := true // behind the beginning of a part
	start := true
	for i, r := range word {
		switch {
		case unicode.IsMark(r):
			continue
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) || unicode.IsTitle(r) {
				upper++
				if !start {
					inner = false
				}
			} else if unicode.IsLower(r) {
				lower++
				if start && i == 0 {
					capped = false
				}
			}
			start = false
		case (r == '-' || r == '\'') && i > 0 && i < len(word)-utf8.RuneLen(r):
			start = r == '-'
		default:
			return other
		}
	}
	switch {
	case letters == 0:
		return other
	case upper == 0:
		return small
	case letters == 1:
		return letter
	case lower == 0:
		return capitals
	case capped && inner:
		return capital
	}
	return other
}

// emphasised are words that are written in capitals for emphasis, and name nothing.
var emphasised = wordSet("NOT NEVER ALWAYS ONLY MUST SHOULD SHALL DO DON'T DONT CANNOT CAN'T WON'T NO " +
	"IMPORTANT NOTE WARNING REQUIRED RECOMMENDED OPTIONAL NICHT NIE IMMER NUNCA SIEMPRE JAMAIS TOUJOURS")

// wordSet is a set that is made when it is first asked for: a hook asks for none.
func wordSet(words string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool { return setOf(strings.Fields(words)) })
}

// lowered writes a word of prose small, and leaves every other as it is.
func lowered(word string, first, shouted bool) string {
	at := core(word)
	switch shapeOf(at) {
	case capital:
		return strings.ToLower(word)
	case capitals:
		if shouted || emphasised()[at] {
			return strings.ToLower(word)
		}
	case letter:
		if at == "A" && (first || shouted) {
			return strings.ToLower(word)
		}
	}
	return word
}

// unclosed returns a word without the punctuation that closes a sentence, and
// whether there was any: "it." is closed, "./..." and "C:" are not.
func unclosed(word string, last bool) (stem string, closes bool) {
	closers := ".!…。！"
	if last {
		closers += ",;:，；："
	}
	stem = strings.TrimRight(word, closers)
	if stem == word || stem == "" {
		return word, false
	}
	r, _ := utf8.DecodeLastRuneInString(stem)
	tail := word[len(stem):]
	switch inside := core(stem); {
	case tail == "." && strings.ContainsFunc(stem, unicode.IsLetter) && !strings.ContainsRune(`/\~*-=.`, r):
		return stem, true
	case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("\"')]}>»`%", r):
		return word, false // it may be an operand: "go vet ./..."
	case tail == "." || tail == "。":
		return stem, true
	case shapeOf(inside) == small && utf8.RuneCountInString(inside) > 1, shapeOf(inside) == capitals && tail != ":":
		return stem, true
	case last && strings.Trim(tail, ",;，；") == "":
		return stem, true
	}
	return word, false // it may be a name: "user.save!", "C:"
}

// polar are words that a correction changes, besides those with a symbol or a digit in them.
var polar = wordSet(`not no never none nor neither without cannot can't don't doesn't didn't won't isn't aren't wasn't
	weren't shouldn't mustn't couldn't wouldn't hasn't haven't hadn't needn't dont doesnt cant wont isnt except unless only always
	before after above below over under on off in out up down first last true false yes allow allowed allows deny denied denies
	forbid forbidden enable enabled enables disable disabled disables include included includes exclude excluded excludes
	add remove min max minimum maximum least most more less fewer greater smaller larger higher lower older newer left right
	increase decrease ascending descending inside outside required optional safe unsafe public private
	nicht kein keine keinen keinem keiner nie niemals ohne immer nur vor nach ne pas jamais sans toujours avant après
	nunca sin siempre ni antes después não sem sempre non mai senza prima dopo niet nooit geen zonder altijd не нет никогда без всегда`)

// note counts a word to the marks or to the prose.
func (c *canonicaliser) note(word string) {
	list := &c.prose
	word = core(word)
	if marked(word) {
		list = &c.marks
	}
	if word != "" {
		list.WriteString(word)
		list.WriteByte('\n')
	}
}

func marked(word string) bool {
	switch shapeOf(word) {
	case small, capital:
		return polar()[strings.ToLower(word)]
	case capitals, letter:
		return true
	}
	// A dash between clauses is no minus.
	return strings.Trim(word, "–—•·&") != "" && !abbreviation(word)
}

// abbreviation reports whether a word is one like "e.g" or "i.e".
func abbreviation(word string) bool {
	for part := range strings.SplitSeq(word, ".") {
		if len(part) != 1 || part[0] < 'a' || part[0] > 'z' {
			return false
		}
	}
	return true
}
