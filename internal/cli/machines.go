package cli

import (
	"fmt"
	"time"

	"anamnesis/internal/app"

	"github.com/spf13/cobra"
)

func newMachines(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "machines",
		Short: "Tell which machines write notes, and when they were last seen",
		Long: `List every machine that wrote a note or a commit: how many of each, when its last
commit was made, and how many of its commits the remote does not have yet. A
machine whose commits come from the future has a clock that is ahead; when two
machines change one field, the later change wins, so clocks should be right.

Of a remote that cannot read (` + "`anamnesis sync --seal`" + `) it lists who may, and add and revoke change that.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return ask(p, cmd, "machines", app.Machines, p.printMachines)
		},
	}
	cmd.AddCommand(newMachinesAdd(p), newMachinesRevoke(p), newMachinesRecovery(p))
	return cmd
}

func (p *program) printMachines(a app.MachinesAnswer) {
	for _, m := range a.Machines {
		here, last, more := "", "never committed", ""
		if m.Here {
			here = " (this machine)"
		}
		if m.Last != "" {
			last = "last seen " + m.Last
		}
		if m.Waiting > 0 {
			more = fmt.Sprintf(", %s not sent", plural(m.Waiting, "commit"))
		}
		p.printf("%s%s: %s, %s%s, %s\n", firstLine(m.Name, 64), here, plural(m.Notes, "note"), plural(m.Commits, "commit"), more, last)
		if m.Ahead > 0 {
			p.printf("  its clock is ahead by %s: later changes of others lose against its own; set the clock\n", time.Duration(m.Ahead)*time.Second)
		}
	}
	if len(a.Readers) > 0 {
		p.printf("sealed for %s; who may read:\n", a.Group)
	}
	for _, m := range a.Readers {
		p.printf("  %s%s, since %s\n", firstLine(m.Name, 64), map[bool]string{true: " (this machine)"}[m.Here], m.Since)
	}
	if len(a.Machines) == 0 {
		p.note("nobody has written a note yet")
	}
	p.printSyncState(a.State)
}
