package redact

import "strings"

// How terminals' control sequences begin: as they are, and as JSON, shells and
// programming languages write them down.
var introducers = [...]string{"\x1b", `\u001b`, `\u001B`, `\x1b`, `\x1B`, `\033`, `\e`}

// uncoloured returns s without the control sequences of terminals, which split
// what people read as one word, and where each of its bytes stands in s. It
// returns no offsets if there are none.
func uncoloured(s string) (string, []int) {
	if strings.IndexByte(s, '\x1b') < 0 && (strings.IndexByte(s, '\\') < 0 || !containsAny(s, "1b[", "1B[", "033[", `\e[`)) {
		return s, nil
	}
	var b strings.Builder
	var offsets []int
	from := 0
	for i := 0; i < len(s); {
		if s[i] != '\x1b' && s[i] != '\\' {
			i++
			continue
		}
		n := control(s[i:])
		if n == 0 {
			i++
			continue
		}
		if offsets == nil {
			b.Grow(len(s))
			offsets = make([]int, 0, len(s))
		}
		b.WriteString(s[from:i])
		for k := from; k < i; k++ {
			offsets = append(offsets, k)
		}
		i += n
		from = i
	}
	if offsets == nil {
		return s, nil
	}
	b.WriteString(s[from:])
	for k := from; k < len(s); k++ {
		offsets = append(offsets, k)
	}
	return b.String(), offsets
}

// control returns the length of the control sequence at the beginning of s: one
// of colours and of the cursor (CSI), or a title or link (OSC).
func control(s string) int {
	for _, intro := range introducers {
		rest, ok := strings.CutPrefix(s, intro)
		if !ok || rest == "" {
			continue
		}
		switch rest[0] {
		case '[':
			for i := 1; i < min(len(rest), 32); i++ {
				if c := rest[i]; isLetter(c) || c == '~' {
					return len(intro) + i + 1
				} else if !isDigit(c) && strings.IndexByte(";:?", c) < 0 {
					return 0
				}
			}
		case ']':
			if intro != "\x1b" {
				return 0
			}
			for i := 1; i < min(len(rest), 512); i++ {
				switch {
				case rest[i] == '\a':
					return len(intro) + i + 1
				case rest[i] == '\x1b' && i+1 < len(rest) && rest[i+1] == '\\':
					return len(intro) + i + 2
				case rest[i] == '\n':
					return 0
				}
			}
		}
		return 0
	}
	return 0
}
