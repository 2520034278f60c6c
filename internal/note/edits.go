package note

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Edit says when a field was last changed, where that is not the time at
// which the note was: a merge takes a field from the side that was changed
// earlier, and a later merge must not take it for a younger change than it is.
type Edit struct {
	Key string // a key of the front matter, or BodyKey
	At  Stamp
}

// BodyKey stands for the body where fields are named.
const BodyKey = "body"

const editKey = "edit_times"

// editedAt returns when a field of n was last changed, as far as n knows.
func (n *Note) editedAt(key string) Stamp {
	return cmp.Or(n.editEntry(key), n.UpdatedAt)
}

// editEntry returns what n.Edits says about a field, empty when it says nothing.
func (n *Note) editEntry(key string) Stamp {
	for _, e := range n.Edits {
		if e.Key == key {
			return e.At
		}
	}
	return ""
}

// InheritEdits sets the edit times of n, an ordinary change of was: those of
// was, without the fields that n changes. They were changed when n was.
func (n *Note) InheritEdits(was *Note) {
	n.Edits = nil
	for _, e := range was.Edits {
		if !changed(was, n, e.Key) {
			n.Edits = append(n.Edits, e)
		}
	}
}

// changed reports whether a field of was and n differs.
func changed(was, n *Note, key string) bool {
	if key == BodyKey {
		return was.Body != n.Body
	}
	if i := fieldAt(key, 0); i >= 0 {
		return !fields[i].same(was, n)
	}
	return was.extra(key) != n.extra(key)
}

// extra returns the lines of an unknown key, empty when it is not there.
func (n *Note) extra(key string) string {
	for _, x := range n.Extra {
		if x.Key == key {
			return strings.TrimSuffix(x.Raw, "\n") + "\n"
		}
	}
	return ""
}

// setRows reads the mappings of a field that is a list of them.
func (f *field) setRows(n *Note, v value) error {
	keys := "session, chunk, quote and at"
	if f.shape == asEdits {
		keys = "field and at"
	}
	if v.form == formScalar && v.one.String() == "" || v.form == formList && len(v.list) == 0 {
		return nil
	}
	if v.form != formPairs {
		return fmt.Errorf("must be a list of mappings with %s", keys)
	}
	for _, pairs := range v.pairs {
		get := make(map[string]string, len(pairs))
		for _, p := range pairs {
			get[p.key] = p.text.String()
		}
		if f.shape == asEvidence {
			n.Evidence = append(n.Evidence, Evidence{get["session"], get["chunk"], get["quote"], Stamp(get["at"])})
		} else if e := (Edit{get["field"], Stamp(get["at"])}); e.Key != "" && e.At != "" && n.editEntry(e.Key) == "" {
			n.Edits = append(n.Edits, e)
		}
	}
	return nil
}

// compare orders stamps by the moment they stand for; what is no time comes
// first. Two forms of one moment are ordered by their text, so that only equal
// stamps are equal.
func (s Stamp) compare(other Stamp) int {
	if s == other {
		return 0
	}
	t, ok := s.Time()
	u, known := other.Time()
	switch {
	case ok && known:
		return cmp.Or(t.Compare(u), strings.Compare(string(s), string(other)))
	case ok:
		return 1
	case known:
		return -1
	}
	return strings.Compare(string(s), string(other))
}

// Later returns the later of two stamps; what is no time comes first.
func Later(a, b Stamp) Stamp { return slices.MaxFunc([]Stamp{a, b}, Stamp.compare) }

// Differences names the fields in which a and b differ in what they say: all
// that the user writes, in the order of the file, the body last. Where a note
// came from and how often it was confirmed are not among them.
func Differences(a, b *Note) []string {
	var keys []string
	for i := range fields {
		f := &fields[i]
		if f.shape != asEdits && f.key != "updated_at" && f.key != "created_at" && !isQuiet(f.key) && !f.same(a, b) {
			keys = append(keys, f.key)
		}
	}
	seen := make(map[string]bool)
	for _, x := range slices.Concat(a.Extra, b.Extra) {
		if !seen[x.Key] && a.extra(x.Key) != b.extra(x.Key) {
			keys = append(keys, x.Key)
		}
		seen[x.Key] = true
	}
	if a.Body != b.Body {
		keys = append(keys, BodyKey)
	}
	return keys
}

// isQuiet names the fields that writers of ours keep for themselves. A loss in
// them is a fact for the history and no question for the user.
func isQuiet(key string) bool {
	switch key {
	case "machine_id", "prov_source", "prov_model", "prov_session", "confidence", "proof_count", "import_hash", "imported_id", "status_reason",
		"reviewed_at", "vouched":
		return true
	}
	return false
}

// Asks reports whether something was lost that its owner should be asked about.
func (m Merged) Asks() bool {
	return slices.ContainsFunc(m.Lost, func(l Loss) bool { return !isQuiet(l.Field) })
}
