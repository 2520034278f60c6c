package note

import (
	"slices"
	"strings"
)

// Clone returns a copy of n that shares nothing with it.
func (n *Note) Clone() *Note {
	c := *n
	for i := range fields {
		switch f := &fields[i]; {
		case f.list != nil:
			*f.list(&c) = slices.Clone(*f.list(n))
		case f.ids != nil:
			*f.ids(&c) = slices.Clone(*f.ids(n))
		}
	}
	c.Evidence = slices.Clone(n.Evidence)
	c.Edits = slices.Clone(n.Edits)
	c.Extra = slices.Clone(n.Extra)
	return &c
}

// Equal reports whether a and b say the same. A nil list is an empty list, a
// text that is not set is its default, and repeated elements count once.
func Equal(a, b *Note) bool {
	for i := range fields {
		if !fields[i].equal(a, b) {
			return false
		}
	}
	return a.Body == b.Body && slices.EqualFunc(a.Extra, b.Extra, func(x, y Field) bool {
		return x.Key == y.Key && strings.TrimSuffix(x.Raw, "\n") == strings.TrimSuffix(y.Raw, "\n")
	})
}

func (f *field) equal(a, b *Note) bool {
	switch f.shape {
	case asList:
		return slices.Equal(f.items(a), f.items(b))
	case asNumber:
		return a.Provenance.Confidence == b.Provenance.Confidence
	case asFlag:
		return *f.flag(a) == *f.flag(b)
	case asCount:
		return a.ProofCount == b.ProofCount
	case asEvidence:
		return slices.Equal(a.Evidence, b.Evidence)
	case asEdits:
		return slices.Equal(a.Edits, b.Edits)
	}
	return f.value(a) == f.value(b)
}

// HasTag reports whether n has the tag t.
func (n *Note) HasTag(t string) bool { return slices.Contains(n.Tags, t) }

// AddTags adds the tags that n does not have yet, and reports whether there were any.
func (n *Note) AddTags(tags ...string) bool {
	before := len(n.Tags)
	for _, t := range tags {
		n.Tags = appendNew(n.Tags, t)
	}
	return len(n.Tags) > before
}

// UnionEvidence adds to evidence what it does not hold yet.
func UnionEvidence(all, more []Evidence) []Evidence {
	for _, e := range more {
		i := slices.IndexFunc(all, e.is)
		switch {
		case i < 0:
			all = append(all, e)
		case all[i].At == "" && e.At != "":
			all = slices.Clone(all)
			all[i].At = e.At
		}
	}
	return all
}

// is reports whether two pieces of evidence are equal apart from their times, which older versions did not write.
func (e Evidence) is(other Evidence) bool {
	e.At, other.At = "", ""
	return e == other
}
