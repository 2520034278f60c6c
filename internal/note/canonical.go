package note

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Canonical brings a text into the form in which two of them say the same when
// they are equal. Operators, signs, numbers, negations, identifiers and code stay
// as they are. What may differ is
//
//   - layout: blanks, line ends, where prose is wrapped, whether a paragraph or a
//     list item is a sentence of its own, the mark of a list, the length of a
//     fence, curly quotes;
//   - the case of prose: of words of letters alone which are written small, with a
//     capital, or all in capitals where the whole paragraph is, or for emphasis (NEVER);
//   - punctuation that closes a sentence: a full stop, an exclamation mark or an
//     ellipsis behind a word, and a comma, a colon or a semicolon at the end of a
//     paragraph. A question mark stays.
//
// Where one cannot know, as with PATH and path, two texts differ: a note too many
// is seen, one too few is not.
func Canonical(text string) string {
	c := canonicaliser{}
	c.text(text)
	return c.out.String()
}

// Marks are the words of a text that a correction changes: numbers, operators,
// signs, identifiers, negations and words that come in opposite pairs, in their
// order, one line each. Texts of different marks are no repetitions of each
// other, however many words they share.
func Marks(text string) string {
	c := canonicaliser{}
	c.text(text)
	return c.marks.String()
}

// A canonicaliser reads a text once.
type canonicaliser struct {
	out   strings.Builder // the canonical form
	marks strings.Builder // the marks, each with a line feed
	prose strings.Builder // the words that are no marks, each with a line feed
}

var straighten = strings.NewReplacer("\r\n", "\n", "\r", "\n", "‘", "'", "’", "'", "“", `"`, "”", `"`)

func (c *canonicaliser) text(text string) {
	lines := strings.Split(straighten.Replace(norm.NFC.String(text)), "\n")
	var block []string
	flush := func() {
		if len(block) > 0 {
			c.block(strings.Join(block, " "))
			block = block[:0]
		}
	}
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if line == "" {
			flush()
			continue
		}
		if fence := fenceOf(lines[i]); fence != "" {
			if end := closing(lines, i+1, fence); end > 0 {
				flush()
				c.code(strings.TrimSpace(lines[i][len(fence):]), lines[i+1:end])
				i = end
				continue
			}
		}
		if begins(line) {
			flush()
		}
		if block = append(block, line); strings.HasPrefix(line, "#") {
			flush()
		}
	}
	flush()
}

// begins reports whether a line begins an item of a list, a heading, a quotation or a row of a table.
func begins(line string) bool {
	if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ">") || strings.HasPrefix(line, "|") || bullet(line) {
		return true
	}
	digits := strings.TrimLeft(line, "0123456789")
	return len(digits) < len(line) && len(digits) > 1 && (digits[0] == '.' || digits[0] == ')') && digits[1] == ' '
}

func bullet(line string) bool {
	return len(line) > 1 && (line[0] == '-' || line[0] == '*' || line[0] == '+') && (line[1] == ' ' || line[1] == '\t')
}

// code writes a block of code: its lines as they are, without the blanks at their ends.
func (c *canonicaliser) code(info string, lines []string) {
	c.write("```" + info)
	for _, line := range lines {
		c.out.WriteString("\n" + strings.TrimRightFunc(line, unicode.IsSpace))
		for word := range strings.FieldsSeq(line) {
			c.note(word)
		}
	}
	c.out.WriteString("\n```")
}

func (c *canonicaliser) write(token string) {
	if c.out.Len() > 0 {
		c.out.WriteByte(' ')
	}
	c.out.WriteString(token)
}

// block writes a paragraph, an item or a heading. It ends in a full stop.
func (c *canonicaliser) block(text string) {
	if bullet(text) {
		c.write("•")
		text = strings.TrimSpace(text[1:])
	}
	pieces := piecesOf(text)
	shouted := shouts(pieces)
	first := true
	for i, t := range pieces {
		last := i == len(pieces)-1
		if t.code {
			c.write(t.text)
			for word := range strings.FieldsSeq(strings.Trim(t.text, "`")) {
				c.note(word)
			}
			if last {
				c.out.WriteByte('.')
			}
			first = false
			continue
		}
		word := lowered(t.text, first, shouted)
		c.note(word)
		stem, closes := unclosed(word, last)
		switch {
		case t.joined && strings.Trim(word, ".!,;:…") == "": // it closes the span of code before it
			stem, closes = "", last || word == "." || word == "!"
		case i > 0 && last && strings.Trim(word, "!…") == "": // it closes the word before the blank
			if !strings.HasSuffix(c.out.String(), ".") {
				c.out.WriteByte('.')
			}
			continue
		}
		if closes || last {
			word = stem + "."
		}
		if t.joined {
			c.out.WriteString(word)
		} else {
			c.write(word)
		}
		first = closes
	}
}

// A piece is what stands between blanks, or a span of code with its backticks.
type piece struct {
	text   string
	code   bool
	joined bool // no blank before it
}

// piecesOf cuts the text of a block. Blanks in a span of code belong to it.
func piecesOf(text string) (all []piece) {
	joined := false
	for text != "" {
		trimmed := strings.TrimLeftFunc(text, unicode.IsSpace)
		joined = joined && len(trimmed) == len(text)
		if text = trimmed; text == "" {
			break
		}
		end := strings.IndexFunc(text, func(r rune) bool { return r == '`' || unicode.IsSpace(r) })
		code := false
		switch {
		case end < 0:
			end = len(text)
		case text[end] == '`' && end == 0:
			ticks := len(text) - len(strings.TrimLeft(text, "`"))
			if n := spanOf(text, ticks); n > 0 {
				end, code = n, true
			} else if n := strings.IndexFunc(text[ticks:], func(r rune) bool { return r == '`' || unicode.IsSpace(r) }); n >= 0 {
				end = ticks + n
			} else {
				end = len(text)
			}
		}
		all = append(all, piece{text[:end], code, joined && len(all) > 0})
		text, joined = text[end:], true
	}
	return all
}

// spanOf returns the length of a span of code that a text begins with, in so many backticks; 0 when it does not end.
func spanOf(text string, ticks int) int {
	for at := ticks; at < len(text); {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			return 0
		}
		at += next
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if at += run; run == ticks {
			return at
		}
	}
	return 0
}

// Around a word may stand what does not belong to it.
const (
	opening = `"'([«¿¡`
	ending  = `"')]».,;:!?…。！？，；：`
)

// core is a word without what stands around it.
func core(word string) string {
	return strings.TrimRight(strings.TrimLeft(word, opening), ending)
}

// shouts reports whether a block is written in capitals: at least three words, and none of small letters.
func shouts(pieces []piece) bool {
	const enough = 3
	n, long := 0, 0
	for _, t := range pieces {
		if t.code {
			continue
		}
		switch shapeOf(core(t.text)) {
		case capitals:
			n, long = n+1, long+1
		case letter:
			n++
		case small, capital:
			return false
		}
	}
	return n >= enough && long > 1
}

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
