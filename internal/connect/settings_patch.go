package connect

import (
	"bytes"
	"slices"
	"strings"

	"anamnesis/internal/agent"
)

// Patching a settings file is cutting and inserting text, so that its owner's
// order, indentation, line ends and comments stay. Every insertion here has
// exactly one removal that undoes it, byte for byte:
//
//   - behind a last item, a comma, white space and the new item are put directly
//     after it, or where the comments behind it end; removing the last item takes
//     everything since the one before, or since those comments;
//   - into an empty container, what was between its brackets moves behind the
//     new item. If the container was the owner's (and is not the root, which
//     always stays), one space after the bracket says so: without it, a
//     container that becomes empty again goes too. Comments in it say so as well,
//     and the new item then stands behind them.

// A layout is how a file is written.
type layout struct {
	newline string // "\n" or "\r\n"
	unit    string // one step of indentation
	compact bool   // on one line
	space   string // after colons and commas of a compact text
}

// layoutOf finds out how data is written; what it does not tell is as in a fresh file.
func layoutOf(data []byte, root *node) layout {
	l := layout{newline: "\n", unit: "  ", space: " "}
	if bytes.Contains(data, []byte("\r\n")) {
		l.newline = "\r\n"
	}
	if len(root.items) == 0 {
		return l
	}
	first := root.items[0]
	if gap := data[root.start+1 : first.start]; bytes.IndexByte(gap, '\n') >= 0 {
		if unit := lineIndent(data, first.start); unit != "" {
			l.unit = unit
		}
	} else if !bytes.Contains(data[root.start:root.end], []byte("\n")) {
		l.compact = true
	}
	if data[first.value.start-1] == ':' {
		l.space = ""
	}
	return l
}

// in is l as it holds inside of n: a list on one line of a longer file stays on that line.
func (l layout) in(data []byte, n *node) layout {
	if len(n.items) > 0 && bytes.IndexByte(data[n.start:n.end], '\n') < 0 {
		l.compact = true
	}
	return l
}

// A value is JSON that can be written at any indentation.
type value func(l layout, indent string) string

func object(members ...value) value { return container("{", "}", members) }
func list(elements ...value) value  { return container("[", "]", elements) }

func container(open, closing string, items []value) value {
	return func(l layout, indent string) string {
		texts := make([]string, len(items))
		for i, it := range items {
			texts[i] = it(l, indent+l.unit)
		}
		if l.compact {
			return open + strings.Join(texts, ","+l.space) + closing
		}
		sep := l.newline + indent + l.unit
		return open + sep + strings.Join(texts, ","+sep) + l.newline + indent + closing
	}
}

// text is a value that is written the same everywhere.
func text(s string) value { return func(layout, string) string { return s } }

func named(name string, v value) value {
	return func(l layout, indent string) string {
		space := l.space
		if !l.compact {
			space = " "
		}
		return agent.QuoteJSON(name) + ":" + space + v(l, indent)
	}
}

// insert puts v behind the last item of n.
func insert(data []byte, root, n *node, v value) []byte {
	l := layoutOf(data, root).in(data, n)
	if len(n.items) == 0 {
		return insertFirst(data, root, n, l, v)
	}
	last := &n.items[len(n.items)-1]
	gap, indent := l.space, lineIndent(data, last.start)
	at := n.start + 1
	if len(n.items) > 1 {
		at = n.items[len(n.items)-2].value.end
	}
	if bytes.IndexByte(data[at:last.start], '\n') >= 0 {
		gap = l.newline + indent
	}
	end := last.value.end
	if !commented(data[end : n.end-1]) {
		return splice(data, end, end, ","+gap+v(l, indent))
	}
	behind := end + len(bytes.TrimRight(data[end:n.end-1], space))
	if bytes.IndexByte(data[end:n.end-1], '\n') >= 0 {
		gap = l.newline + indent
	}
	if commaBehind(data, end) >= 0 {
		return splice(data, behind, behind, gap+v(l, indent)+",")
	}
	return splice(splice(data, behind, behind, gap+v(l, indent)), end, end, ",")
}

// insertFirst puts v into an empty container.
func insertFirst(data []byte, root, n *node, l layout, v value) []byte {
	mark, at := "", n.start+1
	if inner := data[n.start+1 : n.end-1]; commented(inner) {
		l.compact = l.compact && bytes.IndexByte(inner, '\n') < 0
		at += len(bytes.TrimRight(inner, space))
	} else if n != root {
		mark = " "
	}
	if l.compact {
		return splice(data, at, at, mark+v(l, ""))
	}
	indent := lineIndent(data, n.start) + l.unit
	text := mark + l.newline + indent + v(l, indent)
	if at == n.start+1 {
		text += l.newline + lineIndent(data, n.start)
	}
	return splice(data, at, at, text)
}

