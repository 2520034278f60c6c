package note

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// errShape is returned for front matter that is YAML, but no block of keys.
var errShape = errors.New(`must be lines of the form "key: value"`)

// readYAML reads any front matter. The lines of its entries are known, and
// patchable is true, when every key stands at the beginning of a line.
func readYAML(front string) (entries []entry, patchable bool, err error) {
	if err := check(front); err != nil {
		return nil, false, err
	}
	root, err := parseYAML(front)
	if err != nil || root == nil {
		return nil, false, err
	}
	patchable = true
	all := lines(front)
	for _, pair := range root {
		at := pair.Key.GetToken().Position.Line - 1
		key, ok := pair.Key.(ast.ScalarNode)
		if !ok || pair.Key.Type() == ast.MappingKeyType {
			return nil, false, &FieldError{Line: at + 2, Err: errShape}
		}
		e := entry{key: keyText(key), from: at}
		e.val, err = valueOf(pair.Value)
		if err != nil && fieldAt(e.key, 0) >= 0 {
			return nil, false, &FieldError{Key: e.key, Line: at + 2, Err: err}
		}
		patchable = patchable && beginsAt(all, at, pair.Key.GetToken())
		entries = append(entries, e)
	}
	if patchable {
		patchable = span(entries, all)
	}
	if !patchable {
		for i, pair := range root {
			entries[i].raw = strings.Trim(pair.String(), " \n") + "\n" // lines around it are not of the key
		}
	}
	return entries, patchable, nil
}

// parseYAML returns the keys of a front matter, nil when it is empty.
func parseYAML(front string) (root []*ast.MappingValueNode, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, &FieldError{Line: 2, Err: fmt.Errorf("cannot be read as YAML: %v", r)}
		}
	}()
	file, err := parser.ParseBytes([]byte(front), 0)
	if err != nil {
		return nil, yamlError(err)
	}
	if len(file.Docs) == 0 {
		return nil, nil
	}
	if len(file.Docs) > 1 {
		return nil, &FieldError{Line: 2, Err: errors.New(`must be one YAML document, without "---" and "..." inside`)}
	}
	switch body := file.Docs[0].Body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil, nil
	case *ast.MappingNode:
		return body.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{body}, nil
	}
	return nil, &FieldError{Line: 2, Err: errShape}
}

// yamlError turns an error of the library, which prints half the file, into a FieldError.
func yamlError(err error) error {
	var at interface{ GetToken() *token.Token }
	var message interface{ GetMessage() string }
	line, text := 2, ""
	if errors.As(err, &at) && at.GetToken() != nil {
		line = at.GetToken().Position.Line + 1
	}
	if errors.As(err, &message) {
		text = message.GetMessage()
	} else {
		text, _, _ = strings.Cut(err.Error(), "\n")
	}
	return &FieldError{Line: line, Err: fmt.Errorf("cannot be read as YAML: %s", text)}
}

// keyText returns the literal text of a key.
func keyText(key ast.ScalarNode) string {
	if s, ok := key.(*ast.StringNode); ok {
		return s.Value
	}
	return key.GetToken().Value
}

// beginsAt reports whether a key begins line at.
func beginsAt(all []string, at int, key *token.Token) bool {
	return at >= 0 && at < len(all) && key.Position.Column == 1 &&
		strings.HasPrefix(all[at], strings.TrimSpace(key.Origin))
}

// span gives every entry its lines: up to the next key, without the comments
// and blank lines in front of that. It fails when keys share a line.
func span(entries []entry, all []string) bool {
	for i := range entries {
		e := &entries[i]
		e.to = len(all)
		if i+1 < len(entries) {
			e.to = entries[i+1].from
		}
		if e.to <= e.from {
			return false
		}
		keep := keepsBlankLines(all[e.from:e.to])
		for e.to > e.from+1 && !keep {
			last := strings.TrimSpace(all[e.to-1])
			if last != "" && all[e.to-1][0] != '#' {
				break
			}
			e.to--
		}
		e.raw = strings.Join(all[e.from:e.to], "")
	}
	return len(entries) == 0 || onlyComments(all[:entries[0].from])
}

