package imports

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readList reads a YAML list of pairs whose values are texts, as programs write
// it: entries begin with "- " at the margin, keys stand two columns in. It reads
// what a history can hold, texts of many lines with whatever is in them, without
// a parser that recurses over it. Values that are no text are left out.
func readList(text string) ([]map[string]string, error) {
	var all []map[string]string
	key, raw := "", []string(nil)
	flush := func() {
		if key == "" || len(all) == 0 {
			return
		}
		if s, ok := scalar(raw); ok {
			all[len(all)-1][key] = s
		}
		key, raw = "", nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		if l == "---" || l == "..." { // the marks around a document
			flush()
			continue
		}
		if rest, ok := strings.CutPrefix(l, "- "); ok {
			flush()
			if len(all) >= maxFiles {
				return nil, errors.New("it has too many entries")
			}
			all, l = append(all, make(map[string]string)), "  "+rest
		} else if l != "" && l[0] != ' ' && l[0] != '#' && l != "[]" {
			return nil, errors.New("it is no list of versions")
		}
		if name, behind, ok := entryKey(l); ok && len(all) > 0 {
			flush()
			key, raw = name, []string{behind}
		} else if key != "" {
			raw = append(raw, l)
		}
	}
	flush()
	return all, nil
}

// entryKey returns the key that stands two columns in, and what is behind it.
func entryKey(l string) (key, behind string, ok bool) {
	rest, ok := strings.CutPrefix(l, "  ")
	if !ok || rest == "" || rest[0] == ' ' {
		return "", "", false
	}
	if key, ok = keyOf(rest + "\n"); !ok {
		return "", "", false
	}
	return key, strings.TrimLeft(rest[len(key)+1:], " "), true
}

// scalar reads the text of a key from what stands behind it and from the lines
// that follow. It reports false for what is no text, or not a whole one.
func scalar(raw []string) (string, bool) {
	first := raw[0]
	if first == "" {
		return "", false
	}
	switch first[0] {
	case '|', '>':
		return block(first, raw[1:])
	case '"', '\'':
		s, rest, ok := quoted(fold(raw, first[0] == '"'), first[0])
		rest = strings.TrimSpace(rest)
		return s, ok && (rest == "" || rest[0] == '#')
	case '[', '{', '&', '*', '!', '%', '@', '`', '#':
		return "", false
	}
	s, _, _ := strings.Cut(fold(raw, false), " #")
	return strings.TrimSpace(s), true
}

// block reads a literal or a folded text.
func block(head string, lines []string) (string, bool) {
	indent := 0
	for _, c := range head[1:] {
		if '1' <= c && c <= '9' {
			indent = 2 + int(c-'0') // beside that of the key
		} else if c == '#' {
			break
		} else if c != '+' && c != '-' && c != ' ' {
			return "", false
		}
	}
	var b strings.Builder
	folded := head[0] == '>'
	blank, more := 0, true // empty lines, and whether the line before is one that is not folded
	for i, l := range lines {
		if strings.TrimSpace(l) == "" && (indent == 0 || len(l) <= indent) {
			blank++
			continue
		}
		if indent == 0 {
			indent = len(l) - len(strings.TrimLeft(l, " "))
		}
		if indent < 3 || len(l) < indent || strings.TrimSpace(l[:indent]) != "" {
			return "", false
		}
		l = l[indent:]
		deeper := l[0] == ' ' || l[0] == '\t'
		switch {
		case !folded || more || deeper:
			if i > blank || b.Len() > 0 {
				blank++
			}
			b.WriteString(strings.Repeat("\n", blank))
		case blank > 0:
			b.WriteString(strings.Repeat("\n", blank))
		default:
			b.WriteByte(' ')
		}
		b.WriteString(l)
		blank, more = 0, deeper
	}
	return strings.TrimPrefix(b.String(), "\n"), true
}

// fold joins the lines of a text in quotes, or of a plain one: a line break is a
// space, an empty line a line break. With escapes, a line that ends in one joins
// the next without either.
func fold(raw []string, escapes bool) string {
	out := []byte(strings.TrimRight(raw[0], " \t"))
	blank := 0
	for _, l := range raw[1:] {
		l = strings.Trim(l, " \t")
		if l == "" {
			blank++
			continue
		}
		slashes := 0
		for escapes && slashes < len(out) && out[len(out)-1-slashes] == '\\' {
			slashes++
		}
		switch {
		case slashes%2 == 1:
			out = append(out[:len(out)-1], strings.Repeat("\n", blank)...)
		case blank > 0:
			out = append(out, strings.Repeat("\n", blank)...)
		default:
			out = append(out, ' ')
		}
		out = append(out, l...)
		blank = 0
	}
	return string(out)
}

// escape reads one of the short escapes of a text in double quotes.
func escape(c byte) (text string, ok bool) {
	switch c {
	case '0', 'a', 'b', 'e':
		return "", true
	case 't', '\t':
		return "\t", true
	case 'n', 'v', 'f', 'r':
		return "\n", true
	case ' ', '"', '/', '\\':
		return string(rune(c)), true
	case 'N':
		return "\u0085", true
	case '_':
		return "\u00a0", true
	case 'L':
		return "\u2028", true
	case 'P':
		return "\u2029", true
	}
	return "", false
}

// quoted reads a text that begins with a quote, and returns what is behind it.
func quoted(s string, quote byte) (text, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		c := s[i]
		switch {
		case c == quote && quote == '\'' && strings.HasPrefix(s[i+1:], "'"):
			b.WriteByte('\'')
			i++
		case c == quote:
			return b.String(), s[i+1:], true
		case c != '\\' || quote == '\'':
			b.WriteByte(c)
		case i+1 == len(s):
			return "", "", false
		default:
			i++
			if short, known := escape(s[i]); known {
				b.WriteString(short)
				continue
			}
			n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]
			if n == 0 || i+n >= len(s) {
				return "", "", false
			}
			code, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
			if err != nil {
				return "", "", false
			}
			if r := rune(code); code <= utf8.MaxRune && r != 0 {
				b.WriteRune(r)
			}
			i += n
		}
	}
	return "", "", false
}
