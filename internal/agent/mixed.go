package agent

import (
	"slices"
	"strings"
)

// A clientMarks says by which marks a client puts its own texts into a user's record.
//
// What stands between such marks is foreign and may hold the same marks. So an element goes to its
// last closing tag in the part, and one without a closing tag to the part's end. What a
// forged tag seems to set free stays in the text, and counts as attached.
type clientMarks struct {
	drop  []string // elements that are left out of the text
	keep  []string // elements that stay in it
	whole []string // beginnings of a part that is the client's as a whole
	from  []string // beginnings of a line from which on a part is the client's
	paste string   // element with an id around what the user pasted, "" for none; what is typed is escaped

	// until holds, for a line in from, the beginning of the last line that belongs to it; without
	// one in the text it goes to the end.
	until string
}

// A mixed is the text of a user's record while it is put together of parts.
type mixed struct {
	text  strings.Builder
	spans []Span
}

// add appends a text on a separate line: trimmed, and without what we injected.
func (m *mixed) add(s string, by Author) { m.join("\n", s, by) }

func (m *mixed) join(between, s string, by Author) {
	if s = strings.TrimSpace(StripInjected(s)); s == "" {
		return
	}
	if m.text.Len() > 0 {
		m.text.WriteString(between)
	}
	from := m.text.Len()
	m.text.WriteString(s)
	if n := len(m.spans); n > 0 && m.spans[n-1].By == by {
		m.spans[n-1].To = m.text.Len()
		return
	}
	m.spans = append(m.spans, Span{from, m.text.Len(), by})
}

// part appends one part of a record, divided by the marks of its client. Other elements that begin
// a line are offered to take, if there is one: it is given the text from there on and whether
// the record has words before it, and returns how much of it it took out.
func (m *mixed) part(c *clientMarks, s string, take func(name, s string, after bool) int) {
	s = strings.TrimSpace(stripEnded(s))
	if slices.ContainsFunc(c.whole, func(begin string) bool { return strings.HasPrefix(s, begin) }) {
		m.add(s, Attached)
		return
	}
	done, between := 0, "\n"
	add := func(s string, by Author) {
		before := m.text.Len()
		if m.join(between, s, by); m.text.Len() > before {
			between = "\n\n"
		}
	}
	for at := 0; at < len(s); at++ { // at the start of a line, or behind an element
		if s[at] == ' ' || s[at] == '\t' {
			continue
		}
		if text, size := c.pasted(s[at:]); size > 0 {
			add(s[done:at], Typed)
			add(text, Pasted)
			at += size - 1
			done = at + 1
			continue
		}
		text, size := c.attached(s[at:])
		if name := tagName(s[at:]); size == 0 && name != "" && take != nil {
			size = take(name, s[at:], strings.TrimSpace(s[done:at]) != "" || m.text.Len() > 0)
		}
		if size > 0 {
			add(s[done:at], Typed)
			add(text, Attached)
			at += size - 1
			done = at + 1
			continue
		}
		i := strings.IndexByte(s[at:], '\n')
		if next := c.nextPaste(s[at:]); next > 0 && (i < 0 || next < i) {
			i = next - 1
		}
		if i < 0 {
			break
		}
		at += i
	}
	add(s[done:], Typed)
}

// nextPaste finds where an element around a paste begins behind the first byte; -1 for nowhere.
func (c *clientMarks) nextPaste(s string) int {
	if c.paste == "" {
		return -1
	}
	i := strings.Index(s[1:], "<"+c.paste+` id="`)
	if i < 0 {
		return -1
	}
	return i + 1
}

// pasted finds what the user pasted at the beginning of s: how long it is with its tags, 0 for nothing,
// and the text between them. Without a closing tag it goes to the end.
func (c *clientMarks) pasted(s string) (text string, size int) {
	open := "<" + c.paste + ` id="`
	if c.paste == "" || !strings.HasPrefix(s, open) {
		return "", 0
	}
	id, rest, ok := strings.Cut(s[len(open):], `">`)
	if !ok || !ValidID(id) {
		return "", 0
	}
	closing := "</" + c.paste + ` id="` + id + `">`
	last := strings.LastIndex(rest, closing)
	if last < 0 {
		return rest, len(s)
	}
	return rest[:last], len(s) - len(rest) + last + len(closing)
}

// stripEnded cuts our own blocks out of a part, unless one never ends: that would take the user's
// words behind it along, and is cut out of each stretch alone.
func stripEnded(s string) string {
	if begins, ends, lastBegin, lastEnd := markCount(s); begins > ends || lastBegin > lastEnd {
		return s
	}
	return StripInjected(s)
}

// attached finds what a client put at the beginning of s: how long it is, 0 for nothing, and
// what stays of it in the text.
func (c *clientMarks) attached(s string) (text string, size int) {
	for _, begin := range c.from {
		if !strings.HasPrefix(s, begin) {
			continue
		}
		if c.until == "" {
			return s, len(s)
		}
		last := strings.LastIndex(s, "\n"+c.until)
		if last < 0 {
			return s, len(s)
		}
		size = last + 1 + len(c.until)
		return s[:size], size
	}
	name := tagName(s)
	if name == "" {
		return "", 0
	}
	closing := "</" + name + ">"
	kept := slices.Contains(c.keep, name)
	if kept || slices.Contains(c.drop, name) {
		last := strings.LastIndex(s, closing)
		switch {
		case last < 0 && !kept && strings.HasPrefix(name, "system"): // cut off
			return "", len(s)
		case last < 0: // cut off, or written about
			return s, len(s)
		}
		size = last + len(closing)
		if kept {
			return s[:size], size
		}
		return left(s[:size], name), size
	}
	return "", 0
}

// left returns what is left of a text when each element with a name ends at its next
// closing tag: words of the user between two of them, or what a forged tag set free.
func left(s, name string) string {
	closing := "</" + name + ">"
	var out strings.Builder
	for tagName(s) == name {
		_, rest, ok := strings.Cut(s, closing)
		if !ok {
			break
		}
		i := strings.Index(rest, "<"+name)
		if i < 0 {
			i = len(rest)
		}
		out.WriteString(rest[:i])
		s = rest[i:]
	}
	return strings.TrimSpace(strings.ReplaceAll(out.String(), closing, ""))
}

// tagName returns the name of the element that begins with s; "" for none.
func tagName(s string) string {
	if len(s) < 3 || s[0] != '<' {
		return ""
	}
	end := strings.IndexAny(s[:min(len(s), 40)], "> \n")
	if end < 2 || !isWord(s[1:end]) {
		return ""
	}
	return s[1:end]
}

// into sets the text of a turn, and its spans where not all of it was typed.
func (m *mixed) into(t *Turn) {
	t.Text, t.Spans = m.text.String(), nil
	if slices.ContainsFunc(m.spans, func(s Span) bool { return s.By != Typed }) {
		t.Spans = m.spans
	}
}

// shorten cuts spans to a text that was cut.
func shorten(spans []Span, size int) []Span {
	for i := range spans {
		if spans[i].To >= size {
			spans[i].To = size
			if spans[i].From >= size {
				return spans[:i:i]
			}
			return spans[: i+1 : i+1]
		}
	}
	return spans
}
