package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/background"
	"anamnesis/internal/connect"
	"anamnesis/internal/replica"

	"github.com/spf13/cobra"
)

type syncOptions struct {
	allowDelete bool
	status      bool
	seal        bool
	resetFormat bool
	recover     string
	app.SealOptions
}

func newSync(p *program) *cobra.Command {
	var o syncOptions
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Exchange notes with your other machines",
		Long: `Commit every change of the portable notes to their git repository, take in what
the other machines did, merge it note by note, and send the result. Without a
remote the commit is all; add one with ` + "`anamnesis config set remote ADDRESS`" + `.
A remote that cannot be reached is no failure: the notes go with a later sync.
Notes of shared projects are then exchanged with the database of the team.
What machines without a store wrote is taken home first (index.server).

A note in which something looks like a secret stays here until you release it, and
so does one that was emptied or damaged outside of Anamnesis: ` + "`anamnesis review held`" + `.
A file that says that you vouch for it, when this machine does not know that, stays here
until you keep it: ` + "`anamnesis review keep ID`" + `.
What a merge could not decide waits in ` + "`anamnesis review conflicts`" + `.

A newer version of the program can ask that no older one writes the notes (memory/format.json).
--reset-format takes that back, here and at the remote: when none of your machines has
that version, because the file was damaged or somebody else put it there.

With --seal, once, the remote is one that cannot read: everything that goes there is
encrypted for your machines, names of files too. The first machine prints a recovery key,
which opens everything when all of them are lost; every other one a line that lets it in:
` + "`anamnesis log machines add LINE`" + ` on one that is in.

Exit codes: 0 synced, or offline (the line says so); 4 something waits for you;
75 another sync is at work.`,
		Example: `  anamnesis sync
  anamnesis sync --status
  anamnesis sync --seal`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.sync(cmd, o) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.allowDelete, "allow-delete", false, "let more than a fifth of the notes be deleted, forgotten or overwritten")
	f.BoolVar(&o.resetFormat, "reset-format", false, "remove what asks for a newer version of the program, here and at the remote")
	f.BoolVar(&o.status, "status", false, "tell how things stand, and sync nothing")
	f.BoolVar(&o.seal, "seal", false, "send nothing that the remote can read, from now on")
	f.StringVar(&o.recover, "recover", "", "with --seal: let this machine in with the recovery key in `FILE` (- for standard input)")
	f.BoolVar(&o.Replace, "replace", false,
		"with --seal: show what would be replaced of a remote that holds notes as they are, or what this machine cannot read")
	f.BoolVar(&o.Apply, "apply", false, "with --replace: replace it")
	cmd.MarkFlagsMutuallyExclusive("status", "allow-delete", "seal")
	cmd.MarkFlagsMutuallyExclusive("status", "reset-format", "seal")
	cmd.MarkFlagsMutuallyExclusive("recover", "replace")
	return cmd
}

func (p *program) sync(cmd *cobra.Command, o syncOptions) error {
	if o.status {
		return run(p, cmd, "sync", now, app.SyncStatus, p.printSyncStatus)
	}
	if !o.seal && (o.recover != "" || o.Replace) || o.Apply && !o.Replace {
		return usage("sync: --recover and --replace go with --seal, --apply with --replace")
	}
	if o.seal {
		return p.syncSealed(cmd, o)
	}
	if o.resetFormat {
		if err := app.ResetFormat(p.host()); err != nil {
			return err
		}
	}
	return run(p, cmd, "sync", now, func(ctx context.Context, r *app.Rooms) (app.SyncResult, error) {
		s, err := app.SyncWhole(ctx, r, app.SyncOptions{AllowDelete: o.allowDelete, ResetFormat: o.resetFormat})
		switch {
		case err != nil:
		case s.Busy:
			p.note("%s", s.Detail)
			err = &app.Error{Kind: app.Locked}
		case s.Conflicted:
			err = &app.Error{Kind: app.Conflict}
		}
		return s, err
	}, func(s app.SyncResult) {
		p.printf("sync: %s\n", syncSentence(s))
	})
}

// exchanged says what a sync sent and took in.
func exchanged(s app.SyncResult) string {
	took := "took in " + plural(s.Pulled, "commit")
	switch {
	case s.Pushed && s.Pulled > 0:
		return "sent, " + took
	case s.Pushed:
		return "sent"
	case s.Pulled > 0:
		return took
	}
	return "nothing to exchange"
}

