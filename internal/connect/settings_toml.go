package connect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"anamnesis/internal/agent"
)

// setTable returns a TOML file in which text stands for the table of a path and the
// tables in it; "" takes them out. What else stands in the file stays as it is: text is
// put at the end, behind a line end, and taken out with that line end.
func setTable(old []byte, path []string, text string) ([]byte, error) {
	spans, err := tables(old, path)
	if err != nil {
		return nil, err
	}
	data := old
	at := -1
	for _, s := range slices.Backward(spans) {
		at = s[0]
		data = splice(data, s[0], s[1], "")
	}
	newline := "\n"
	if bytes.Contains(old, []byte("\r\n")) {
		newline = "\r\n"
		text = strings.ReplaceAll(text, "\n", newline)
	}
	switch {
	case text == "" && at < 0:
		return old, nil
	case text == "": // the line end that was put before it goes, too
		if before := data[:at]; bytes.HasSuffix(before, []byte(newline)) {
			data = splice(data, at-len(newline), at, "")
		}
		return data, checkTOML(data)
	case at >= 0:
		data = splice(data, at, at, text)
		return data, checkTOML(data)
	case len(data) == 0:
		return []byte(text), nil
	}
	out := append(bytes.Clone(data), newline+text...) // a blank line before it, where the last line has its end
	return out, checkTOML(out)
}

// readTOML reads a file into v.
func readTOML(data []byte, v any) error {
	if err := toml.Unmarshal(data, v); err != nil {
		return tomlError(err)
	}
	return nil
}

// checkTOML reports what is wrong with a file.
func checkTOML(data []byte) error {
	var all map[string]any
	return readTOML(data, &all)
}

// tomlError says where a file is wrong.
func tomlError(err error) error {
	var wrong *toml.DecodeError
	if !errors.As(err, &wrong) {
		return &SettingsError{Line: 1, Column: 1, Problem: "not valid TOML", Next: fixSettings}
	}
	line, column := wrong.Position()
	return &SettingsError{
		Line: line, Column: column, Next: fixSettings,
		Problem: "not valid TOML: " + strings.TrimPrefix(wrong.Error(), "toml: "),
	}
}

// tables finds where a table and the tables in it stand: from the line of a header to
// the end of its last value. Comments behind that belong to what follows.
func tables(data []byte, path []string) (spans [][2]int, err error) {
	if err := checkTOML(data); err != nil {
		return nil, err
	}
	var p unstable.Parser
	p.Reset(data)
	open := false
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			keys, from, end := keysOf(&p, e)
			if open = len(keys) >= len(path) && slices.Equal(keys[:len(path)], path); open {
				spans = append(spans, [2]int{lineStart(data, from), lineEnd(data, end)})
			}
		case unstable.KeyValue:
			if open {
				spans[len(spans)-1][1] = lineEnd(data, valueEnd(&p, data, e))
			} else if keys, from, _ := keysOf(&p, e); len(keys) >= len(path) && slices.Equal(keys[:len(path)], path) {
				return nil, settingsError(data, from, strings.Join(path, ".")+" stands outside of a table",
					"make it a table or remove it, and run the command again")
			}
		}
	}
	if err := p.Error(); err != nil {
		return nil, fmt.Errorf("read TOML: %w", err) // unreachable: it was read as a whole
	}
	// What stands between two tables of ours, a blank line, goes with them.
	for i := len(spans) - 2; i >= 0; i-- {
		if len(bytes.TrimSpace(data[spans[i][1]:spans[i+1][0]])) == 0 {
			spans[i][1] = spans[i+1][1]
			spans = slices.Delete(spans, i+1, i+2)
		}
	}
	return spans, nil
}

// keysOf returns the dotted key of an expression, and where its first and last part stand.
func keysOf(p *unstable.Parser, e *unstable.Node) (keys []string, from, end int) {
	from = -1
	for it := e.Key(); it.Next(); {
		n := it.Node()
		keys = append(keys, string(n.Data))
		if from < 0 {
			from = int(n.Raw.Offset)
		}
		end = int(n.Raw.Offset + n.Raw.Length)
	}
	_ = p
	return keys, from, end
}

// valueEnd returns where a value ends: the longest reach of what stands in it.
func valueEnd(p *unstable.Parser, data []byte, e *unstable.Node) int {
	_, _, end := keysOf(p, e)
	var reach func(n *unstable.Node)
	reach = func(n *unstable.Node) {
		if n.Raw.Length > 0 {
			end = max(end, int(n.Raw.Offset+n.Raw.Length))
		}
		for it := n.Children(); it.Next(); {
			reach(it.Node())
		}
	}
	reach(e.Value())
	// A list or a table on several lines ends with its own bracket.
	if k := e.Value().Kind; k == unstable.Array || k == unstable.InlineTable {
		if i := bytes.IndexAny(data[end:], "]}"); i >= 0 {
			end += i + 1
		}
	}
	return end
}

func lineStart(data []byte, pos int) int { return bytes.LastIndexByte(data[:pos], '\n') + 1 }

func lineEnd(data []byte, pos int) int {
	if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(data)
}

// tomlString writes a string as TOML reads it.
func tomlString(s string) string {
	if !strings.ContainsAny(s, "'\n\r\t\x00") && !strings.ContainsFunc(s, unicode.IsControl) && strings.Contains(s, `\`) {
		return "'" + s + "'"
	}
	return agent.QuoteJSON(s) // the escapes of JSON are those of TOML
}
