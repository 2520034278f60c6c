package note

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// isRegister reports whether a field is merged as one value. Lists are sets,
// and the stamps and the count of the note follow rules of their own.
func (f *field) isRegister() bool {
	switch f.key {
	case "created_at", "updated_at", "status_reason", "vouched":
		return false
	}
	return f.shape != asList && f.shape != asEvidence && f.shape != asCount && f.shape != asEdits
}

// same reports whether a merge takes a field of a and b for the same.
func (f *field) same(a, b *Note) bool {
	switch {
	case f.key == "status":
		return a.Status == b.Status && a.StatusReason == b.StatusReason
	case f.shape == asCount:
		return a.counted() == b.counted()
	case f.shape == asList:
		return sameSet(f.items(a), f.items(b))
	case f.shape == asEvidence:
		return sameSet(unique(a.Evidence), unique(b.Evidence))
	}
	return f.equal(a, b)
}

// counted returns the proof count that stands in the file alone: where there is
// evidence it follows from that.
func (n *Note) counted() int {
	if len(n.Evidence) > 0 && n.Sessions() > 0 {
		return 0
	}
	return n.ProofCount
}

// lines returns the value of a register as it stands in a file.
func (f *field) lines(n *Note) string {
	b := f.append(nil, n)
	if f.key == "status" {
		b = fields[fieldAt("status_reason", 0)].append(b, n)
	}
	if f.text != nil && f.key != "status" {
		return f.value(n)
	}
	return strings.TrimSuffix(string(b), "\n")
}

// take sets a register of to to the value of from.
func (f *field) take(to, from *Note) {
	switch {
	case f.shape == asNumber:
		to.Provenance.Confidence = from.Provenance.Confidence
	case f.shape == asFlag:
		*f.flag(to) = *f.flag(from)
	default:
		*f.text(to) = *f.text(from)
		if f.key == "status" {
			to.StatusReason = from.StatusReason
		}
	}
}

// lists merges the fields that are sets.
func (m *merger) lists() {
	for i := range fields {
		f := &fields[i]
		if f.shape != asList {
			continue
		}
		var was []string
		if m.base != nil {
			was = f.items(m.base)
		}
		f.setItems(m.out, mergeSets(m.base != nil, was, f.items(m.a), f.items(m.b), strings.Compare))
	}
	m.evidence()
}

// evidence merges the evidence, with the times that any side knows.
func (m *merger) evidence() {
	var was []Evidence
	if m.base != nil {
		was = m.base.Evidence
	}
	times := make(map[Evidence]Stamp)
	for _, e := range slices.Concat(was, m.a.Evidence, m.b.Evidence) {
		at := e.At
		e.At = ""
		if times[e].compare(at) < 0 {
			times[e] = at
		}
	}
	timed := func(all []Evidence) []Evidence {
		all = slices.Clone(all)
		for i := range all {
			all[i].At = ""
			all[i].At = times[all[i]]
		}
		return unique(all)
	}
	m.out.Evidence = mergeSets(m.base != nil, timed(was), timed(m.a.Evidence), timed(m.b.Evidence), compareEvidence)
}

// count counts the evidence. Without any, a count that a side wrote stands.
func (m *merger) count() {
	was := 0
	if m.base != nil {
		was = m.base.counted()
	}
	m.out.ProofCount = pick(m.base != nil, was, m.a.counted(), m.b.counted(), greater)
	if n := m.out.Sessions(); n > 0 {
		m.out.ProofCount = n
	}
}

func compareEvidence(x, y Evidence) int {
	return cmp.Or(strings.Compare(x.Session, y.Session), strings.Compare(x.Chunk, y.Chunk), strings.Compare(x.Quote, y.Quote))
}

// mergeSets returns what both kept of was and what either added: in the order
// of was and then in their own, so that nobody can tell which side came first.
// If one side alone changed anything, its list stays as it is.
func mergeSets[T comparable](has bool, was, a, b []T, order func(x, y T) int) []T {
	switch {
	case slices.Equal(a, b):
		return a
	case has && sameSet(was, a) && sameSet(was, b):
		return was
	case has && sameSet(was, a):
		return b
	case has && sameSet(was, b):
		return a
	}
	inA, inB, old := setOf(a), setOf(b), setOf(was)
	var out []T
	for _, x := range was {
		if inA[x] && inB[x] {
			out = append(out, x)
		}
	}
	from := len(out)
	for _, x := range a {
		if !old[x] {
			out = append(out, x)
		}
	}
	for _, x := range b {
		if !old[x] && !inA[x] {
			out = append(out, x)
		}
	}
	slices.SortFunc(out[from:], order)
	return out
}

func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, x := range list {
		set[x] = true
	}
	return set
}

// sameSet reports whether two lists without repetitions have the same elements.
func sameSet[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	return slices.Equal(a, b) || maps.Equal(setOf(a), setOf(b))
}

// unique returns list without repetitions.
func unique[T comparable](list []T) []T {
	if len(list) < 2 {
		return list
	}
	seen := make(map[T]bool, len(list))
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool {
		was := seen[x]
		seen[x] = true
		return was
	})
}

// extras merges the unknown keys, each a register. Those of base keep their
// order, and new ones follow in the order of their names.
func (m *merger) extras() {
	m.out.Extra, m.other.Extra = nil, nil
	var keys []string
	if m.base != nil {
		for _, x := range m.base.Extra {
			keys = append(keys, x.Key)
		}
	}
	from := len(keys)
	for _, n := range []*Note{m.a, m.b} {
		for _, x := range n.Extra {
			if !slices.Contains(keys, x.Key) {
				keys = append(keys, x.Key)
			}
		}
	}
	slices.Sort(keys[from:])
	for _, key := range keys {
		lines := func(n *Note) string { return n.extra(key) }
		m.register(key, func(a, b *Note) bool { return lines(a) == lines(b) }, lines, func(to, from *Note) {
			if raw := lines(from); raw != "" {
				to.Extra = append(to.Extra, Field{key, raw})
			}
		})
	}
}
