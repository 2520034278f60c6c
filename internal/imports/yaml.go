package imports

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// The bounds of foreign YAML.
const (
	maxFront   = 128 << 10 // bytes of a front matter, or of one key of it
	maxKeys    = 500
	maxValues  = 20_000 // nodes of one value
	maxNesting = 16
)

// A value is a piece of foreign YAML: a text, a list or pairs. Texts are literal
// and never of a resolved type. Anchors and aliases are not followed, so that a
// short file cannot become a large value.
type value struct {
	text  string
	list  []value
	pairs []pair
}

type pair struct {
	key string
	val value
}

// get returns what stands under a key.
func (v value) get(key string) value {
	for _, p := range v.pairs {
		if p.key == key {
			return p.val
		}
	}
	return value{}
}

// texts returns the texts of a list; one text is a list of one. Of an element
// with a name, the name is its text.
func (v value) texts() []string {
	if v.text != "" {
		return []string{v.text}
	}
	var all []string
	for _, e := range v.list {
		for _, s := range []string{e.text, e.get("name").text, e.get("id").text, e.get("title").text} {
			if s != "" {
				all = append(all, s)
				break
			}
		}
	}
	return all
}

func (v value) empty() bool { return v.text == "" && len(v.list) == 0 && len(v.pairs) == 0 }

var errAlias = errors.New("anchors and aliases (& and *) are not followed")

// readValue reads one YAML document.
func readValue(text string) (v value, err error) {
	if len(text) > maxFront {
		return value{}, fmt.Errorf("it is larger than %d KB", maxFront>>10)
	}
	if tooDeep(text) {
		return value{}, fmt.Errorf("it is nested more than %d levels deep", maxNesting)
	}
	defer func() {
		if r := recover(); r != nil {
			v, err = value{}, fmt.Errorf("it cannot be read as YAML: %v", r)
		}
	}()
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return value{}, errors.New("it cannot be read as YAML")
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return value{}, nil
	}
	left := maxValues
	return valueOf(file.Docs[0].Body, &left, 0)
}

// tooDeep guards the parser, which recurses: it counts indentation steps and
// brackets without understanding them.
func tooDeep(text string) bool {
	var indents []int
	brackets := 0
	for l := range strings.Lines(text) {
		trimmed := strings.TrimLeft(l, " \t")
		indent := len(l) - len(trimmed)
		if strings.TrimSpace(trimmed) == "" {
			continue
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
		open, deepest := 0, 0
		for i := range len(trimmed) {
			switch trimmed[i] {
			case '[', '{':
				open++
				deepest = max(deepest, open)
			case ']', '}':
				open--
			}
		}
		if brackets = max(0, brackets+open); len(indents)+dashes+max(deepest, brackets) > maxNesting {
			return true
		}
	}
	return false
}

// valueOf walks a parsed document.
func valueOf(n ast.Node, left *int, depth int) (value, error) {
	if *left--; *left < 0 || depth > 2*maxNesting {
		return value{}, errors.New("it has too many values")
	}
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return value{}, nil
	case *ast.SequenceNode:
		v := value{list: make([]value, 0, len(n.Values))}
		for _, item := range n.Values {
			e, err := valueOf(item, left, depth+1)
			if err != nil {
				return value{}, err
			}
			v.list = append(v.list, e)
		}
		return v, nil
	case *ast.MappingNode:
		return pairsOf(n.Values, left, depth)
	case *ast.MappingValueNode:
		return pairsOf([]*ast.MappingValueNode{n}, left, depth)
	case *ast.StringNode:
		return value{text: strings.TrimSpace(n.Value)}, nil
	case *ast.LiteralNode:
		return value{text: strings.TrimSpace(n.Value.Value)}, nil
	case *ast.TagNode:
		return valueOf(n.Value, left, depth+1)
	case *ast.AnchorNode, *ast.AliasNode:
		return value{}, errAlias
	case ast.ScalarNode:
		return value{text: n.GetToken().Value}, nil
	}
	return value{}, errors.New("it has a value of an unknown kind")
}

func pairsOf(all []*ast.MappingValueNode, left *int, depth int) (value, error) {
	var v value
	for _, p := range all {
		key, ok := p.Key.(ast.ScalarNode)
		if !ok || p.Key.Type() == ast.MappingKeyType {
			return value{}, errors.New("it has a key that is no text")
		}
		text := key.GetToken().Value
		if s, ok := key.(*ast.StringNode); ok {
			text = s.Value
		}
		e, err := valueOf(p.Value, left, depth+1)
		if err != nil {
			return value{}, err
		}
		v.pairs = append(v.pairs, pair{text, e})
	}
	return v, nil
}

// A field is one key of a front matter, with its lines.
type field struct {
	key string
	raw string // complete lines
	val value
	bad error // why val is not what the lines say
}

// A front is a front matter, key by key: each is read separately, so that a
// broken one does not hide the others.
type front []field

// readFront splits a note into its front matter and its body. It reports false
// when there is no front matter; body is then the whole text.
func readFront(text string) (front, string, bool) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, text, false
	}
	var all front
	read := 0
	for l := range strings.Lines(rest) {
		read += len(l)
		if strings.TrimRight(l, " \t\n") == "---" {
			for i := range all {
				all[i].read()
			}
			return all, rest[read:], true
		}
		if read > maxFront || len(all) > maxKeys {
			return nil, text, false
		}
		if key, ok := keyOf(l); ok {
			all = append(all, field{key: key, raw: l})
		} else if len(all) > 0 && l[0] != '#' {
			all[len(all)-1].raw += l
		}
	}
	return nil, text, false
}

// keyOf returns the key that begins a line at the margin.
func keyOf(l string) (string, bool) {
	key, behind, ok := strings.Cut(l, ":")
	if !ok || key == "" || len(key) > 64 || behind == "" || !strings.ContainsAny(behind[:1], " \t\n") {
		return "", false
	}
	for i := range len(key) {
		c := key[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || i > 0 && (c == '-' || c == '.' || '0' <= c && c <= '9')) {
			return "", false
		}
	}
	return key, true
}

// read works out the value of a field. Lines that are no YAML are a text: the
// unquoted colon is the most frequent mistake in notes that a model wrote.
func (f *field) read() {
	v, err := readValue(f.raw)
	if err == nil {
		f.val = v.get(f.key)
		return
	}
	if f.bad = err; !errors.Is(err, errAlias) && len(f.raw) < 4<<10 {
		_, text, _ := strings.Cut(f.raw, ":")
		f.val = value{text: strings.Trim(strings.Join(strings.Fields(text), " "), `"'`)}
	}
}

// get returns the value of the first field with one of the keys that has any.
func (f front) get(keys ...string) value {
	for _, key := range keys {
		for i := range f {
			if f[i].key == key && !f[i].val.empty() {
				return f[i].val
			}
		}
	}
	return value{}
}
