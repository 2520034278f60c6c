package agent

import (
	"bytes"
	"strings"
)

// Patching a settings file is cutting and inserting text, so that its owner's
// order, indentation and line ends stay. Every insertion here has exactly one
// removal that undoes it, byte for byte:
//
//   - behind a last item, a comma, white space and the new item are put directly
//     after it; removing the last item takes everything since the one before;
//   - into an empty container, what was between its brackets moves behind the
//     new item. If the container was the owner's (and is not the root, which
//     always stays), one space after the bracket says so: without it, a
//     container that becomes empty again goes too.

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
		return quote(name) + ":" + space + v(l, indent)
	}
}

// insert puts v behind the last item of n.
func insert(data []byte, root, n *node, v value) []byte {
	l := layoutOf(data, root).in(data, n)
	if len(n.items) == 0 {
		mark := ""
		if n != root {
			mark = " "
		}
		before, after := mark, ""
		indent := ""
		if !l.compact {
			closing := l.newline + lineIndent(data, n.start)
			indent = lineIndent(data, n.start) + l.unit
			before, after = mark+l.newline+indent, closing
		}
		return splice(data, n.start+1, n.start+1, before+v(l, indent)+after)
	}
	last := &n.items[len(n.items)-1]
	gap, indent := l.space, lineIndent(data, last.start)
	if at := n.start + 1; len(n.items) > 1 {
		at = n.items[len(n.items)-2].value.end
		if bytes.IndexByte(data[at:last.start], '\n') >= 0 {
			gap = l.newline + indent
		}
	} else if bytes.IndexByte(data[at:last.start], '\n') >= 0 {
		gap = l.newline + indent
	}
	return splice(data, last.value.end, last.value.end, ","+gap+v(l, indent))
}

// remove takes item i out of n.
func remove(data []byte, root, n *node, i int) []byte {
	it := &n.items[i]
	switch {
	case len(n.items) == 1:
		from, to := n.start+1, it.value.end
		if gap := data[from:it.start]; bytes.IndexByte(gap, '\n') >= 0 {
			closing := layoutOf(data, root).newline + lineIndent(data, n.start)
			if bytes.HasPrefix(data[to:n.end-1], []byte(closing)) {
				to += len(closing)
			}
		} else if !owned(data, n) {
			from = it.start
		}
		return splice(data, from, to, "")
	case i == len(n.items)-1:
		return splice(data, n.items[i-1].value.end, it.value.end, "")
	default:
		return splice(data, it.start, n.items[i+1].start, "")
	}
}

// owned reports whether n was there, empty, before we put something into it.
func owned(data []byte, n *node) bool {
	return bytes.HasPrefix(data[n.start+1:n.end], []byte(" "))
}

func splice(data []byte, from, to int, s string) []byte {
	out := make([]byte, 0, len(data)-(to-from)+len(s))
	out = append(out, data[:from]...)
	out = append(out, s...)
	return append(out, data[to:]...)
}
