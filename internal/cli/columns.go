package cli

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// runeColumns is how many columns of a terminal a character takes: two for those of
// East Asian scripts and emoji, none for what joins the character before it.
func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me), r == 0x200d, r >= 0xfe00 && r <= 0xfe0f:
		return 0
	case r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// textColumns is how many columns a line takes.
func textColumns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// cutColumns cuts a line to n columns, the last of them an ellipsis where something
// was cut.
func cutColumns(s string, n int) string {
	if textColumns(s) <= n {
		return s
	}
	used := 1
	for i, r := range s {
		if used += runeColumns(r); used > n {
			return s[:i] + "…"
		}
	}
	return s
}

// A wrapper breaks lines for a terminal between words: a terminal breaks them
// anywhere. A word that is longer than a line, such as a path, stays whole.
type wrapper struct {
	width int    // columns; 0 breaks nothing
	used  int    // columns of the line that was begun
	hang  string // what its other parts begin with
}

// minWrapped is the narrowest terminal for which lines are broken.
const minWrapped = 20

// wrap returns a text with longer lines broken. What a line begins with (white space,
// the bar of a quotation) stands before its other parts as well, and two spaces more
// where there is no bar.
func (w *wrapper) wrap(text string) string {
	if w.width < minWrapped {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		w.line(&out, body)
		if ended {
			out.WriteByte('\n')
			w.used = 0
		}
	}
	return out.String()
}

func (w *wrapper) line(out *strings.Builder, line string) {
	if w.used == 0 {
		w.hang = w.hanging(line)
	}
	hung := textColumns(w.hang)
	gap := "" // white space that is written when something follows it in the line
	for _, word := range pieces(line, w.width-hung) {
		if strings.Trim(word, " ") == "" {
			gap = word
			continue
		}
		n := shownColumns(word)
		if w.used+len(gap)+n > w.width && w.used > hung {
			out.WriteString("\n" + w.hang)
			w.used, gap = hung, ""
		}
		out.WriteString(gap + word)
		w.used, gap = w.used+len(gap)+n, ""
	}
	out.WriteString(gap)
	w.used += len(gap)
}

// hanging is what the other parts of a line begin with.
func (w *wrapper) hanging(line string) string {
	rest := strings.TrimLeft(line, " ")
	before, bar := line[:len(line)-len(rest)], "  "
	for _, b := range []string{"│ ", "| "} {
		if strings.HasPrefix(rest, b) {
			bar = b
		}
	}
	if len(before) > w.width/2 {
		before = ""
	}
	return before + bar
}

// pieces cuts a line into words, the spaces between them, and wide characters, which
// may stand at the beginning of a line each. A command between backquotes is one word
// when it is not longer than most columns.
func pieces(line string, most int) (all []string) {
	for {
		before, rest, ok := strings.Cut(line, "`")
		quoted, after, closed := strings.Cut(rest, "`")
		if !ok || !closed {
			return words(all, line)
		}
		if textColumns(quoted)+2 > most {
			all, line = words(all, before+"`"+quoted+"`"), after
			continue
		}
		// What touches the command stays with it.
		head := strings.LastIndexByte(before, ' ') + 1
		tail := strings.IndexByte(after+" ", ' ')
		if strings.Contains(after[:tail], "`") {
			tail = 0
		}
		all, line = append(words(all, before[:head]), before[head:]+"`"+quoted+"`"+after[:tail]), after[tail:]
	}
}

func words(all []string, line string) []string {
	begin := 0
	var last rune
	for i, r := range line {
		space := (r == ' ') != (last == ' ')
		wide := runeColumns(r) == 2 && !unicode.IsPunct(r) || runeColumns(last) == 2 && runeColumns(r) > 0 && !unicode.IsPunct(r)
		if i > 0 && (space || wide) {
			all = append(all, line[begin:i])
			begin = i
		}
		last = r
	}
	if begin == len(line) {
		return all
	}
	return append(all, line[begin:])
}

// shownColumns is textColumns of a text that may hold colours of ours.
func shownColumns(s string) (n int) {
	for {
		before, after, ok := strings.Cut(s, "\x1b[")
		n += textColumns(before)
		if !ok {
			return n
		}
		_, s, _ = strings.Cut(after, "m")
	}
}
