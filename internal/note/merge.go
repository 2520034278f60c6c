package note

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
)

// Merged is what two forms of a note become.
type Merged struct {
	Data  []byte // the file
	Other []byte // the file as it would be had the losers won; nil when nobody lost
	Lost  []Loss // fields that both sides changed, in the order of the file, the body last
}

// A Loss is a field of which one form only could stay.
type Loss struct {
	Field  string // a key of the front matter, BodyKey, or WholeFile
	Winner string
	Loser  string
}

// WholeFile is the field of a Loss when one side could not be read as a note,
// or when the two cannot stand in one file.
const WholeFile = "file"

// Reconcile brings two forms of one note together that both come from base; nil is
// no base. It is a function of the bytes alone: not of the order of a and b,
// the machine or the time.
//
// A side with the bytes of base contributes nothing, and neither does one that
// says what base says; the other is the result, byte for byte. Otherwise lists
// are merged as sets: what either side added, and what both kept. A field that
// one side changed takes its value, and one that both changed takes that of the
// later edit (Edits, or else updated_at; of two at one time the greater hash).
// status and status_reason are one field. proof_count is counted again from the
// evidence, updated_at is the later and created_at the earlier of those changed.
// For bodies see mergeBodies. The bytes are those of base with the changes
// (Rewrite), or the canonical form where there is no base.
//
// Reconcile(base, m, a) is m for every m that comes of a, so that a merge may be
// repeated after a crash. Front matters merge associatively over one base;
// bodies do as long as no two sides change the same line or insert at the same
// place the same paragraph. Where they do, what lost is in Lost.
//
// A side that cannot be read loses against one that can; of two, the greater
// hash wins.
func Reconcile(base, a, b []byte) Merged {
	if data, ok := unopposed(base, a, b); ok {
		return Merged{Data: data}
	}
	na, erra := Parse(a)
	nb, errb := Parse(b)
	switch {
	case erra != nil && errb != nil:
		if compareHash(string(a), string(b)) < 0 {
			a, b = b, a
		}
		return whole(a, b)
	case errb != nil:
		return whole(a, b)
	case erra != nil:
		return whole(b, a)
	}
	var was *Note
	if base != nil {
		if n, err := Parse(base); err == nil {
			was = n
		} else {
			base = nil
		}
	}
	m := merger{base: was, a: na, b: nb}
	if was != nil {
		switch idleA, idleB := m.idle(na), m.idle(nb); {
		case idleA && idleB && compareHash(string(a), string(b)) < 0, idleA && !idleB:
			return Merged{Data: b}
		case idleA, idleB:
			return Merged{Data: a}
		}
	}
	m.merge()
	out, ok := render(base, m.out)
	if !ok {
		if na.UpdatedAt.compare(nb.UpdatedAt) < 0 || na.UpdatedAt == nb.UpdatedAt && compareHash(string(a), string(b)) < 0 {
			a, b = b, a
		}
		return whole(a, b)
	}
	res := Merged{Data: out, Lost: m.lost}
	if len(m.lost) > 0 {
		if res.Other, ok = render(base, m.other); !ok {
			res.Other = m.other.Format()
		}
	}
	return res
}

// unopposed returns the form that only one side changed, or both in the same way.
func unopposed(base, a, b []byte) (data []byte, ok bool) {
	switch {
	case bytes.Equal(a, b), base != nil && bytes.Equal(b, base):
		return a, true
	case base != nil && bytes.Equal(a, base):
		return b, true
	}
	return nil, false
}

func whole(winner, loser []byte) Merged {
	return Merged{Data: winner, Other: loser, Lost: []Loss{{WholeFile, string(winner), string(loser)}}}
}

// render returns the file of n, which came from base, if n can be read from it.
func render(base []byte, n *Note) ([]byte, bool) {
	if base != nil {
		if out, err := n.Rewrite(base); err == nil {
			_, err = Parse(out)
			return out, err == nil
		}
	}
	out := n.Format()
	got, err := Parse(out)
	return out, err == nil && Equal(got, n)
}

// A merger merges two notes.
type merger struct {
	base *Note // nil when there is none
	a, b *Note

	out   *Note
	other *Note // out with the losers in the place of the winners
	lost  []Loss
}

// idle reports whether n says what the base says.
func (m *merger) idle(n *Note) bool {
	for i := range fields {
		if f := &fields[i]; f.shape != asEdits && !f.same(m.base, n) {
			return false
		}
	}
	for _, x := range m.base.Extra {
		if m.base.extra(x.Key) != n.extra(x.Key) {
			return false
		}
	}
	return len(m.base.Extra) == len(n.Extra) && m.base.Body == n.Body && sameEdits(m.base, n)
}