// syncSentence says how a sync ended, and where the repository stands.
func syncSentence(s app.SyncResult) string {
	text := exchanged(s)
	if s.Conflicted {
		text += "; something waits for you"
	}
	if s.Head != "" {
		text += "; at " + s.Head
	}
	return text + " (" + s.Detail + ")"
}

// syncLine says in a line how a command that wrote something ended.
func syncLine(s app.SyncResult, noSync bool) string {
	switch {
	case !noSync && s.Offline:
		return "committed; the remote could not be reached"
	case !noSync:
		return "synced (" + exchanged(s) + ")"
	case s.Committed:
		return "committed locally (no sync)"
	}
	return "nothing to commit (no sync)"
}

func (p *program) printSyncStatus(s app.SyncState) {
	remote := s.Remote
	if remote == "" {
		remote = "none; `anamnesis config set remote ADDRESS` sets one"
	}
	p.printf("remote: %s%s\n", remote, map[bool]string{true: " (sealed: it cannot read)"}[s.Sealed])
	switch {
	case !s.Initialized:
		p.printf("here: %s\n", s.Detail)
	case s.Dirty:
		p.printf("here: %s, and changes that are not committed (%s)\n", s.Head, s.Detail)
	default:
		p.printf("here: %s (%s)\n", s.Head, s.Detail)
	}
	switch {
	case s.LastSync != "":
		p.printf("last sync: %s\n", s.LastSync)
	case s.Remote != "":
		p.printf("last sync: never\n")
	}
	p.printSyncState(s)
}

// printSyncState prints what does not go without saying.
func (p *program) printSyncState(s app.SyncState) {
	if s.Remote != "" && s.Ahead+s.Behind > 0 {
		p.printf("distance: %s to send, %s to take\n", plural(s.Ahead, "commit"), plural(s.Behind, "commit"))
	}
	if s.Offline {
		next := ""
		if s.NextTry != "" {
			next = fmt.Sprintf("; background runs try again after %s", s.NextTry)
		}
		p.printf("offline: %s failed%s; `anamnesis sync` tries now\n", plural(s.Failures, "attempt"), next)
	}
	switch {
	case s.State == replica.Held:
		p.printf("not taken: %s\n", s.StateText)
	case app.NeedsUser(s.State):
		p.printf("sync %s: %s\n", s.State, s.StateText)
	}
	for _, m := range s.Repelled {
		p.printf("revoked: %s wrote to the remote, as was found at %s, and nothing of it was taken; remove its access to the remote, then "+
			"`anamnesis log machines revoke %s`\n", printable(m.Machine), m.At.UTC().Format(time.RFC3339), connect.Quote(printable(m.Machine)))
	}
	for _, k := range replica.WithheldKinds(slices.DeleteFunc(slices.Clone(s.Held), app.LostText)) { // another line counts those
		p.printf("not sent: %s; `anamnesis review held` shows what\n", printable(k.String()))
	}
	if s.Conflicts > 0 {
		p.printf("conflicts: %d to decide; `anamnesis review conflicts` lists them\n", s.Conflicts)
	}
}

func newDrain(p *program) *cobra.Command {
	var sync, team bool
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Finish the work that hooks left behind",
		Long: `Capture the sessions that hooks left in the spool, bring the index into step
with the files, commit. Hooks start it in the background; it is safe to run at
any time, to run twice at once (the second leaves), and to kill.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p.lasting = true // to calibrate is to ask hundreds
			return run(p, cmd, "drain", now, func(ctx context.Context, r *app.Rooms) (background.DrainResult, error) {
				if team {
					return background.DrainTeam(ctx, r)
				}
				return background.Drain(ctx, r, sync)
			}, p.printDrained)
		},
	}
	cmd.Flags().BoolVar(&sync, "sync", false, "sync with the remote when done")
	cmd.Flags().BoolVar(&team, "team", false, "only exchange notes with the database of a team")
	cmd.MarkFlagsMutuallyExclusive("sync", "team")
	return cmd
}

func (p *program) printDrained(d background.DrainResult) {
	if d.Busy {
		p.printf("drain: another drain is at work\n")
		return
	}
	p.printf("drain: %s captured (%d without content), %d failed, %d left; %s indexed\n",
		plural(d.Captured, "session"), d.Trivial, len(d.Failed), d.Left, plural(d.Indexed, "note"))
	if d.Summarised > 0 {
		p.printf("drain: summarised %s of earlier sessions\n", plural(d.Summarised, "note"))
	}
	if d.Reflected > 0 {
		p.printf("drain: auto-reflected %s\n", plural(d.Reflected, "note"))
	}
	for _, f := range d.Failed {
		p.note("%s", f)
	}
}
