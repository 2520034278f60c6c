package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/replica"

	"github.com/spf13/cobra"
)

// skewed is from when on a clock is called wrong: commits have whole seconds,
// and machines that ask a time server differ by less.
const skewed = time.Minute

func newMachines(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "machines",
		Short: "Tell which machines write notes, and when they were last seen",
		Long: `List every machine that wrote a note or a commit: how many of each, when its last
commit was made, and how many of its commits the remote does not have yet. A
machine whose commits come from the future has a clock that is ahead; when two
machines change one field, the later change wins, so clocks should be right.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.machines(cmd.Context()) },
	}
}

// machineJSON is a machine in answers.
type machineJSON struct {
	Name    string `json:"name"`
	Here    bool   `json:"here"`
	Notes   int    `json:"notes"`
	Commits int    `json:"commits"`
	Last    string `json:"last_seen,omitempty"` // RFC 3339; of the last commit
	Waiting int    `json:"not_sent"`            // commits that the remote lacks
	Ahead   int    `json:"clock_ahead_seconds"` // by which the last commit lies in the future
}

func (p *program) machines(ctx context.Context) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	list, err := p.listMachines(ctx, m)
	if err != nil {
		return err
	}
	state, err := app.SyncStatus(ctx, m.Rooms)
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(struct {
			header
			Machines []machineJSON `json:"machines"`
			Ahead    int           `json:"ahead"`
			Behind   int           `json:"behind"`
			LastSync string        `json:"last_sync"`
		}{head("machines"), list, state.Ahead, state.Behind, state.LastSync})
	}
	for _, j := range list {
		here, last, more := "", "never committed", ""
		if j.Here {
			here = " (this machine)"
		}
		if j.Last != "" {
			last = "last seen " + j.Last
		}
		if j.Waiting > 0 {
			more = fmt.Sprintf(", %s not sent", plural(j.Waiting, "commit"))
		}
		p.printf("%s%s: %s, %s%s, %s\n", firstLine(j.Name, 64), here, plural(j.Notes, "note"), plural(j.Commits, "commit"), more, last)
		if j.Ahead > 0 {
			p.printf("  its clock is ahead by %s: later changes of others lose against its own; set the clock\n", time.Duration(j.Ahead)*time.Second)
		}
	}
	if len(list) == 0 {
		p.note("nobody has written a note yet")
	}
	p.printSyncState(state)
	return nil
}

// listMachines joins those who wrote notes and those who committed, the latest first.
func (p *program) listMachines(ctx context.Context, m *memory) ([]machineJSON, error) {
	all := make(map[string]*machineJSON)
	of := func(name string) *machineJSON {
		if all[name] == nil {
			all[name] = &machineJSON{Name: name, Here: name == p.cfg.MachineID}
		}
		return all[name]
	}
	rows, err := m.Index.Select(ctx, index.Filter{Dead: true}, 0)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		of(r.MachineID).Notes++
	}
	h, err := p.historian(m)
	if err != nil {
		return nil, err
	}
	if h != nil {
		committed, err := h.Machines(ctx)
		if err != nil && !errors.Is(err, replica.ErrNoGit) {
			return nil, err
		}
		now := m.Store.Now()
		for _, c := range committed {
			name := c.Name
			if c.Here {
				name = p.cfg.MachineID // commits have it without blanks and the like
			}
			j := of(name)
			j.Commits, j.Last, j.Waiting = c.Commits, c.Last.UTC().Format(time.RFC3339), c.Waiting
			if ahead := c.Last.Sub(now); ahead > skewed {
				j.Ahead = int(ahead.Seconds())
			}
		}
	}
	list := make([]machineJSON, 0, len(all))
	for _, j := range all {
		list = append(list, *j)
	}
	slices.SortFunc(list, func(a, b machineJSON) int {
		return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}

// historian returns what knows the history of the portable notes, nil when
// nothing does.
func (p *program) historian(m *memory) (replica.Historian, error) {
	backend, err := m.Replica(app.SyncOptions{})
	if err != nil {
		return nil, err
	}
	h, _ := backend.(replica.Historian)
	return h, nil
}
