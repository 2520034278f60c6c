package cli

import (
	"context"
	"io"
	"os"

	"anamnesis/internal/app"
	"anamnesis/internal/connect"

	"github.com/spf13/cobra"
)

// maxKeyFile is how many bytes of the file of a recovery key are read.
const maxKeyFile = 64 << 10

// syncSealed makes this machine send sealed, and syncs.
func (p *program) syncSealed(cmd *cobra.Command, o syncOptions) error {
	if o.recover != "" {
		in := p.stdin
		if o.recover != "-" {
			f, err := os.Open(o.recover)
			if err != nil {
				return usage("sync: the recovery key: %w", err)
			}
			defer f.Close()
			in = f
		}
		text, err := io.ReadAll(io.LimitReader(in, maxKeyFile))
		if err != nil {
			return usage("sync: the recovery key: %w", err)
		}
		o.Recovery = string(text)
	}
	return run(p, cmd, "sync", now, func(ctx context.Context, r *app.Rooms) (s app.SyncResult, err error) {
		a, err := app.Seal(ctx, r, o.SealOptions)
		if err != nil || o.Replace && !o.Apply {
			s.Held, s.Seal = []app.WithheldFile{}, &a
			return s, err
		}
		s, err = app.SyncWhole(ctx, r, app.SyncOptions{AllowDelete: o.allowDelete})
		if s.Seal = &a; err == nil && s.Conflicted {
			err = &app.Error{Kind: app.Conflict}
		}
		return s, err
	}, func(s app.SyncResult) {
		p.printSealed(*s.Seal)
		switch {
		case o.Replace && !o.Apply:
			p.printf("sync: %s of the remote would be replaced by what it cannot read; nothing was changed, --apply does it.\n",
				plural(s.Seal.Replaces, "file"))
			if s.Seal.Group == "" { // it holds notes as they are
				p.printf("The host may keep the old history for a while; a new empty repository is safer.\n")
			}
		case s.Seal.Request == "":
			p.printf("sync: %s\n", syncSentence(s))
		}
	})
}

// printSealed prints what has to be kept, or done on another machine.
func (p *program) printSealed(a app.SealAnswer) {
	if a.Recovery != "" {
		p.printRecovery(a.Recovery)
	}
	if a.Request != "" {
		p.printf("sealed: this machine may not read the remote yet. On one that may:\n\n  anamnesis log machines add %s\n\n"+
			"Then `anamnesis sync` here.\n", connect.Quote(a.Request))
	}
	if a.Group != "" {
		p.printf("sealed: for %s; all your machines say the same name\n", a.Group)
	}
}

func (p *program) printRecovery(key string) {
	p.printf("sealed: this is the recovery key. It opens everything when all your machines are lost, and is shown only now.\n"+
		"Keep it where no hub is, on paper or in a password manager:\n\n  %s\n\n", key)
}

func newMachinesAdd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "add LINE",
		Short: "Let a machine read a sealed remote",
		Long: `Let another machine read what is sealed, by the line that ` + "`anamnesis sync --seal`" + ` prints
there. Everything is sealed once more for it. Both then say the same name of the group.`,
		Example: `  anamnesis log machines add 'age1….….laptop'`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "machines", filesOnly, func(ctx context.Context, r *app.Rooms) (app.MachineChange, error) {
				return app.AddMachine(ctx, r, args[0])
			}, func(c app.MachineChange) {
				p.printf("machines: %s may read; run `anamnesis sync` there, and see that it says %s\n", printable(c.Name), c.Group)
			})
		},
	}
}

func newMachinesRevoke(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Let a machine read a sealed remote no more",
		Long: `Seal everything once more, for all machines but this one, and do so from then on. What
the machine has read it keeps, and it can open what stood at the remote until now, if it
gets at a copy: change the secrets that it knew.

Remove its access to the remote too: its ssh key, its token, its account there. A machine
that may still write there can put the remote back to an older state. What it writes is not
taken, and the next sync of a machine that knows of this writes the newer list back. A
machine that has not synced since does not know of the revocation and still seals for it:
sync all your machines. Run the command again once you have removed the access, and
` + "`anamnesis status`" + ` stops naming the machine.`,
		Example: `  anamnesis log machines revoke laptop`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "machines", filesOnly, func(ctx context.Context, r *app.Rooms) (app.MachineChange, error) {
				return app.RevokeMachine(ctx, r, args[0])
			}, func(c app.MachineChange) {
				p.printf("machines: %s is out: what machines send that know of it, it cannot read. It has, and keeps, what it read before, and\n"+
					"opens copies of what the remote held until now: change the secrets that it knew\n"+
					"Remove its access to the remote as well (its ssh key, token or account), and run `anamnesis sync` on your other machines:\n"+
					"while it may write there it can put the remote back, and one that has not heard of this seals for it too\n", printable(c.Name))
			})
		},
	}
}

func newMachinesRecovery(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "recovery",
		Short: "Make a new recovery key of a sealed remote",
		Long: `Make a recovery key in place of the one that was, which opens nothing that is sent from
then on. The new one is shown once.`,
		Example: `  anamnesis log machines recovery`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "machines", filesOnly, app.RenewRecovery, func(c app.MachineChange) { p.printRecovery(c.Recovery) })
		},
	}
}