// keepsBlankLines reports whether blank lines at the end may belong to a value: behind "|+".
func keepsBlankLines(all []string) bool {
	for _, line := range all {
		if i := strings.LastIndexAny(line, "|>"); i >= 0 && strings.Contains(line[i:], "+") {
			return true
		}
	}
	return false
}

func onlyComments(all []string) bool {
	for _, line := range all {
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed[0] != '#' {
			return false
		}
	}
	return true
}

// valueOf reads what stands behind a key. The error is of interest for known keys only.
func valueOf(node ast.Node) (value, error) {
	switch n := node.(type) {
	case *ast.SequenceNode:
		return listOf(n)
	case *ast.MappingNode, *ast.MappingValueNode:
		return value{form: formOther}, nil
	}
	s, err := scalarOf(node)
	return value{one: s}, err
}

func listOf(n *ast.SequenceNode) (value, error) {
	v := value{form: formList}
	for _, item := range n.Values {
		var pairs []*ast.MappingValueNode
		switch m := item.(type) {
		case *ast.MappingNode:
			pairs = m.Values
		case *ast.MappingValueNode:
			pairs = []*ast.MappingValueNode{m}
		case *ast.SequenceNode:
			return value{form: formOther}, nil
		default:
			s, err := scalarOf(item)
			if err != nil {
				return value{form: formOther}, err
			}
			v.list = append(v.list, s)
			continue
		}
		row := make([]pair, 0, len(pairs))
		for _, p := range pairs {
			key, ok := p.Key.(ast.ScalarNode)
			if !ok {
				return value{form: formOther}, nil
			}
			s, err := scalarOf(p.Value)
			if err != nil {
				return value{form: formOther}, err
			}
			row = append(row, pair{keyText(key), s})
		}
		v.pairs = append(v.pairs, row)
	}
	switch {
	case len(v.pairs) > 0 && len(v.list) > 0:
		return value{form: formOther}, nil
	case len(v.pairs) > 0:
		v.form = formPairs
	}
	return v, nil
}

// scalarOf returns the literal text of a scalar.
func scalarOf(node ast.Node) (scalar, error) {
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return scalar{null: true}, nil
	case *ast.StringNode:
		return stringOf(n), nil
	case *ast.LiteralNode:
		return scalar{text: n.Value.Value}, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode, *ast.MergeKeyNode:
		return scalar{text: n.GetToken().Value}, nil
	case *ast.TagNode:
		return scalarOf(n.Value)
	case *ast.AnchorNode, *ast.AliasNode:
		return scalar{}, errors.New("anchors and aliases (& and *) are not supported; write the text out, in quotes")
	}
	return scalar{}, errors.New("must be a text")
}

// stringOf returns the text of a plain or quoted scalar. The library drops the
// tabs of plain ones, and the spaces behind a quote that begins a continuation
// line of a single-quoted one, so those are read here.
func stringOf(n *ast.StringNode) scalar {
	switch t := n.GetToken(); t.Type {
	case token.StringType:
		if strings.IndexByte(t.Origin, '\t') >= 0 {
			return scalar{text: fold(strings.Trim(t.Origin, " \t\n"))}
		}
		return scalar{text: n.Value, null: isNull(n.Value)}
	case token.SingleQuoteType:
		raw := strings.TrimSpace(t.Origin)
		if len(raw) >= 2 && raw[0] == '\'' && raw[len(raw)-1] == '\'' && strings.IndexByte(raw, '\n') >= 0 {
			return scalar{text: strings.ReplaceAll(fold(raw[1:len(raw)-1]), "''", "'")}
		}
	}
	return scalar{text: n.Value}
}

// fold joins the lines of a scalar: a line break is a space, and each blank
// line is a line break. Blanks around line breaks do not count.
func fold(s string) string {
	all := strings.Split(s, "\n")
	var b strings.Builder
	breaks := 0
	for i, line := range all {
		if i > 0 {
			line = strings.TrimLeft(line, " \t")
		}
		if i < len(all)-1 {
			line = strings.TrimRight(line, " \t")
		}
		if i > 0 && line == "" && i < len(all)-1 {
			breaks++
			continue
		}
		switch {
		case breaks > 0:
			b.WriteString(strings.Repeat("\n", breaks))
		case i > 0:
			b.WriteByte(' ')
		}
		breaks = 0
		b.WriteString(line)
	}
	return b.String()
}
