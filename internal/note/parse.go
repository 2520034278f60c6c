package note

import (
	"errors"
	"fmt"
	"strings"
)

// Parse reads a note from the bytes of its file. Keys that are missing have
// the default of docs/format.md; id, type and title must be there. The error is
// ErrNoFrontMatter, ErrUnterminated or a FieldError.
//
// The scope is what the file says: a reader that knows the tree in which the
// file stands overrides it.
func Parse(data []byte) (*Note, error) {
	n, _, err := parse(data)
	return n, err
}

// A layout is where the pieces of a file stand.
type layout struct {
	document
	entries   []entry
	patchable bool // the lines of the entries are known
}

func parse(data []byte) (*Note, *layout, error) {
	doc, err := cut(data)
	if err != nil {
		return nil, nil, err
	}
	l := &layout{document: doc, patchable: true}
	front := doc.front
	if strings.IndexByte(front, '\r') >= 0 {
		front = strings.ReplaceAll(front, "\r\n", "\n")
	}
	if len(front) > maxFront {
		return nil, nil, check(front)
	}
	var ok bool
	if l.entries, ok = readCanonical(front); !ok || len(l.entries) > maxKeys {
		if l.entries, l.patchable, err = readYAML(front); err != nil {
			return nil, nil, err
		}
	}
	n, err := assemble(l.entries)
	if err != nil {
		return nil, nil, err
	}
	n.Body = doc.text()
	return n, l, nil
}

// assemble makes a note of the entries of a front matter.
func assemble(entries []entry) (*Note, error) {
	n := &Note{
		Project: Global, MachineID: "unknown", Scope: Portable, UserID: "self", WorkspaceID: "personal",
		Provenance: Provenance{Source: Human, Confidence: 1},
	}
	var seen [len(fields)]bool
	var others map[string]bool
	hint := 0
	for _, e := range entries {
		at := fieldAt(e.key, hint)
		twice := false
		if at >= 0 {
			twice, seen[at], hint = seen[at], true, at+1
		} else {
			if others == nil {
				others = make(map[string]bool)
			}
			twice, others[e.key] = others[e.key], true
		}
		if twice {
			return nil, &FieldError{Key: e.key, Line: e.from + 2, Err: errors.New("stands here a second time; keep one of the two")}
		}
		if at < 0 {
			n.Extra = append(n.Extra, Field{e.key, e.raw})
			continue
		}
		if err := fields[at].set(n, e.val); err != nil {
			return nil, &FieldError{Key: e.key, Line: e.from + 2, Err: err}
		}
	}
	for i := range fields {
		if fields[i].shape == asRequired && !seen[i] {
			return nil, &FieldError{Key: fields[i].key, Line: 1, Err: fmt.Errorf("is missing; add a line %q", fields[i].key+": …")}
		}
	}
	return n, nil
}
