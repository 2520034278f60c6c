package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/replica/seal"
)

// recoveryName is how the recovery key is listed.
const recoveryName = "recovery key"

// change fetches, lets the group be changed, and sends everything sealed for the new one,
// again and again while others send too.
func (s *Sealed) change(ctx context.Context, do func(seal.Group) (seal.Group, error)) error {
	s.turns.sync.Lock()
	defer s.turns.sync.Unlock()
	for try := 1; ; try++ {
		if err := CheckRemote(s.o.Remote); err != nil || s.o.Remote == "" {
			return firstOf(err, fmt.Errorf("%w: no remote is set; `anamnesis config set remote ADDRESS`", ErrSealed))
		}
		_, err := s.Fetch(ctx)
		s.messages = nil
		if err != nil {
			return err
		}
		group, err := do(s.keys.Group)
		if err != nil {
			return err
		}
		if len(group) == len(s.keys.Group) && s.at.Manifest.N > 0 {
			return nil // it is so already
		}
		err = s.send(ctx, group, s.at.Manifest.Head(), 0)
		var link *LinkError
		if try == tries || !errors.As(err, &link) || link.Kind != LinkMoved {
			return err
		}
	}
}

// Begin gives this machine a key, and makes it the first that may read a remote that is
// empty. Recovery is the key that comes back when all machines are lost; it is written
// nowhere. Empty means that somebody began before. A machine that may not read gets an ErrSealed, and
// Request.
func (s *Sealed) Begin(ctx context.Context) (recovery string, err error) {
	made, err := makeKeys(s.o.Seal)
	if err != nil {
		return "", fmt.Errorf("make the key of this machine: %w", err)
	}
	sent := false
	err = s.change(ctx, func(g seal.Group) (seal.Group, error) {
		sent, recovery = true, ""
		if len(g) > 0 {
			return g, nil
		}
		spare, err := seal.NewIdentity()
		if err != nil {
			return nil, err
		}
		recovery = spare.Secret()
		return seal.NewGroup(s.keys.self, s.o.MachineID, spare.Member(recoveryName), s.o.Now())
	})
	if err != nil && made && !sent && !errors.Is(err, seal.ErrNotIn) {
		// It sends nothing sealed yet, and stays as it was.
		err = errors.Join(err, os.Remove(filepath.Join(s.o.Seal, identityFile)))
	}
	if err != nil {
		recovery = ""
	}
	return recovery, err
}

// Replace is Begin on a remote that holds notes as they are, all of which are here: what is
// sealed takes their place. On a remote that this machine already sealed, what is known of it here
// takes the place of what cannot be read there. It returns how many files that are; without apply that is all.
func (s *Sealed) Replace(ctx context.Context, apply bool) (files int, recovery string, err error) {
	if err := firstOf(s.git.prepare(ctx), CheckRemote(s.o.Remote)); err != nil {
		return 0, "", err
	}
	if Seals(s.o.Seal) {
		if err := s.load(); err != nil {
			return 0, "", err
		}
	}
	if _, err := s.get(ctx); err != nil {
		return 0, "", err
	}
	r, err := s.hub.Refs(ctx)
	if err != nil {
		return 0, "", err
	}
	list, err := s.hub.List(ctx, r.Theirs)
	if err != nil {
		return 0, "", err
	}
	if _, met := s.keys.Seen[s.o.Remote]; met && r.Theirs != "" {
		files, err = s.restore(ctx, r.Theirs, list, apply)
		return files, "", err
	}
	if _, is := list[sealedName]; is {
		return 0, "", fmt.Errorf("%w: the remote is sealed already", ErrSealed)
	}
	if r.Theirs != "" {
		if _, err := s.git.git(ctx, "", "merge-base", "--is-ancestor", r.Theirs, "refs/heads/main"); err != nil {
			return 0, "", fmt.Errorf("%w: the remote holds what is not here; `anamnesis sync` takes it in first", ErrSealed)
		}
	}
	if !apply {
		return len(list), "", nil
	}
	s.over = r.Theirs
	defer func() { s.over = "" }()
	recovery, err = s.Begin(ctx)
	return len(list), recovery, err
}

// restore is Replace on a remote that this machine sealed.
func (s *Sealed) restore(ctx context.Context, tip string, list map[string]Entry, apply bool) (files int, err error) {
	_, err = s.Fetch(ctx)
	s.messages = nil
	var link *LinkError
	switch {
	case err == nil:
		return 0, fmt.Errorf("%w: this machine can read what the remote holds; `anamnesis sync` is enough", ErrSealed)
	case !errors.Is(err, ErrSealed) && !(errors.As(err, &link) && link.Kind == LinkDamaged), errors.Is(err, seal.ErrNewer):
		return 0, err
	case !apply:
		return len(list), nil
	}
	_, err = s.putBack(ctx, tip)
	return len(list), err
}

