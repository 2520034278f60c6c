package note

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Marks are the words of a text that a correction changes: numbers, operators,
// signs, identifiers, negations and words that come in opposite pairs, in their
// order, one line each. Texts of different marks are no repetitions of each
// other, however many words they share.
func Marks(text string) string {
	c := canonicaliser{}
	c.text(text)
	return c.marks.String()
}

// A canonicaliser reads a text once. It brings it into the form in which two texts say
// the same when they are equal. Operators, signs, numbers, negations, identifiers and code stay
// as they are. What may differ is
//
//   - layout: blanks, line ends, where prose is wrapped, whether a paragraph or a
//     list item is a separate sentence, the mark of a list, the length of a
//     fence, curly quotes;
//   - the case of prose: of words of letters alone which are written small, with a
//     capital, or all in capitals where the whole paragraph is, or for emphasis (NEVER);
//   - punctuation that closes a sentence: a full stop, an exclamation mark or an
//     ellipsis behind a word, and a comma, a colon or a semicolon at the end of a
//     paragraph. A question mark stays.
//
// Where one cannot know, as with PATH and path, two texts differ: a note too many
// is seen, one too few is not.
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
