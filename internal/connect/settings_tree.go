package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"anamnesis/internal/agent"
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

const fixSettings = "correct it and run the command again"

// maxBrackets bounds how many lists and objects a settings file may have: the
// library goes down into them without its own bound.
const maxBrackets = 100_000

// parseSettings reads a settings file that we are about to edit: JSON, comments
// and trailing commas in it. What two readers might understand differently is
// refused: doubled names, a byte order mark.
func parseSettings(data []byte) (*node, error) {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(data, []byte(mark)) {
			return nil, settingsError(data, 0, "the file begins with a byte order mark",
				"save it as UTF-8 without one and run the command again")
		}
	}
	if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxBrackets {
		return nil, settingsError(data, 0, "the file holds too many lists and objects", fixSettings)
	}
	v, err := hujson.Parse(data)
	if err != nil {
		return nil, syntaxError(data, err)
	}
	root, err := newNode(data, &v, 1)
	if err != nil {
		return nil, err
	}
	if root.kind != '{' {
		return nil, settingsError(data, root.start, "the settings are not a JSON object", fixSettings)
	}
	return &root, nil
}

// sameSettings reports whether two settings files in JSON say the same in the same order,
// whatever their white space and comments.
func sameSettings(a, b []byte) bool {
	var compact [2]bytes.Buffer
	for i, data := range [][]byte{a, b} {
		if _, err := parseSettings(data); err != nil {
			return false
		}
		plain, err := hujson.Standardize(bytes.Clone(data))
		if err != nil || json.Compact(&compact[i], plain) != nil {
			return false
		}
	}
	return bytes.Equal(compact[0].Bytes(), compact[1].Bytes())
}

// syntaxError takes the place out of an error of the library, which counts
// columns in bytes and quotes whole values.
func syntaxError(data []byte, err error) error {
	var line, column int
	_, problem, _ := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": ")
	if _, serr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); serr != nil {
		return errors.New("not valid JSON")
	}
	problem, _, _ = strings.Cut(problem, ": ")
	pos := column - 1
	for rest := data; line > 1; line-- {
		n := bytes.IndexByte(rest, '\n') + 1
		pos, rest = pos+n, rest[n:]
	}
	return settingsError(data, pos, "not valid JSON: "+problem, fixSettings)
}

// maxDepth is how deep lists and objects may stand in one another.
const maxDepth = 1000

// newNode makes a node of a value of the library.
func newNode(data []byte, v *hujson.Value, depth int) (node, error) {
	n := node{kind: data[v.StartOffset], start: v.StartOffset, end: v.EndOffset}
	if depth > maxDepth {
		return n, settingsError(data, n.start, "nesting too deep", fixSettings)
	}
	add := func(it item, v *hujson.Value) (err error) {
		it.value, err = newNode(data, v, depth+1)
		n.items = append(n.items, it)
		return err
	}
	switch value := v.Value.(type) {
	case *hujson.Object:
		seen := make(map[string]bool, len(value.Members))
		for i := range value.Members {
			m := &value.Members[i]
			it := item{start: m.Name.StartOffset, key: m.Name.Value.(hujson.Literal).String()}
			if seen[it.key] {
				return n, settingsError(data, it.start, "the name "+agent.QuoteJSON(it.key)+" stands twice in one object",
					"remove one of the two and run the command again")
			}
			seen[it.key] = true
			if err := add(it, &m.Value); err != nil {
				return n, err
			}
		}
	case *hujson.Array:
		for i := range value.Elements {
			e := &value.Elements[i]
			if err := add(item{start: e.StartOffset}, e); err != nil {
				return n, err
			}
		}
	case hujson.Literal:
		if n.text = string(value); n.kind == '"' {
			n.text = value.String()
		}
	}
	return n, nil
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
