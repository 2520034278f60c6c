package note

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// The limits of a front matter. They are checked before a YAML library sees it.
const (
	maxFront   = 256 << 10
	maxKeys    = 2000
	maxNesting = 32
)

const byteOrderMark = "\uFEFF"

var errNotUTF8 = errors.New("the file is not UTF-8; save it as UTF-8")

// A document is the bytes of a note, cut where the front matter begins and
// ends. The pieces, put together again, are the file.
type document struct {
	open  string // the first line, a byte order mark included
	front string // the lines between
	close string // the line that ends the front matter
	body  string // the rest, as it stands in the file
}

// cut splits a file into its document.
func cut(data []byte) (document, error) {
	if !utf8.Valid(data) {
		return document{}, &FieldError{Line: badLine(data), Err: errNotUTF8}
	}
	text := string(data)
	var d document
	rest := strings.TrimPrefix(text, byteOrderMark)
	after, ok := cutMarker(rest)
	if !ok {
		return d, ErrNoFrontMatter
	}
	d.open = text[:len(text)-len(after)]
	for at := 0; ; {
		if end, ok := cutMarker(after[at:]); ok {
			d.front = after[:at]
			d.close = after[at : len(after)-len(end)]
			d.body = end
			return d, nil
		}
		// Only a line feed before three dashes can begin the closing line.
		next := strings.Index(after[at:], "\n---")
		if next < 0 {
			return d, ErrUnterminated
		}
		at += next + 1
	}
}

// cutMarker returns what follows a line of three dashes at the start of s.
func cutMarker(s string) (rest string, ok bool) {
	s, ok = strings.CutPrefix(s, "---")
	switch {
	case !ok:
		return "", false
	case s == "":
		return "", true
	case s[0] == '\n':
		return s[1:], true
	case strings.HasPrefix(s, "\r\n"):
		return s[2:], true
	}
	return "", false
}

// crlf reports whether the lines of the file end as its first one does, in CR and LF.
func (d document) crlf() bool { return strings.HasSuffix(d.open, "\r\n") }

// text returns the body as a Note holds it: without the final line feed, and
// with plain line feeds when the file has those of Windows.
func (d document) text() string {
	body := d.body
	if d.crlf() {
		body = strings.ReplaceAll(body, "\r\n", "\n")
	}
	return strings.TrimSuffix(body, "\n")
}

// check refuses a front matter that is too big to be one.
func check(front string) error {
	if len(front) > maxFront {
		return &FieldError{Line: 1, Err: errors.New("is larger than 256 KB; move text into the body")}
	}
	keys, depth := 0, 0
	var indents []int
	for i, line := range lines(front) {
		trimmed := strings.TrimLeft(line, " \t")
		indent := len(line) - len(trimmed)
		if trimmed == "\n" || trimmed == "" {
			continue
		}
		if c := line[0]; indent == 0 && c != '-' && c != '#' && c != ']' && c != '}' {
			keys++
			depth = 0
		}
		for len(indents) > 0 && indents[len(indents)-1] >= indent {
			indents = indents[:len(indents)-1]
		}
		indents = append(indents, indent)
		dashes := 0
		for strings.HasPrefix(trimmed, "- ") {
			trimmed = strings.TrimLeft(trimmed[2:], " ")
			dashes++
		}
		deepest := depth
		for j := 0; j < len(trimmed); j++ {
			switch trimmed[j] {
			case '[', '{':
				depth++
				deepest = max(deepest, depth)
			case ']', '}':
				depth = max(depth-1, 0)
			}
		}
		if keys > maxKeys {
			return &FieldError{Line: i + 2, Err: errors.New("has more than 2000 keys")}
		}
		if len(indents)+dashes+deepest > maxNesting {
			return &FieldError{Line: i + 2, Err: errors.New("is nested more than 32 levels deep")}
		}
	}
	return nil
}

// lines cuts s behind every line feed.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.SplitAfter(s, "\n")
	if out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// badLine returns the number of the first line that is not UTF-8.
func badLine(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[size:]
	}
	return line
}

// sidecarText returns the text of a sidecar, in which the limits of a front matter hold too.
func sidecarText(data []byte) (string, error) {
	if !utf8.Valid(data) {
		return "", &FieldError{Line: badLine(data), Err: errNotUTF8}
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), byteOrderMark), "\r\n", "\n")
	return text, check(text)
}
