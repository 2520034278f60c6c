package capture

import (
	"slices"
	"strings"

	"anamnesis/internal/anchor"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store/project"
)

// Stamp takes stamps of the code that a new note names, in the clone that holds dir. There
// are none without a clone, and none of a name that holds a secret. Names are also looked up in the
// files that the session edited, which are not stamped themselves: a note is not about them.
func Stamp(n *note.Note, dir string, r *redact.Redactor, edited ...string) {
	if dir == "" || n.Project == note.Global {
		return
	}
	top := project.Top(dir)
	if top == "" {
		return
	}
	clone, err := anchor.Open(top, 0)
	if err != nil {
		return
	}
	defer clone.Close()
	subject := SubjectOf(n)
	subject.Anchors = append(subject.Anchors, edited...)
	for _, s := range clone.Stamps(subject) {
		whole := !strings.Contains(s.About(), "#")
		if whole && slices.ContainsFunc(edited, func(file string) bool { return strings.HasSuffix(file, s.About()) }) &&
			!strings.Contains(n.Title+"\n"+n.Fix, s.About()) {
			continue
		}
		if r.Redact(s.About()).String() == s.About() {
			n.AnchorHashes = append(n.AnchorHashes, s.String())
		}
	}
}

// SubjectOf is what of a note names code. Where a learning was learnt is not: a file that
// was merely edited then says nothing of it.
func SubjectOf(n *note.Note) anchor.Subject {
	text := n.Title + "\n" + n.Rule + "\n" + n.Fix
	return anchor.Subject{Text: text, Anchors: append([]string{}, n.Anchors...)}
}
