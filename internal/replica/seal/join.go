package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// Join brings two lists together that parted, which happens when a hub was put back while
// the list was changed. The result has what both changed, so that it does not matter which
// machine joins them first, and machines that join in turns agree in the end. What a
// machine changed is left out when the other list revoked it. When each list revoked who
// changed the other one, g counts: it is what this machine knew first.
func (g Group) Join(other Group, by *Identity, at time.Time) (Group, error) {
	p := 0
	for p < len(g) && p < len(other) && g[p] == other[p] {
		p++
	}
	before, err := g[:p].members()
	if err != nil {
		return nil, err
	}
	ours, theirs := g.tail(p), other.tail(p)
	mine, err := g.Members()
	if err != nil {
		return nil, err
	}
	their, err := other.Members()
	if err != nil {
		return nil, err
	}
	signs := func(list []Member) bool {
		return slices.ContainsFunc(list, func(m Member) bool { return m.Sign == by.signer() })
	}
	base, more := g, theirs.without(ours, before)
	whole := len(more) == len(theirs)
	switch {
	case sameMembers(mine, their):
		if len(other) > len(g) || len(other) == len(g) && other[len(other)-1].hash() < g[len(g)-1].hash() {
			return other, nil
		}
		return g, nil
	case !signs(mine):
		return g, nil
	case len(ours.without(theirs, before)) < len(ours) && whole && signs(their):
		base, more, ours = other, ours.without(theirs, before), theirs
	}
	out, gone := base, ours.net(before)
	for _, c := range more.net(before) {
		if out, err = out.again(c.change, gone, by, at); err != nil {
			return nil, err
		}
	}
	if members, err := out.Members(); err == nil && sameMembers(members, their) {
		return other, nil // it has all of it already
	}
	return out, nil
}

// A signedChange is a change with the key of who made it.
type signedChange struct {
	change
	by string
}

type changes []signedChange

// tail returns the changes from the one at n on.
func (g Group) tail(n int) (list changes) {
	for _, s := range g[n:] {
		c := signedChange{by: s.By}
		if s.open(forGroup, &c.change) == nil {
			list = append(list, c)
		}
	}
	return list
}

// net leaves what is so in the end: not that a machine was taken out and let in again.
func (l changes) net(before []Member) (left changes) {
	last := make(map[string]int)
	for i, c := range l {
		last[c.of().Sign] = i
	}
	for i, c := range l {
		was := slices.ContainsFunc(before, func(m Member) bool { return m.Sign == c.of().Sign })
		if last[c.of().Sign] == i && (c.Remove != nil || !was) {
			left = append(left, c)
		}
	}
	return left
}

// of is the machine that a change is about.
func (c change) of() Member {
	if c.Remove != nil {
		return *c.Remove
	}
	return *c.Add
}

// removes reports whether a key for signatures was taken out.
func (l changes) removes(sign string) bool {
	return slices.ContainsFunc(l, func(c signedChange) bool { return c.Remove != nil && c.Remove.Sign == sign })
}

// without leaves out what machines changed that the other list takes out, and what those changed that they let in.
func (l changes) without(other changes, before []Member) (left changes) {
	other = other.net(before)
	lost := make(map[string]bool)
	for _, c := range l {
		if !other.removes(c.by) && !lost[c.by] {
			left = append(left, c)
		} else if c.Add != nil {
			lost[c.Add.Sign] = true
		}
	}
	return left
}

// again makes a change of another list in this one, unless it is made. A machine that is
// gone is not let in by it.
func (g Group) again(c change, gone changes, by *Identity, at time.Time) (Group, error) {
	members, err := g.Members()
	if err != nil {
		return nil, err
	}
	switch {
	case c.Remove != nil:
		i := slices.IndexFunc(members, c.Remove.same)
		if i < 0 || len(members) == 1 || members[i].Sign == by.signer() {
			return g, nil
		}
		return g.append(by, change{Remove: &members[i], At: at})
	case gone.removes(c.Add.Sign), slices.ContainsFunc(members, func(m Member) bool { return m.Age == c.Add.Age || m.Sign == c.Add.Sign }):
		return g, nil
	}
	m := *c.Add
	if slices.ContainsFunc(members, func(have Member) bool { return have.Name == m.Name }) {
		m.Name = shorten(m.Name, maxName-9) + "-" + short(m.Age)
	}
	return g.append(by, change{Add: &m, At: at})
}

// short is a name of a key that its owner cannot choose freely.
func short(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}

func sameMembers(a, b []Member) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(m Member) bool { return !slices.ContainsFunc(b, m.same) })
}
