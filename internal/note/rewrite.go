package note

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rewrite returns old, the present bytes of the file of n, with the lines of
// those keys replaced that n has changed, and the body if that changed. Every
// other byte stays: order, quotes, comments, line ends, unknown keys. A key
// that appears gets its canonical place. Only a front matter that is not lines
// of keys is rewritten, in the canonical form.
//
// Rewrite does not touch updated_at; that is the caller's, as is Validate. It
// fails when old is no note, and then names what is wrong with it.
func (n *Note) Rewrite(old []byte) ([]byte, error) {
	was, l, err := parse(old)
	if err != nil {
		return nil, fmt.Errorf("rewrite %s: %w", n.ID, err)
	}
	if Equal(was, n) {
		return bytes.Clone(old), nil
	}
	if l.patchable {
		out := l.patch(was, n)
		if got, err := Parse(out); err == nil && Equal(got, n) {
			return out, nil
		}
	}
	out := n.Format()
	got, err := Parse(out)
	if err != nil {
		return nil, fmt.Errorf("rewrite %s: %w", n.ID, err)
	}
	// The library prints the lines of an unknown key in its own way, once.
	if slices.EqualFunc(got.Extra, n.Extra, func(a, b Field) bool { return a.Key == b.Key }) {
		got.Extra = n.Extra
	}
	if !Equal(got, n) {
		return nil, fmt.Errorf("rewrite %s: %w", n.ID, errors.New("an unknown key cannot be kept; put it on its own lines"))
	}
	return out, nil
}

// An edit replaces the lines from and up to, but not including, to.
type edit struct {
	from, to int
	text     string
	rank     int // order of edits at one line
}

const (
	rankItems  = iota // more items for the list above
	rankNew           // keys that were not there
	rankChange        // other lines for a key that was there
)

// patch returns the file with the changes that lead from was to n. The caller
// checks the result.
func (l *layout) patch(was, n *Note) []byte {
	var edits []edit
	end, start := 0, 0 // behind the last key, and in front of the first
	if len(l.entries) > 0 {
		start = l.entries[0].from
	}
	for i := range l.entries {
		end = max(end, l.entries[i].to)
	}

	place := start
	for i := range fields {
		f := &fields[i]
		e := l.entry(f.key)
		if e != nil {
			place = e.to
		}
		switch {
		case f.equal(was, n):
		case e != nil:
			edits = append(edits, l.change(f, e, was, n))
		default:
			edits = append(edits, edit{place, place, string(f.append(nil, n)), rankNew})
		}
	}

	place = end
	for _, x := range n.Extra {
		if e := l.entry(x.Key); e == nil {
			edits = append(edits, edit{place, place, x.Raw, rankNew})
		} else {
			place = e.to
			if e.raw != x.Raw {
				edits = append(edits, edit{e.from, e.to, x.Raw, rankChange})
			}
		}
	}
	for _, x := range was.Extra {
		if e := l.entry(x.Key); !slices.ContainsFunc(n.Extra, func(y Field) bool { return y.Key == x.Key }) {
			edits = append(edits, edit{e.from, e.to, "", rankChange})
		}
	}
	return l.apply(edits, was, n)
}

// entry returns the entry of a key, or nil.
func (l *layout) entry(key string) *entry {
	for i := range l.entries {
		if l.entries[i].key == key {
			return &l.entries[i]
		}
	}
	return nil
}

// change returns the edit for a key that has lines already. A list that only
// grew keeps its lines, and its indentation.
func (l *layout) change(f *field, e *entry, was, n *Note) edit {
	if f.shape == asList {
		before, after := f.items(was), f.items(n)
		if len(before) > 0 && len(after) > len(before) && slices.Equal(before, after[:len(before)]) {
			if indent, ok := itemIndent(lines(e.raw)); ok {
				var b []byte
				for _, item := range after[len(before):] {
					b = append(b, indent+"- "...)
					b = append(appendText(b, item), '\n')
				}
				return edit{e.to, e.to, string(b), rankItems}
			}
		}
	}
	return edit{e.from, e.to, string(f.append(nil, n)), rankChange}
}

// itemIndent returns what stands before the dashes of a list, if each item has one line.
func itemIndent(all []string) (indent string, ok bool) {
	for i, line := range all[1:] {
		trimmed := strings.TrimLeft(line, " ")
		if trimmed == "\n" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		if !strings.HasPrefix(trimmed, "- ") || i > 0 && line[:len(line)-len(trimmed)] != indent {
			return "", false
		}
		indent = line[:len(line)-len(trimmed)]
	}
	return indent, len(all) > 1
}

func (l *layout) apply(edits []edit, was, n *Note) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(a.from-b.from, a.rank-b.rank)
	})
	all := lines(l.front)
	newline := "\n"
	if l.crlf() {
		newline = "\r\n"
	}
	b := make([]byte, 0, len(l.open)+len(l.front)+len(l.close)+len(l.body)+len(n.Body)+256)
	b = append(b, l.open...)
	at := 0
	for _, e := range edits {
		for ; at < e.from; at++ {
			b = append(b, all[at]...)
		}
		for _, line := range lines(e.text) {
			b = append(b, strings.TrimSuffix(line, "\n")+newline...)
		}
		at = max(at, e.to)
	}
	for ; at < len(all); at++ {
		b = append(b, all[at]...)
	}
	b = append(b, l.close...)
	if was.Body == n.Body {
		return append(b, l.body...)
	}
	if !strings.HasSuffix(l.close, "\n") {
		b = append(b, newline...)
	}
	b = append(b, strings.ReplaceAll(n.Body, "\n", newline)...)
	return append(b, newline...)
}
