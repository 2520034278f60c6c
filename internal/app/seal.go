package app

import (
	"context"
	"errors"
	"fmt"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/seal"
	"anamnesis/internal/store/layout"
)

// SealOptions say how this machine comes to send what it sends sealed.
type SealOptions struct {
	Recovery string // the key that lets it in, empty to ask a machine that is in
	Replace  bool   // the remote holds notes as they are, or what cannot be read, whose place is taken
	Apply    bool   // else Replace only counts
}

// A SealAnswer is what became of it.
type SealAnswer struct {
	Group    string `json:"group,omitempty"`        // a name to compare, the same on all machines
	Recovery string `json:"recovery_key,omitempty"` // said once
	Request  string `json:"request,omitempty"`      // what a machine that is in needs to let this one in
	Replaces int    `json:"replaces,omitempty"`     // files of the remote that would be replaced
}

// seals reports whether what goes to the remote is sealed.
func seals(r *Rooms) bool { return replica.Seals(r.Store.Path(layout.Keys)) }

// sealer opens the repository of the notes as one that seals what it sends.
func sealer(r *Rooms) (*replica.Sealed, error) {
	o := replicaOptions(r, SyncOptions{Remote: true})
	if o.Backend == "none" {
		return nil, Usagef("sync is off: `anamnesis config set sync.on true`")
	}
	o.Seal = r.Store.Path(layout.Keys)
	backend, err := openReplica(o)
	if err != nil {
		return nil, err
	}
	return backend.(*replica.Sealed), nil //nolint:forcetypeassert // with keys it is one
}

// Seal makes this machine send sealed, or asks to be let in where others do. A sync follows.
func Seal(ctx context.Context, r *Rooms, o SealOptions) (a SealAnswer, err error) {
	err = sealing(r, func(s *replica.Sealed) (err error) {
		switch {
		case o.Recovery != "":
			err = s.Join(ctx, o.Recovery)
		case o.Replace:
			a.Replaces, a.Recovery, err = s.Replace(ctx, o.Apply)
		default:
			a.Recovery, err = s.Begin(ctx)
		}
		a.Group = s.Group().Name()
		if errors.Is(err, seal.ErrNotIn) && o.Recovery == "" {
			a.Group, a.Request = "", s.Request()
			err = &Error{Kind: Conflict}
		}
		return err
	})
	return a, err
}

// sealing runs f with the lock of a sync.
func sealing(r *Rooms, f func(*replica.Sealed) error) error {
	unlock, ok, err := r.Store.TryLock("sync")
	if err != nil {
		return err
	}
	if !ok {
		return Errorf(Locked, "another sync is at work")
	}
	defer unlock()
	s, err := sealer(r)
	if err != nil {
		return err
	}
	return f(s)
}

// A MachineChange is a machine that may read what is sealed from now on, or may not.
type MachineChange struct {
	Name     string `json:"name"`
	Group    string `json:"group"`
	Recovery string `json:"recovery_key,omitempty"`
}

// AddMachine lets a machine in by its request.
func AddMachine(ctx context.Context, r *Rooms, request string) (c MachineChange, err error) {
	return regroup(r, func(s *replica.Sealed) error {
		m, err := s.Add(ctx, request)
		c.Name = m.Name
		return err
	}, &c)
}

// RevokeMachine takes one out.
func RevokeMachine(ctx context.Context, r *Rooms, name string) (c MachineChange, err error) {
	c.Name = name
	return regroup(r, func(s *replica.Sealed) error { return s.Revoke(ctx, name) }, &c)
}

// RenewRecovery makes a new recovery key in place of the one that was.
func RenewRecovery(ctx context.Context, r *Rooms) (c MachineChange, err error) {
	return regroup(r, func(s *replica.Sealed) (err error) {
		c.Recovery, err = s.Renew(ctx)
		return err
	}, &c)
}

func regroup(r *Rooms, do func(*replica.Sealed) error, c *MachineChange) (MachineChange, error) {
	if !seals(r) {
		return *c, Usagef("this machine seals nothing: `anamnesis sync --seal`")
	}
	err := sealing(r, func(s *replica.Sealed) error {
		err := do(s)
		c.Group = s.Group().Name()
		return err
	})
	return *c, err
}

// A Reader is a machine that may read what is sealed.
type Reader struct {
	Name  string `json:"name"`
	Since string `json:"since"` // RFC 3339
	Key   string `json:"key"`
	Here  bool   `json:"here"`
}

// readers lists who may read, as far as this machine knows, and the name of the group.
func readers(r *Rooms) (list []Reader, group string, err error) {
	if !seals(r) {
		return nil, "", nil
	}
	s, err := sealer(r)
	if err != nil {
		return nil, "", err
	}
	g := s.Group()
	if g == nil {
		return nil, "", nil
	}
	members, err := g.Members()
	if err != nil {
		return nil, "", fmt.Errorf("who may read: %w", err)
	}
	self := s.Self()
	for _, m := range members {
		list = append(list, Reader{Name: m.Name, Since: g.Began(m).Format("2006-01-02T15:04:05Z07:00"), Key: m.Age, Here: m.Sign == self.Sign})
	}
	return list, g.Name(), nil
}