// Join lets this machine in with the recovery key.
func (s *Sealed) Join(ctx context.Context, recovery string) error {
	as, err := seal.ParseIdentity(recovery)
	if err != nil {
		return fmt.Errorf("the recovery key: %w", err)
	}
	made, err := makeKeys(s.o.Seal)
	if err != nil {
		return err
	}
	s.as = as
	defer func() { s.as = nil }()
	err = s.change(ctx, func(g seal.Group) (seal.Group, error) {
		members, err := g.Members()
		if err != nil {
			return nil, fmt.Errorf("%w: the remote holds nothing sealed", ErrSealed)
		}
		me := s.Self()
		// This machine lost its key: the one of the same name is its former self.
		if slices.ContainsFunc(members, func(m seal.Member) bool { return m.Name == me.Name && m.Sign != me.Sign }) {
			if g, err = g.Remove(as, me.Name, s.o.Now()); err != nil {
				return nil, err
			}
		}
		return g.Add(as, me, s.o.Now())
	})
	if err != nil && made {
		err = errors.Join(err, os.Remove(filepath.Join(s.o.Seal, identityFile)))
	}
	return err
}

// Add lets another machine in, by its Request, and sends everything again for it.
func (s *Sealed) Add(ctx context.Context, request string) (m seal.Member, err error) {
	if m, err = seal.ParseRequest(request); err != nil {
		return m, err
	}
	return m, s.change(ctx, func(g seal.Group) (seal.Group, error) {
		if len(g) == 0 {
			return nil, fmt.Errorf("%w: nothing is sealed yet: `anamnesis sync --seal`", ErrSealed)
		}
		return g.Add(s.by(), m, s.o.Now())
	})
}

// Revoke takes a machine out. What it has read it has read. Of one that is out already
// it forgets that it wrote (Repelled).
func (s *Sealed) Revoke(ctx context.Context, name string) error {
	err := s.change(ctx, func(g seal.Group) (seal.Group, error) {
		members, err := g.Members()
		if err != nil {
			return nil, err
		}
		_, wrote := s.keys.Repelled[name]
		if !slices.ContainsFunc(members, func(m seal.Member) bool { return m.Name == name }) && (wrote || g.Had(name)) {
			return g, nil
		}
		return g.Remove(s.by(), name, s.o.Now())
	})
	if err != nil || s.keys.Repelled == nil {
		return err
	}
	delete(s.keys.Repelled, name)
	return s.keys.write(s.o.Seal)
}

// A Repelled is a machine that wrote to the remote after it was revoked, and when that was last found.
type Repelled struct {
	Machine string    `json:"machine"`
	At      time.Time `json:"at"`
}

// Repelled lists those that are still out, the last one first.
func (s *Sealed) Repelled() (list []Repelled) {
	k, err := readKeys(s.o.Seal)
	if err != nil {
		return nil
	}
	members, _ := k.Group.Members()
	for name, at := range k.Repelled {
		if !slices.ContainsFunc(members, func(m seal.Member) bool { return m.Name == name }) {
			list = append(list, Repelled{name, at})
		}
	}
	slices.SortFunc(list, func(a, b Repelled) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Machine, b.Machine)) })
	return list
}

// Renew makes another recovery key; the former one opens nothing that is sent from then on.
func (s *Sealed) Renew(ctx context.Context) (recovery string, err error) {
	err = s.change(ctx, func(g seal.Group) (seal.Group, error) {
		members, err := g.Members()
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			if m.Recovery {
				if g, err = g.Remove(s.by(), m.Name, s.o.Now()); err != nil {
					return nil, err
				}
			}
		}
		spare, err := seal.NewIdentity()
		if err != nil {
			return nil, err
		}
		m := spare.Member(recoveryName)
		m.Recovery, recovery = true, spare.Secret()
		return g.Add(s.by(), m, s.o.Now())
	})
	if err != nil {
		recovery = ""
	}
	return recovery, err
}

// Group is who may read, as far as this machine knows; nil when it does not.
func (s *Sealed) Group() seal.Group {
	if k, err := readKeys(s.o.Seal); err == nil {
		return k.Group
	}
	return nil
}

// Self is what others know of this machine.
func (s *Sealed) Self() seal.Member {
	k, err := readKeys(s.o.Seal)
	if err != nil {
		return seal.Member{}
	}
	return k.self.Member(s.o.MachineID)
}

// Request is the line with which this machine asks to be let in.
func (s *Sealed) Request() string {
	if m := s.Self(); m.Age != "" {
		return strings.TrimSpace(m.Request())
	}
	return ""
}
