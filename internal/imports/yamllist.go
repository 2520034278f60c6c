package imports

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// readList reads a YAML list of pairs whose values are texts, as programs write
// it: entries begin with "- " at the margin, keys stand two columns in. It reads
// what a history can hold, texts of many lines with whatever is in them; each text
// is parsed separately. Values that are no text are left out.
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
func scalar(raw []string) (text string, ok bool) {
	if raw[0] == "" || strings.ContainsAny(raw[0][:1], "[{&*!%@`#") {
		return "", false
	}
	if raw[0][0] == '\'' {
		return singleQuoted(raw)
	}
	if !strings.ContainsAny(raw[0][:1], `|>"`) && tooDeep(strings.Join(raw, "\n")) {
		return "", false
	}
	var b strings.Builder
	b.WriteString("key: " + raw[0])
	for _, l := range raw[1:] { // the key stands two columns in
		b.WriteString("\n" + strings.TrimPrefix(l, "  "))
	}
	defer func() {
		if recover() != nil {
			text, ok = "", false
		}
	}()
	file, err := parser.ParseBytes([]byte(strings.TrimRight(b.String(), " \n")+"\n"), 0)
	if err != nil || len(file.Docs) != 1 {
		return "", false
	}
	pair, ok := file.Docs[0].Body.(*ast.MappingNode)
	if !ok || len(pair.Values) != 1 {
		return "", false
	}
	switch v := pair.Values[0].Value.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.LiteralNode:
		return v.Value.Value, true
	case ast.ScalarNode:
		return v.GetToken().Value, true
	}
	return "", false
}

// singleQuoted reads a text in single quotes. The parser is not asked: of a
// doubled quote at the beginning of a line it loses the space behind it
// (goccy/go-yaml v1.19.2), and that is how PyYAML writes texts of many lines.
func singleQuoted(raw []string) (string, bool) {
	var out strings.Builder
	out.WriteString(strings.TrimRight(raw[0][1:], " \t"))
	blank := 0 // a line break is a space, an empty line a line break
	for _, l := range raw[1:] {
		if l = strings.Trim(l, " \t"); l == "" {
			blank++
			continue
		}
		if blank == 0 {
			out.WriteByte(' ')
		}
		out.WriteString(strings.Repeat("\n", blank) + l)
		blank = 0
	}
	// There is no NUL in a file that was decoded.
	text, rest, ok := strings.Cut(strings.ReplaceAll(out.String(), "''", "\x00"), "'")
	rest = strings.TrimSpace(rest)
	return strings.ReplaceAll(text, "\x00", "'"), ok && (rest == "" || rest[0] == '#')
}
