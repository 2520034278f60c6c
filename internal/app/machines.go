package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/replica"
)

// maxSkew is from when on a clock is called wrong: commits have whole seconds,
// and machines that ask a time server differ by less.
const maxSkew = time.Minute

// A Machine is one that wrote notes or commits.
type Machine struct {
	Name    string `json:"name"`
	Here    bool   `json:"here"`
	Notes   int    `json:"notes"`
	Commits int    `json:"commits"`
	Last    string `json:"last_seen,omitempty"` // RFC 3339; of the last commit
	Waiting int    `json:"not_sent"`            // commits that the remote lacks
	Ahead   int    `json:"clock_ahead_seconds"` // by which the last commit lies in the future
}

// MachinesAnswer lists the machines, the latest first.
type MachinesAnswer struct {
	Machines []Machine `json:"machines"`
	Ahead    int       `json:"ahead"`
	Behind   int       `json:"behind"`
	LastSync string    `json:"last_sync"`

	Readers []Reader `json:"readers,omitempty"` // who may read the remote, when it is sealed
	Group   string   `json:"group,omitempty"`   // their name together

	State SyncState `json:"-"`
}

// Machines joins those who wrote notes and those who committed.
func Machines(ctx context.Context, r *Rooms) (a MachinesAnswer, err error) {
	all := make(map[string]*Machine)
	of := func(name string) *Machine {
		if all[name] == nil {
			all[name] = &Machine{Name: name, Here: name == r.Config.MachineID}
		}
		return all[name]
	}
	rows, err := r.Index.Select(ctx, index.Filter{Dead: true}, 0)
	if err != nil {
		return a, err
	}
	for _, row := range rows {
		of(row.MachineID).Notes++
	}
	h, err := Historian(r)
	if err != nil {
		return a, err
	}
	if h != nil {
		committed, err := h.Machines(ctx)
		if err != nil && !errors.Is(err, replica.ErrNoGit) {
			return a, err
		}
		named := make(map[string]int)
		for _, c := range committed {
			named[c.Name]++
		}
		for _, c := range committed {
			name := c.Name
			switch {
			case c.Here:
				name = r.Config.MachineID // commits have it without blanks and the like
			case named[c.Name] > 1: // two machines of one name
				name += " (" + shortInstallation(c.Installation) + ")"
			}
			m := of(name)
			m.Commits, m.Last, m.Waiting = c.Commits, c.Last.UTC().Format(time.RFC3339), c.Waiting
			if ahead := c.Last.Sub(r.Store.Now()); ahead > maxSkew {
				m.Ahead = int(ahead.Seconds())
			}
		}
	}
	for _, m := range all {
		a.Machines = append(a.Machines, *m)
	}
	slices.SortFunc(a.Machines, func(a, b Machine) int {
		return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.Name, b.Name))
	})
	if a.Readers, a.Group, err = readers(r); err != nil {
		return a, err
	}
	a.State, err = SyncStatus(ctx, r)
	a.Ahead, a.Behind, a.LastSync = a.State.Ahead, a.State.Behind, a.State.LastSync
	return a, err
}

// Historian returns what knows the history of the portable notes, nil when
// nothing does.
func Historian(r *Rooms) (replica.Historian, error) {
	backend, err := openOwnReplica(r, SyncOptions{})
	if err != nil {
		return nil, err
	}
	h, _ := backend.(replica.Historian)
	return h, nil
}
