package agent

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// A SettingsError says why a settings file was left alone: where, what, and
// what its owner can do. Line and Column count from 1, columns in characters.
type SettingsError struct {
	Line, Column  int
	Problem, Next string
}

func (e *SettingsError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s; %s", e.Line, e.Column, e.Problem, e.Next)
}

func settingsError(data []byte, pos int, problem, next string) *SettingsError {
	before := data[:min(pos, len(data))]
	begin := bytes.LastIndexByte(before, '\n') + 1
	return &SettingsError{
		Line:    bytes.Count(before, []byte("\n")) + 1,
		Column:  utf8.RuneCount(before[begin:]) + 1,
		Problem: problem,
		Next:    next,
	}
}

// A node is a JSON value and where it stands in the text.
type node struct {
	kind       byte // '{', '[', '"', or the first byte of anything else
	start, end int
	text       string // of a string, decoded; of a number or literal, as it stands
	items      []item // of an object or a list, in order
}

// An item is a member of an object or an element of a list.
type item struct {
	start int // of the name in an object, else of the value
	key   string
	value node
}

func (n *node) multi() bool { return n.kind == '{' || n.kind == '[' }

// member is the value of the named member, and its place among the items; nil and -1 if there is none.
func (n *node) member(name string) (*node, int) {
	if n != nil && n.kind == '{' {
		for i := range n.items {
			if n.items[i].key == name {
				return &n.items[i].value, i
			}
		}
	}
	return nil, -1
}

// list is n's items if it is a list, else none.
func (n *node) list() []item {
	if n == nil || n.kind != '[' {
		return nil
	}
	return n.items
}

// parseSettings reads a settings file that we are about to edit. What two
// readers might understand differently is refused: comments, doubled names, a
// byte order mark.
func parseSettings(data []byte) (*node, error) {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(data, []byte(mark)) {
			return nil, settingsError(data, 0, "the file begins with a byte order mark",
				"save it as UTF-8 without one and run the command again")
		}
	}
	const again = "correct it and run the command again"
	s := scanner{data: data}
	s.space()
	root, err := s.node()
	if err == nil {
		err = s.end()
	}
	if err != nil {
		var bad *jsonError
		if !errors.As(err, &bad) {
			return nil, err // a SettingsError
		}
		what := "not valid JSON: " + bad.what
		if bad.pos < len(data) && (data[bad.pos] == '/' || data[bad.pos] == '#') {
			what = "a comment, which JSON does not have"
		}
		return nil, settingsError(data, bad.pos, what, again)
	}
	if root.kind != '{' {
		return nil, settingsError(data, root.start, "the settings are not a JSON object", again)
	}
	return &root, nil
}

// node reads one value.
func (s *scanner) node() (node, error) {
	n := node{kind: s.peek(), start: s.pos}
	var err error
	if !n.multi() {
		err = s.value()
	} else {
		seen := map[string]bool{}
		err = s.items(n.kind, func(key []byte) error {
			it := item{start: s.pos}
			if key != nil {
				// items has just read the name, so it ends at the colon before the value.
				it.start = bytes.LastIndex(s.data[:s.pos], key)
				it.key = unquote(key)
				if seen[it.key] {
					return settingsError(s.data, it.start, "the name "+quote(it.key)+" stands twice in one object",
						"remove one of the two and run the command again")
				}
				seen[it.key] = true
			}
			var err error
			it.value, err = s.node()
			n.items = append(n.items, it)
			return err
		})
	}
	n.end = s.pos
	if n.kind == '"' && err == nil {
		n.text = unquote(s.data[n.start:n.end])
	} else if !n.multi() && err == nil {
		n.text = string(s.data[n.start:n.end])
	}
	return n, err
}

// lineIndent is the white space at the start of the line that pos stands in.
func lineIndent(data []byte, pos int) string {
	begin := bytes.LastIndexByte(data[:pos], '\n') + 1
	i := begin
	for i < pos && (data[i] == ' ' || data[i] == '\t') {
		i++
	}
	return string(data[begin:i])
}