func sameEdits(a, b *Note) bool {
	return len(a.Edits) == len(b.Edits) &&
		!slices.ContainsFunc(a.Edits, func(e Edit) bool { return b.editEntry(e.Key) != e.At })
}

func (m *merger) merge() {
	m.out = m.a.Clone()
	m.out.Edits = nil
	m.out.UpdatedAt = m.stamp(func(n *Note) Stamp { return n.UpdatedAt }, Later)
	m.out.CreatedAt = m.stamp(func(n *Note) Stamp { return n.CreatedAt }, earlier)
	m.lists()
	m.count()
	m.other = m.out.Clone()
	for i := range fields {
		if f := &fields[i]; f.isRegister() {
			m.register(f.key, f.same, f.lines, f.take)
		}
	}
	m.extras()
	m.bodies()
	m.vouch()
	slices.SortFunc(m.out.Edits, func(x, y Edit) int { return strings.Compare(x.Key, y.Key) })
	m.other.Edits = nil
}

// vouch lets a person vouch for the merged words who does so for those of both forms. Of other
// forms the greater hash stays, which vouches for the words that it was made of and for no others.
func (m *merger) vouch() {
	m.out.Vouched = max(m.a.Vouched, m.b.Vouched)
	if m.out.Vouched != "" && Attested(m.a) && Attested(m.b) {
		m.out.Vouched = Words(m.out)
	}
	m.other.Vouched = m.out.Vouched
}

// stamp merges a time that is its own time of change.
func (m *merger) stamp(of func(*Note) Stamp, choose func(a, b Stamp) Stamp) Stamp {
	a, b := of(m.a), of(m.b)
	switch {
	case m.base != nil && a == of(m.base):
		return b
	case m.base != nil && b == of(m.base):
		return a
	}
	return choose(a, b)
}

func earlier(a, b Stamp) Stamp {
	_, ok := a.Time()
	_, known := b.Time()
	switch {
	case ok && !known:
		return a
	case known && !ok:
		return b
	case a.compare(b) < 0:
		return a
	}
	return b
}

// register merges a value that is whole or not at all.
func (m *merger) register(key string, same func(a, b *Note) bool, lines func(*Note) string, take func(to, from *Note)) {
	changedA := m.base == nil || !same(m.base, m.a)
	changedB := m.base == nil || !same(m.base, m.b)
	switch {
	case !changedA && !changedB:
		take(m.out, m.base)
		take(m.other, m.base)
		m.keepEdit(key)
		return
	case changedA && changedB && same(m.a, m.b):
		m.take(key, m.a, m.a, Later(m.a.editedAt(key), m.b.editedAt(key)), take)
		return
	case !changedB:
		m.take(key, m.a, m.a, m.a.editedAt(key), take)
		return
	case !changedA:
		m.take(key, m.b, m.b, m.b.editedAt(key), take)
		return
	}
	winner, loser := m.a, m.b
	c := m.a.editedAt(key).compare(m.b.editedAt(key))
	if c < 0 || c == 0 && compareHash(lines(m.a), lines(m.b)) < 0 {
		winner, loser = loser, winner
	}
	m.take(key, winner, loser, winner.editedAt(key), take)
	m.lost = append(m.lost, Loss{key, lines(winner), lines(loser)})
}

func (m *merger) take(key string, winner, loser *Note, at Stamp, take func(to, from *Note)) {
	take(m.out, winner)
	take(m.other, loser)
	m.edited(key, at)
}

func (m *merger) edited(key string, at Stamp) {
	if at != m.out.UpdatedAt && at != "" {
		m.out.Edits = append(m.out.Edits, Edit{key, at})
	}
}

// keepEdit merges what is known of a field that nobody changed.
func (m *merger) keepEdit(key string) {
	was, a, b := m.base.editEntry(key), m.a.editEntry(key), m.b.editEntry(key)
	at := Later(a, b)
	switch {
	case a == was:
		at = b
	case b == was:
		at = a
	}
	if at != "" {
		m.out.Edits = append(m.out.Edits, Edit{key, at})
	}
}

// compareHash orders texts in a way that favours none.
func compareHash(a, b string) int {
	if a == b {
		return 0
	}
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return bytes.Compare(x[:], y[:])
}
