package text

import (
	"strings"
	"unicode/utf8"
)

// Plain returns what a text says when a terminal has read it: without control sequences (colours, moves of the cursor,
// titles, links, of which the words stay), and without control characters. A backspace takes the character before it. Line
// ends and tabs stay, and so does a carriage return, which Overwritten reads. Sequences that are written down in
// characters, such as "\e[31m", are text. Bytes that are no UTF-8 become U+FFFD, each one.
func Plain(s string) string {
	i := firstControl(s)
	if i == len(s) {
		return s
	}
	out := append(make([]byte, 0, len(s)), s[:i]...)
	last := rune(0)
	for i < len(s) {
		r, n := control(s[i:])
		switch {
		case r == esc:
			n += escaped(s[i+n:])
		case r >= 0x80 && r < 0xa0 && last != 0x80: // behind U+0080 it is a quotation mark in a wrong encoding
			n += sequence(r, s[i+n:], true)
		}
		switch {
		case r == '\b':
			if last, size := utf8.DecodeLastRune(out); size > 0 && last != '\n' {
				out = out[:len(out)-size]
			}
		case r == '\f', r == '\v', r == nextLine:
			out = append(out, '\n')
		case !isControl(r):
			out = utf8.AppendRune(out, r)
		}
		last = r
		i += n
	}
	return string(out)
}

const (
	esc        = 0x1b
	nextLine   = 0x85
	terminator = 0x9c // ends a string of a terminal
)

// isControl reports whether a character is one that Plain takes out.
func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r >= 0x7f && r < 0xa0
}

// control returns the character at the beginning of s. A byte that is no UTF-8 may be a control character of eight bits.
func control(s string) (r rune, n int) {
	if r, n = utf8.DecodeRuneInString(s); r == utf8.RuneError && n == 1 && s[0] < 0xa0 {
		r = rune(s[0])
	}
	return r, n
}

// firstControl returns where the first control character is, or the first byte that is no UTF-8; len(s) for nowhere.
func firstControl(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if isControl(r) || r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(s)
}

// escaped returns how much of s belongs to a sequence whose first character is an escape.
func escaped(s string) int {
	if s == "" {
		return 0
	}
	switch c := s[0]; {
	case c >= '@' && c <= '_': // the same as a control character of eight bits
		return 1 + sequence(rune(c)+0x40, s[1:], false)
	case strings.IndexByte("#$%()*+-./", c) >= 0: // a set of characters
		n := span(s, '#', '/')
		return n + span(s[n:min(len(s), n+1)], '0', '~')
	case strings.IndexByte("6789<=>cno|}~", c) >= 0: // what else has a meaning; any other character is text
		return 1
	}
	return 0
}

// sequence returns how much of s belongs to a sequence that begins with a control character of eight bits. A string that
// nothing ends goes to the end of its line, and where whole is set it is none.
func sequence(begin rune, s string, whole bool) int {
	switch begin {
	case 0x9b: // of colours and the cursor: parameters, and a letter that says what for
		n := span(s, '0', '?')
		n += span(s[n:], ' ', '/')
		return n + span(s[n:min(len(s), n+1)], '@', '~')
	case 0x9d, 0x90, 0x98, 0x9e, 0x9f: // a title or a link, and strings for the terminal
		n, ended := stringEnd(s, begin == 0x9d)
		if whole && !ended {
			return 0
		}
		return n
	}
	return 0
}

// stringEnd returns how long a string for a terminal is with its end, and whether it has one. bell says that a bell ends it.
func stringEnd(s string, bell bool) (n int, ended bool) {
	for n < len(s) {
		r, size := control(s[n:])
		switch {
		case r == terminator, r == '\a' && bell:
			return n + size, true
		case r == esc:
			if strings.HasPrefix(s[n+size:], `\`) {
				return n + size + 1, true
			}
			return n, true // another sequence begins
		case r == '\n':
			return n, false
		}
		n += size
	}
	return n, false
}

// span counts the bytes at the beginning of s that are from one to another.
func span(s string, from, to byte) (n int) {
	for n < len(s) && s[n] >= from && s[n] <= to {
		n++
	}
	return n
}

// Overwritten returns an output without what a carriage return let later output write over: of a progress bar its last state.
func Overwritten(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		text, ended := strings.CutSuffix(line, "\n")
		for text = strings.TrimRight(text, "\r"); ; {
			i := strings.LastIndexByte(text, '\r')
			if i < 0 {
				break
			}
			if strings.TrimSpace(text[i+1:]) != "" {
				text = text[i+1:]
				break
			}
			text = strings.TrimRight(text[:i], "\r")
		}
		b.WriteString(text)
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
