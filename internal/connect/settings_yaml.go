package connect

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"anamnesis/internal/agent"
)

// A YAML file is edited by its lines, so that what is not ours stays as it was. A parser
// says on which lines keys stand. What we add goes behind the line of the key under which
// it belongs, or to the end of the file; a mapping that is written on one line is refused.

// A yamlEntry is a member of a mapping.
type yamlEntry struct {
	key    string
	line   int // of the key, counted from 0
	indent int
	value  ast.Node
}

// checkYAML reports what is wrong with a file.
func checkYAML(data []byte) error {
	_, err := yamlRoot(data)
	return err
}

func yamlError(data []byte, err error) error {
	var wrong yaml.Error
	if errors.As(err, &wrong) && wrong.GetToken() != nil {
		at := wrong.GetToken().Position
		return &SettingsError{Line: at.Line, Column: at.Column, Problem: "not valid YAML: " + wrong.GetMessage(), Next: fixSettings}
	}
	return settingsError(data, 0, "not valid YAML", fixSettings)
}

// yamlRoot returns the members of the file.
func yamlRoot(data []byte) ([]yamlEntry, error) {
	// The library counts an end of a line of two characters twice.
	file, err := parser.ParseBytes(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), parser.ParseComments)
	if err != nil {
		return nil, yamlError(data, err)
	}
	var all []yamlEntry
	for i, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.NullType {
			continue
		}
		if i > 0 || doc.Body.Type() != ast.MappingType && doc.Body.Type() != ast.MappingValueType {
			return nil, settingsError(data, 0, "the settings are not one mapping", fixSettings)
		}
		all = yamlEntries(doc.Body)
	}
	return all, nil
}

func yamlEntries(n ast.Node) (all []yamlEntry) {
	add := func(v *ast.MappingValueNode) {
		at := v.Key.GetToken().Position
		all = append(all, yamlEntry{strings.Trim(v.Key.String(), `"'`), at.Line - 1, at.Column - 1, v.Value})
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, v := range n.Values {
			add(v)
		}
	case *ast.MappingValueNode:
		add(n)
	}
	return all
}

// yamlText is the text of a scalar, "" for anything else.
func yamlText(n ast.Node) (text string) {
	if yaml.NodeToValue(n, &text) != nil {
		return ""
	}
	return text
}

// yamlTexts lists the texts of a sequence of scalars, none for anything else.
func yamlTexts(n ast.Node) (texts []string) {
	if list, ok := n.(*ast.SequenceNode); ok {
		for _, v := range list.Values {
			texts = append(texts, yamlText(v))
		}
	}
	return texts
}

// find returns the entry of a key, nil for none.
func findYAML(all []yamlEntry, key string) *yamlEntry {
	for i := range all {
		if all[i].key == key {
			return &all[i]
		}
	}
	return nil
}

// yamlLines splits a file into its lines, with their ends.
func yamlLines(data []byte) []string { return strings.SplitAfter(string(data), "\n") }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// blockEnd returns the line behind what belongs to the key or the item on a line.
func blockEnd(lines []string, at, indent int) int {
	end := at + 1
	for i := at + 1; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		item := strings.HasPrefix(text, "- ") && !strings.HasPrefix(strings.TrimSpace(lines[at]), "- ")
		if in := indentOf(lines[i]); in > indent || in == indent && item {
			end = i + 1
			continue
		}
		break
	}
	return end
}

// addYAMLLines puts lines under the key that path leads to.
func addYAMLLines(data []byte, path, add []string) ([]byte, error) {
	all, err := yamlRoot(data)
	if err != nil {
		return nil, err
	}
	newline := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		newline = "\r\n"
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = nil
	}
	at, indent := -1, 0 // the line behind which it goes
	for len(path) > 0 {
		e := findYAML(all, path[0])
		if e == nil {
			break
		}
		first := -1
		switch v := e.value.(type) {
		case *ast.SequenceNode:
			if v.IsFlowStyle {
				return nil, yamlFlow(e)
			}
			first = v.Start.Position.Column - 1
		case *ast.MappingNode, *ast.MappingValueNode:
			if m, ok := v.(*ast.MappingNode); ok && m.IsFlowStyle {
				return nil, yamlFlow(e)
			}
			if all = yamlEntries(v); len(all) > 0 {
				first = all[0].indent
			}
		case *ast.NullNode, nil:
			all = nil
		default:
			return nil, yamlFlow(e)
		}
		at, indent, path = e.line, e.indent+2, path[1:]
		if first >= 0 {
			indent = first
		}
	}
	var text strings.Builder
	for _, key := range path {
		text.WriteString(strings.Repeat(" ", indent) + key + ":" + newline)
		indent += 2
	}
	for _, line := range add {
		text.WriteString(strings.Repeat(" ", indent) + line + newline)
	}
	lines := yamlLines(data)
	if at >= 0 {
		before := strings.Join(lines[:at+1], "")
		if !strings.HasSuffix(before, "\n") {
			before += newline
		}
		return []byte(before + text.String() + strings.Join(lines[at+1:], "")), nil
	}
	if len(data) == 0 {
		return []byte(text.String()), nil
	}
	return []byte(string(data) + newline + text.String()), nil
}

