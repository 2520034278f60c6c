package note

import "strings"

// An entry is one key of a front matter and the lines that hold it.
type entry struct {
	key      string
	val      value
	from, to int    // its lines, counted from 0, without comments and blank lines behind it
	raw      string // those lines
}

// readCanonical reads the front matter that Format writes, which nearly every
// file has: keys and list items in column 0, each value on one line. It is a
// small part of YAML, and it declines everything else, so that the two ways to
// read a file cannot differ: see TestReadersAgree.
func readCanonical(front string) (entries []entry, ok bool) {
	entries = make([]entry, 0, 24)
	var item []pair // the mapping that is being read
	begin := 0      // where the current entry begins
	line := 0
	for at := 0; at < len(front); line++ {
		end := strings.IndexByte(front[at:], '\n')
		if end < 0 {
			return nil, false
		}
		text := front[at : at+end]
		next := at + end + 1
		switch {
		case strings.HasPrefix(text, "- "):
			if len(entries) == 0 {
				return nil, false
			}
			e := &entries[len(entries)-1]
			if ok, item = e.addItem(text[2:]); !ok {
				return nil, false
			}
			e.to, e.raw = line+1, front[begin:next]
		case strings.HasPrefix(text, "  ") && item != nil:
			key, s, ok := cutPair(text[2:])
			if !ok || s.isEmptyList() || hasPair(item, key) {
				return nil, false
			}
			item = append(item, pair{key, s})
			e := &entries[len(entries)-1]
			e.val.pairs[len(e.val.pairs)-1] = item
			e.to, e.raw = line+1, front[begin:next]
		default:
			key, s, ok := cutPair(text)
			if !ok {
				return nil, false
			}
			begin, item = at, nil
			e := entry{key: key, from: line, to: line + 1, raw: front[at:next]}
			if s.isEmptyList() {
				e.val.form = formList
			} else {
				e.val.one = s
			}
			entries = append(entries, e)
		}
		at = next
	}
	return entries, true
}

// addItem adds the text behind a dash to the list of e. A mapping comes back,
// to be continued on the following lines.
func (e *entry) addItem(text string) (ok bool, item []pair) {
	// A dash can follow an empty value only, and "[]" and "~" are no empty values.
	if e.val.form == formScalar {
		if !e.val.one.null || e.val.one.text != "" {
			return false, nil
		}
		e.val.form = formList
		if _, _, mapping := cutPair(text); mapping {
			e.val.form = formPairs
		}
	} else if len(e.val.list)+len(e.val.pairs) == 0 {
		return false, nil
	}
	if e.val.form == formPairs {
		key, s, ok := cutPair(text)
		if !ok || s.isEmptyList() {
			return false, nil
		}
		item = []pair{{key, s}}
		e.val.pairs = append(e.val.pairs, item)
		return true, item
	}
	s, ok := cutScalar(text)
	if !ok || s.isEmptyList() {
		return false, nil
	}
	e.val.list = append(e.val.list, s)
	return true, nil
}

func hasPair(pairs []pair, key string) bool {
	for _, p := range pairs {
		if p.key == key {
			return true
		}
	}
	return false
}

// cutPair splits "key: value" and "key:", where the key is a plain word.
func cutPair(s string) (key string, val scalar, ok bool) {
	colon := strings.IndexByte(s, ':')
	if colon <= 0 || !isWord(s[:colon]) {
		return "", scalar{}, false
	}
	key, rest := s[:colon], s[colon+1:]
	if rest == "" {
		return key, scalar{null: true}, true
	}
	if rest[0] != ' ' || len(rest) == 1 {
		return "", scalar{}, false
	}
	val, ok = cutScalar(rest[1:])
	return key, val, ok
}

// isWord reports whether s is a key that needs no thought: letters, digits,
// underscores and hyphens, and no word that YAML reads as something else.
func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return !isNull(s)
}

// cutScalar reads a scalar that fills its line. The empty list is a null whose text is "[]".
func cutScalar(s string) (val scalar, ok bool) {
	switch {
	case s == "[]":
		return scalar{text: s, null: true}, true
	case s == "" || s[0] == ' ':
		return scalar{}, false
	case s[0] == '\'':
		text, ok := singleQuoted(s)
		return scalar{text: text}, ok
	case s[0] == '"':
		text, ok := doubleQuoted(s)
		return scalar{text: text}, ok
	case !isPlain(s):
		return scalar{}, false
	}
	return scalar{text: s, null: isNull(s)}, true
}

func (s scalar) isEmptyList() bool { return s.null && s.text == "[]" }

// isNull reports whether s, written plain, stands for no value.
func isNull(s string) bool {
	return s == "~" || s == "null" || s == "Null" || s == "NULL"
}

// isPlain reports whether s, behind "key: " or "- " and up to the end of the
// line, is a plain scalar with that very text, for every reader of YAML.
func isPlain(s string) bool {
	if s == "" || strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		return false
	}
	switch s[0] {
	case ' ', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	case '-', '?', ':':
		if len(s) == 1 || s[1] == ' ' {
			return false
		}
	}
	last := len(s) - 1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ' || c == 0x7f:
			return false
		case c == ':' && (i == last || s[i+1] == ' '):
			return false
		case c == '#' && i > 0 && s[i-1] == ' ':
			return false
		case c >= 0x80 && hasOddRune(s[i:]):
			return false
		}
	}
	return s[last] != ' '
}

// hasOddRune reports whether s begins with a rune that YAML takes for a line
// break, or that must not stand in a file as it is.
func hasOddRune(s string) bool {
	switch s[0] {
	case 0xC2: // U+0080 to U+009F, with the next-line character
		return s[1] < 0xA0
	case 0xE2: // U+2028 and U+2029, the separators
		return s[1] == 0x80 && (s[2] == 0xA8 || s[2] == 0xA9)
	case 0xEF: // the byte order mark, U+FFFE and U+FFFF
		return s[1] == 0xBB && s[2] == 0xBF || s[1] == 0xBF && s[2] >= 0xBE
	case 0xF4: // U+10FFFF, which PyYAML does not print
		return s[1] == 0x8F && s[2] == 0xBF && s[3] == 0xBF
	}
	return false
}

// singleQuoted reads a single-quoted scalar that is all of s.
func singleQuoted(s string) (text string, ok bool) {
	if len(s) < 2 || s[len(s)-1] != '\'' {
		return "", false
	}
	text = s[1 : len(s)-1]
	quotes := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f || c >= 0x80 && hasOddRune(text[i:]):
			return "", false
		case c == '\'':
			if i++; i == len(text) || text[i] != '\'' {
				return "", false
			}
			quotes++
		}
	}
	if quotes > 0 {
		text = strings.ReplaceAll(text, "''", "'")
	}
	return text, true
}
