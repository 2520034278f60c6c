package note

import (
	"slices"
	"strings"
)

// bodies merges the bodies of the two sides.
func (m *merger) bodies() {
	a, b := version{m.a.Body, m.a.editedAt(BodyKey)}, version{m.b.Body, m.b.editedAt(BodyKey)}
	var base *version
	if m.base != nil {
		base = &version{text: m.base.Body}
		if a.text == base.text && b.text == base.text {
			m.out.Body, m.other.Body = base.text, base.text
			m.keepEdit(BodyKey)
			return
		}
	}
	res := mergeBodies(base, a, b)
	m.out.Body, m.other.Body = res.text, res.other
	m.edited(BodyKey, res.at)
	m.lost = append(m.lost, res.lost...)
}

// A version is a body and when it was last changed.
type version struct {
	text string
	at   Stamp
}

// beats reports whether a wins where it and b cannot both stand.
func beats(a, b version) bool {
	c := a.at.compare(b.at)
	return c > 0 || c == 0 && compareHash(a.text, b.text) > 0
}

type mergedBody struct {
	version
	other string // with the losers in the place of the winners
	lost  []Loss
}

// mergeBodies merges two bodies, paragraph by paragraph (see cutUnits). A
// paragraph of base that one side changed or removed is changed or removed, and
// what either side inserted is there, so that a paragraph is lost only where
// both sides changed the same lines of it: then the later edit wins. One that
// was changed here and removed there stays.
//
// Without a base, a body that holds the other wins; two that share half of
// their paragraphs are united, and otherwise the later one wins.
func mergeBodies(base *version, a, b version) mergedBody {
	switch {
	case a.text == b.text:
		return mergedBody{version: version{a.text, Later(a.at, b.at)}, other: a.text}
	case base != nil && a.text == base.text:
		return mergedBody{version: b, other: b.text}
	case base != nil && b.text == base.text:
		return mergedBody{version: a, other: a.text}
	}
	res := tryBodies(base, a, b)
	// A merge that is repeated must not change anything; where paragraphs that
	// stand there twice make it do so, one side wins whole.
	for _, side := range []version{a, b} {
		if len(res.text) > MaxBody || res.text != side.text && tryBodies(base, res.version, side).version != res.version {
			return wholeBody(a, b)
		}
	}
	return res
}

func tryBodies(base *version, a, b version) mergedBody {
	if base != nil && (a.text == base.text || b.text == base.text) {
		return mergedBody{} // not reached from mergeBodies; a merge that is its own base is none
	}
	var res mergedBody
	if base == nil {
		text, ok := uniteBodies(a.text, b.text)
		if !ok {
			return wholeBody(a, b)
		}
		res.text, res.other = text, text
	} else {
		t := threeWay{a: a, b: b}
		t.merge(cutUnits(base.text))
		res.text, res.other, res.lost = t.out.String(), t.other.String(), t.lost
	}
	switch res.text {
	case a.text:
		res.at = a.at
	case b.text:
		res.at = b.at
	default:
		res.at = Later(a.at, b.at)
	}
	return res
}

func wholeBody(a, b version) mergedBody {
	if beats(b, a) {
		a, b = b, a
	}
	return mergedBody{version: a, other: b.text, lost: []Loss{{BodyKey, a.text, b.text}}}
}

// uniteBodies merges two bodies that have no base.
func uniteBodies(a, b string) (string, bool) {
	if a > b {
		a, b = b, a // of several ways to align two lists, take the same for both orders
	}
	ua, ub := cutUnits(a), cutUnits(b)
	ta, tb := ua.texts(), ub.texts()
	switch inA, inB := within(tb, ta), within(ta, tb); {
	case inA && inB && (len(a) < len(b) || len(a) == len(b) && a < b):
		return b, true
	case inA:
		return a, true
	case inB:
		return b, true
	case strings.Contains(a, b):
		return a, true
	case strings.Contains(b, a):
		return b, true
	}
	match := align(ta, tb)
	shared := len(match) - count(match, -1)
	if 2*shared < max(len(ta), len(tb)) {
		return "", false
	}
	out := units{lead: threeGap("", ua.lead, ub.lead), tail: threeGap("", ua.tail, ub.tail)}
	i, j := 0, 0
	for k, to := range append(match, len(tb)) {
		if to < 0 {
			continue
		}
		out.all = append(out.all, unite(ua.all[i:k], ub.all[j:to])...)
		if k < len(ta) {
			out.all = append(out.all, unit{threeGap("", ua.all[k].gap, ub.all[to].gap), ta[k]})
		}
		i, j = k+1, to+1
	}
	return out.String(), true
}