// remove takes item i out of n.
func remove(data []byte, root, n *node, i int) []byte {
	it := &n.items[i]
	begin, end := n.start+1, it.value.end
	if i > 0 {
		begin = n.items[i-1].value.end
	}
	before := data[begin:it.start]
	comma := commaBehind(data, end)
	switch {
	case i < len(n.items)-1:
		if commented(data[end:comma]) {
			data = splice(data, comma, comma+1, "")
			return splice(data, it.start, end, "")
		}
		rest := data[comma+1 : n.items[i+1].start]
		return splice(data, it.start, comma+1+len(rest)-len(bytes.TrimLeft(rest, space)), "")
	case commented(before):
		from := begin + len(bytes.TrimRight(before, space))
		switch own := commaBehind(data, begin); {
		case comma >= 0:
			data = splice(data, comma, comma+1, "")
		case i > 0:
			return splice(splice(data, from, end, ""), own, own+1, "")
		}
		return splice(data, from, end, "")
	case i > 0:
		return splice(data, begin, end, "")
	}
	last := n.end - 1
	if comma >= 0 {
		data, last = splice(data, comma, comma+1, ""), last-1
	}
	if bytes.IndexByte(before, '\n') >= 0 {
		closing := layoutOf(data, root).newline + lineIndent(data, n.start)
		if bytes.HasPrefix(data[end:last], []byte(closing)) {
			end += len(closing)
		}
	} else if !owned(data, n) {
		begin = it.start
	}
	return splice(data, begin, end, "")
}

// owned reports whether n, which has one item, was there before we put something into it.
func owned(data []byte, n *node) bool {
	it := &n.items[0]
	return bytes.HasPrefix(data[n.start+1:n.end], []byte(" ")) ||
		commented(data[n.start+1:it.start]) || commented(data[it.value.end:n.end-1])
}

// space is the white space of JSON.
const space = " \t\r\n"

// commented reports whether what stands between two items holds a comment.
func commented(between []byte) bool { return bytes.IndexByte(between, '/') >= 0 }

// commaBehind returns where the comma is that follows a value which ends at pos,
// -1 if there is none.
func commaBehind(data []byte, pos int) int {
	for pos < len(data) {
		switch data[pos] {
		case ' ', '\t', '\r', '\n':
			pos++
		case '/':
			end := "*/"
			if data[pos+1] == '/' {
				end = "\n"
			}
			pos += 2 + bytes.Index(data[pos+2:], []byte(end)) + len(end) // the text was parsed
		case ',':
			return pos
		default:
			return -1
		}
	}
	return -1
}

func splice(data []byte, from, to int, s string) []byte {
	out := make([]byte, 0, len(data)-(to-from)+len(s))
	out = append(out, data[:from]...)
	out = append(out, s...)
	return append(out, data[to:]...)
}

// addItem appends v to the list or the object that path leads to. What it stands in is
// made if that is missing: objects, and around v what wrap makes.
func addItem(data []byte, path []string, v value, wrap func(...value) value) ([]byte, error) {
	root, err := parseSettings(data)
	if err != nil {
		return nil, err
	}
	at := root
	for i, key := range path {
		next, _ := at.member(key)
		if next != nil {
			at = next
			continue
		}
		inner := wrap(v)
		for _, key := range slices.Backward(path[i+1:]) {
			inner = object(named(key, inner))
		}
		return insert(data, root, at, named(key, inner)), nil
	}
	return insert(data, root, at, v), nil
}

// removeItem takes item i out of the list or the object that path leads to, and what became empty because of it.
func removeItem(data []byte, path []string, i int) ([]byte, error) {
	root, err := parseSettings(data)
	if err != nil {
		return nil, err
	}
	in := []*node{root}
	for _, key := range path {
		next, _ := in[len(in)-1].member(key)
		in = append(in, next)
	}
	for len(path) > 0 && len(in[len(path)].items) == 1 && !owned(data, in[len(path)]) {
		_, i = in[len(path)-1].member(path[len(path)-1])
		path = path[:len(path)-1]
	}
	return remove(data, root, in[len(path)], i), nil
}
