package seal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Group is the list of the machines that may read, as the changes that made it. Each
// names the hash of the one before and is signed by a machine that was in at that time, so
// that a list that goes on from one that is known can be believed.
type Group []signed

// A change of a group.
type change struct {
	Before string    `json:"before,omitempty"` // the hash of the change before
	Add    *Member   `json:"add,omitempty"`
	Remove *Member   `json:"remove,omitempty"`
	At     time.Time `json:"at"`
}

// NewGroup begins a group with this machine and the key with which one comes back.
func NewGroup(i *Identity, name string, recovery Member, at time.Time) (Group, error) {
	g, err := Group(nil).Add(i, i.Member(name), at)
	if err != nil {
		return nil, err
	}
	recovery.Recovery = true
	return g.Add(i, recovery, at)
}

// Add lets a machine in. One that is in already changes nothing.
func (g Group) Add(by *Identity, m Member, at time.Time) (Group, error) {
	members, err := g.members()
	if err != nil {
		return nil, err
	}
	for _, have := range members {
		switch {
		case have.Age == m.Age && have.Sign == m.Sign:
			return g, nil
		case have.Name == m.Name, have.Age == m.Age, have.Sign == m.Sign:
			return nil, fmt.Errorf("a machine %q is in already, with another key; revoke it first, or give the new one another name", have.Name)
		}
	}
	return g.append(by, change{Add: &m, At: at})
}

// Remove takes a machine out.
func (g Group) Remove(by *Identity, name string, at time.Time) (Group, error) {
	members, err := g.members()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no machine %q may read", name)
	}
	if members[i].Sign == by.signer() {
		return nil, errors.New("a machine cannot revoke itself; do it on another one, or with the recovery key")
	}
	return g.append(by, change{Remove: &members[i], At: at})
}

func (g Group) append(by *Identity, c change) (Group, error) {
	if len(g) >= maxGroup {
		return nil, fmt.Errorf("the list of machines was changed %d times; begin a new hub", maxGroup)
	}
	if len(g) > 0 {
		c.Before = g[len(g)-1].hash()
	}
	c.At = c.At.UTC().Truncate(time.Second)
	s, err := by.seal(forGroup, c)
	if err != nil {
		return nil, err
	}
	g = append(slices.Clone(g), s)
	_, err = g.Members()
	return g, err
}

func (s signed) hash() string {
	sum := sha256.Sum256([]byte(s.By + "\n" + s.Body))
	return hex.EncodeToString(sum[:])
}

// Members checks the whole list and returns who is in.
func (g Group) Members() ([]Member, error) {
	if len(g) == 0 {
		return nil, fmt.Errorf("%w: the list of machines is empty", ErrForged)
	}
	return g.members()
}

func (g Group) members() (in []Member, err error) {
	if len(g) > maxGroup {
		return nil, fmt.Errorf("%w: the list of machines has %d changes", ErrForged, len(g))
	}
	before := ""
	for n, s := range g {
		var c change
		if err := s.open(forGroup, &c); err != nil {
			return nil, err
		}
		signs := func(m Member) bool { return m.Sign == s.By }
		first := n == 0 && c.Add != nil && c.Add.Sign == s.By
		switch {
		case c.Before != before, (c.Add == nil) == (c.Remove == nil), !first && !slices.ContainsFunc(in, signs):
			return nil, fmt.Errorf("%w: change %d of the list of machines fits not to those before", ErrForged, n+1)
		case c.Add != nil:
			if err := c.Add.check(); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrForged, err)
			}
			if slices.ContainsFunc(in, func(m Member) bool { return m.Name == c.Add.Name || m.Age == c.Add.Age || m.Sign == c.Add.Sign }) {
				return nil, fmt.Errorf("%w: a machine is in the list twice", ErrForged)
			}
			in = append(in, *c.Add)
		default:
			i := slices.Index(in, *c.Remove)
			if i < 0 || len(in) == 1 {
				return nil, fmt.Errorf("%w: a machine is taken out that cannot be", ErrForged)
			}
			in = slices.Delete(in, i, i+1)
		}
		before = s.hash()
	}
	return in, nil
}

// Began reports when a machine that is in was let in.
func (g Group) Began(m Member) time.Time {
	for _, s := range slices.Backward(g) {
		var c change
		if s.open(forGroup, &c) == nil && c.Add != nil && *c.Add == m {
			return c.At
		}
	}
	return time.Time{}
}

// had returns the machine that was in at some time with a key for signatures.
func (g Group) had(sign string) (m Member, ok bool) {
	for _, s := range slices.Backward(g) {
		var c change
		if s.open(forGroup, &c) == nil && c.Add != nil && c.Add.Sign == sign {
			return *c.Add, true
		}
	}
	return Member{}, false
}

// Had reports whether a machine of that name was in at some time.
func (g Group) Had(name string) bool {
	return slices.ContainsFunc(g, func(s signed) bool {
		var c change
		return s.open(forGroup, &c) == nil && c.Add != nil && c.Add.Name == name
	})
}

// Goes reports whether a list goes on from another one, or is it.
func (g Group) Goes(on Group) bool {
	return len(g) >= len(on) && slices.Equal(g[:len(on)], on)
}

// Name is what people compare to know that two machines mean the same group.
func (g Group) Name() string {
	if len(g) == 0 {
		return ""
	}
	h := g[0].hash()
	return h[:4] + "-" + h[4:8] + "-" + h[8:12] + "-" + h[12:16]
}