func count(list []int, x int) int {
	n := 0
	for _, y := range list {
		if y == x {
			n++
		}
	}
	return n
}

// A threeWay merges two bodies over a base.
type threeWay struct {
	a, b       version
	out, other units
	lost       []Loss
}

func (t *threeWay) merge(base units) {
	ua, ub := cutUnits(t.a.text), cutUnits(t.b.text)
	ca := changesOf(base.all, ua.all, true)
	cb := changesOf(base.all, ub.all, true)
	t.out.lead = threeGap(base.lead, ua.lead, ub.lead)
	t.out.tail = threeGap(base.tail, ua.tail, ub.tail)
	t.other.lead, t.other.tail = t.out.lead, t.out.tail
	for i := 0; ; i++ {
		both := unite(ca.before[i], cb.before[i])
		t.out.all, t.other.all = append(t.out.all, both...), append(t.other.all, both...)
		if i == len(base.all) {
			return
		}
		t.unit(base.all[i], ca.now[i], cb.now[i])
	}
}

// unit merges one paragraph of the base; nil is a removed one.
func (t *threeWay) unit(was unit, a, b *unit) {
	if a == nil || b == nil {
		// Removed stays removed, unless the other side changed it.
		if a == nil {
			a = b
		}
		if a != nil && a.text != was.text {
			t.out.all, t.other.all = append(t.out.all, *a), append(t.other.all, *a)
		}
		return
	}
	u := unit{gap: threeGap(was.gap, a.gap, b.gap)}
	v := u
	switch {
	case a.text == b.text, b.text == was.text:
		u.text, v.text = a.text, a.text
	case a.text == was.text:
		u.text, v.text = b.text, b.text
	default:
		text, ok := mergeLines(was.text, a.text, b.text)
		u.text, v.text = text, text
		if !ok {
			u.text, v.text = a.text, b.text
			if beats(version{b.text, t.b.at}, version{a.text, t.a.at}) {
				u.text, v.text = b.text, a.text
			}
			t.lost = append(t.lost, Loss{BodyKey, u.text, v.text})
		}
	}
	t.out.all, t.other.all = append(t.out.all, u), append(t.other.all, v)
}

// mergeLines merges two forms of a paragraph line by line. It fails when both
// changed a line, or one changed and the other removed it.
func mergeLines(was, a, b string) (string, bool) {
	base := lineUnits(was)
	ca := changesOf(base, lineUnits(a), false)
	cb := changesOf(base, lineUnits(b), false)
	text := was + a + b
	fenced := strings.Contains(text, "```") || strings.Contains(text, "~~~")
	var out []string
	for i := 0; ; i++ {
		x, y := ca.before[i], cb.before[i]
		if fenced && len(x) > 0 && len(y) > 0 && !slices.Equal(x, y) {
			return "", false // the order of two lines of code is not ours to choose
		}
		for _, u := range unite(x, y) {
			out = append(out, u.text)
		}
		if i == len(base) {
			break
		}
		p, q := ca.now[i], cb.now[i]
		switch text := base[i].text; {
		case p != nil && q != nil && p.text == q.text:
			out = append(out, p.text)
		case p == nil && q == nil:
		case p != nil && p.text == text:
			if q != nil {
				out = append(out, q.text)
			}
		case q != nil && q.text == text:
			if p != nil {
				out = append(out, p.text)
			}
		default:
			return "", false
		}
	}
	merged := strings.Join(out, "\n")
	// What came out must be one paragraph again.
	return merged, len(cutUnits(merged).all) == 1 && cutUnits(merged).String() == merged
}