func yamlFlow(e *yamlEntry) error {
	return &SettingsError{
		Line: e.line + 1, Column: e.indent + 1, Problem: e.key + " is written on one line, or is no mapping",
		Next: "write it as lines below its key and run the command again",
	}
}

// cutLines takes lines out; of a member of the whole file the line end before it goes, too.
func cutLines(lines []string, from, to int, top bool) []string {
	if top && from == 0 && to < len(lines)-1 && strings.TrimSpace(lines[to]) == "" { // no file begins with what parts it from others
		to++
	}
	out := append(append([]string{}, lines[:from]...), lines[to:]...)
	if top && from > 0 {
		switch last := out[from-1]; {
		case strings.TrimSpace(last) == "" && last != "":
			out = append(out[:from-1], out[from:]...)
		case from == len(out) || strings.Join(out[from:], "") == "":
			out[from-1] = strings.TrimSuffix(strings.TrimSuffix(last, "\n"), "\r")
		}
	}
	return out
}

// removeYAMLMember takes a member out of a mapping at the top, and that with its last one.
func removeYAMLMember(data []byte, in, name string) ([]byte, error) {
	all, err := yamlRoot(data)
	if err != nil {
		return nil, err
	}
	e := findYAML(all, in)
	if e == nil {
		return data, nil
	}
	inner := yamlEntries(e.value)
	one := findYAML(inner, name)
	if one == nil {
		return data, nil
	}
	lines := yamlLines(data)
	if len(inner) == 1 {
		lines = cutLines(lines, e.line, blockEnd(lines, e.line, e.indent), true)
	} else {
		lines = cutLines(lines, one.line, blockEnd(lines, one.line, one.indent), false)
	}
	out := []byte(strings.Join(lines, ""))
	return out, checkYAML(out)
}

// A yamlHook is a hook and where it stands.
type yamlHook struct {
	Hook
	line, indent int
	only         bool // nothing else is in its list
}

// readYAMLHooks lists all hooks, in the order of the text.
func readYAMLHooks(data []byte) (found []yamlHook, top *yamlEntry, events int, err error) {
	all, err := yamlRoot(data)
	if err != nil {
		return nil, nil, 0, err
	}
	if top = findYAML(all, hermesHooksKey); top == nil {
		return nil, nil, 0, nil
	}
	list := yamlEntries(top.value)
	for _, event := range list {
		items, ok := event.value.(*ast.SequenceNode)
		if !ok || items.IsFlowStyle {
			continue
		}
		for _, item := range items.Values {
			var h struct {
				Command, Matcher string
				Timeout          int
			}
			if yaml.NodeToValue(item, &h) != nil {
				continue
			}
			members := yamlEntries(item)
			if len(members) == 0 {
				continue
			}
			found = append(found, yamlHook{
				Hook:   Hook{Event: event.key, Command: h.Command, Matcher: h.Matcher, Timeout: h.Timeout},
				line:   members[0].line,
				indent: items.Start.Position.Column - 1,
				only:   len(items.Values) == 1,
			})
		}
	}
	return found, top, len(list), nil
}

// yamlHooks lists our hooks.
func yamlHooks(data []byte, own func(string) bool) (hooks []Hook, err error) {
	found, _, _, err := readYAMLHooks(data)
	for _, h := range found {
		if own(h.Command) {
			hooks = append(hooks, h.Hook)
		}
	}
	return hooks, err
}

// removeYAMLHooks takes our hooks out, one after the other, and what became empty.
func removeYAMLHooks(data []byte, own func(string) bool) ([]byte, error) {
	for {
		found, top, events, err := readYAMLHooks(data)
		if err != nil {
			return nil, err
		}
		i := 0
		for i < len(found) && !own(found[i].Command) {
			i++
		}
		if i == len(found) {
			return data, nil
		}
		lines, h := yamlLines(data), found[i]
		from, to, whole := h.line, blockEnd(lines, h.line, h.indent), false
		if h.only {
			for from--; from >= 0 && !strings.HasPrefix(strings.TrimSpace(lines[from]), h.Event); from-- {
			}
			if whole = events == 1; whole {
				from = top.line
			}
		}
		data = []byte(strings.Join(cutLines(lines, from, to, whole), ""))
	}
}

// addYAMLHook puts a hook before the others of its event.
func addYAMLHook(data []byte, h Hook) ([]byte, error) {
	lines := []string{"- command: " + agent.QuoteJSON(h.Command)}
	if h.Matcher != "" {
		lines = append(lines, "  matcher: "+agent.QuoteJSON(h.Matcher))
	}
	if h.Timeout > 0 {
		lines = append(lines, "  timeout: 10")
	}
	return addYAMLLines(data, []string{hermesHooksKey, h.Event}, lines)
}

// member decodes the server of a name, nil for none.
func (s yamlServers) member(data []byte, name string) (any, error) {
	var file map[string]any
	err := yaml.Unmarshal(data, &file)
	all, _ := file[s.key].(map[string]any)
	return all[name], err
}
