package redact

import "strings"

// quoteAt returns the quotation mark at s[i:], or "". A mark is what must
// stand at the other end too: a plain one, one that JSON has escaped once or
// more, one that HTML, JavaScript or an address has spelled out.
func quoteAt(s string, i int) string {
	if i >= len(s) {
		return ""
	}
	switch s[i] {
	case '"', '\'', '`':
		if i+2 < len(s) && s[i+1] == s[i] && s[i+2] == s[i] {
			return s[i : i+3]
		}
		return s[i : i+1]
	case '\\':
		j := i
		for j < len(s) && j < i+16 && s[j] == '\\' {
			j++
		}
		if j < len(s) && (s[j] == '"' || s[j] == '\'' || s[j] == '`') {
			return s[i : j+1]
		}
		if hasFold(s, i, `\u0022`) || hasFold(s, i, `\u0027`) {
			return s[i : i+6]
		}
	case '&':
		for _, q := range [...]string{"&quot;", "&#34;", "&#39;", "&apos;"} {
			if strings.HasPrefix(s[i:], q) {
				return q
			}
		}
	case '%':
		if strings.HasPrefix(s[i:], "%22") || strings.HasPrefix(s[i:], "%27") {
			return s[i : i+3]
		}
	}
	return ""
}

// quoteLimit is how long a quoted value may be before we no longer believe in
// its end. The longest we know are key files in base64.
const quoteLimit = 16 << 10

// quoted returns the inside of the quoted value at s[i:]. Without an end on the
// same line the value ends with the line: somebody cut the text there.
func quoted(s string, i int) (span, bool) {
	q := quoteAt(s, i)
	if q == "" {
		return span{}, false
	}
	start := i + len(q)
	hi := min(len(s), start+quoteLimit)
	for k := start; k < hi; {
		n := strings.IndexByte(s[k:hi], q[0])
		line := strings.IndexByte(s[k:min(hi, k+max(n, 0)+1)], '\n')
		if n < 0 {
			line = strings.IndexByte(s[k:hi], '\n')
		}
		if line >= 0 && (n < 0 || line < n) && len(q) < 3 {
			if j := runEnds(s, start, 40, "_"); q == "'" && j > start && j < k+line && strings.IndexByte(">,)+ {;", s[j]) >= 0 {
				return span{}, false // a lifetime of Rust: 'static
			}
			return span{start, k + line}, true
		}
		if n < 0 {
			break
		}
		k += n
		// An escaped mark within a plain one, or one escaped more often, does not end it.
		if strings.HasPrefix(s[k:], q) && (q[0] == '\\' && quoteAt(s, k) == q || q[0] != '\\' && !oddSlashes(s, start, k)) {
			return span{start, k}, true
		}
		k++
		for q[0] == '\\' && k < hi && s[k] == '\\' {
			k++
		}
	}
	return span{start, runEnd(s, start)}, true
}

// oddSlashes reports whether the byte at k is escaped by an odd number of backslashes.
func oddSlashes(s string, start, k int) bool {
	n := 0
	for k-n > start && s[k-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// closing skips what closes a name: a quotation mark, the bracket of an index.
func closing(s string, i int) int {
	if q := quoteAt(s, i); q != "" {
		i += len(q)
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	return i
}

// escapeAt reports whether a line feed, tab or quotation mark stands at s[i:]
// in escaped form, which is how a value ends inside a JSON string.
func escapeAt(s string, i int) bool {
	if s[i] != '\\' {
		return false
	}
	j := i
	for j < len(s) && j < i+8 && s[j] == '\\' {
		j++
	}
	if j >= len(s) {
		return true
	}
	switch s[j] {
	case 'n', 'r', 't', '"', '\'', '\n', '`':
		return true
	}
	return hasFold(s, j-1, `\u0022`) || hasFold(s, j-1, `\u0026`) || hasFold(s, j-1, `\u003c`)
}

// runEnd returns where the unquoted value at i ends: at a blank, a mark or a
// bracket that closes something. Our own mark is a value like any other.
func runEnd(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\r', '"', '\'', '`', ',', ';', ')', '}', '<', '>', '&', '|', 0:
			return i
		case '\\':
			if escapeAt(s, i) {
				return i
			}
		case '[':
			if strings.HasPrefix(s[i:], mark) {
				i += len(mark)
				continue
			}
		case ']':
			return i
		}
		i++
	}
	return i
}
