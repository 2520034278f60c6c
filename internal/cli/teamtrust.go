package cli

import (
	"cmp"
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newTeamTrust(p *program) *cobra.Command {
	off := false
	cmd := &cobra.Command{
		Use:   "trust [NAME | ID]",
		Short: "List teammates, and trust one of them",
		Long: `List who shares notes with you, and how it is proven who they are: by the login that
the team's database wrote down for a row, or by the key of the signature of the commit
that last changed the file in the team's repository, verified with your own git
configuration. A name in a note or a commit proves nothing.

With a NAME or an ID of that list, trust a teammate: from then on the triggers of their
notes count, and their rules are shown before the commands and files that they are about,
with their name. Their notes stay under "From your team". --off takes the trust back, at
once; so does ` + "`anamnesis undo`" + `. Only you can do either, at a terminal.

The trust holds on this machine. It is in no file that travels.

Exit codes: 0 done, or listed; 3 no such teammate, or nothing proves who they are; 4
several teammates have that name.`,
		Example: `  anamnesis team trust
  anamnesis team trust alice
  anamnesis team trust alice --off`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && off {
				return usage("team trust --off: whom? `anamnesis team trust` lists the teammates")
			}
			if len(args) == 0 {
				return ask(p, cmd, "team trust", app.Teammates, p.printTeammates)
			}
			return run(p, cmd, "team trust", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.TeammatesAnswer, error) {
				return app.TrustTeammate(ctx, r, args[0], !off)
			}, p.printTrusted)
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "trust them no longer")
	return cmd
}

func (p *program) printTeammates(a app.TeammatesAnswer) {
	for _, v := range a.Teammates {
		p.printf("%s: %s, %s", firstLine(v.Name, 60), provenance(v), plural(v.Notes, "note"))
		if len(v.Calls) > 0 {
			p.printf("; called %s in notes and commits", firstLine(strings.Join(v.Calls, ", "), 120))
		}
		switch {
		case v.Trusted:
			p.printf("; trusted since %s", printable(v.Since))
		case v.ID != "":
			p.printf("; not trusted")
		}
		p.printf("\n")
	}
	if len(a.Teammates) == 0 {
		p.note("no notes of teammates are known here; `anamnesis help teams` shows how to share")
	}
}

// provenance says how it is proven who a teammate is.
func provenance(v app.TeammateView) string {
	what := map[string]string{app.ProvenLogin: "by login", app.ProvenKey: "by signature"}[v.Proven]
	if what == "" {
		return "nothing proves who this is"
	}
	return cmp.Or(what, v.Proven) + " (" + firstLine(v.ID, 200) + ")"
}

func (p *program) printTrusted(a app.TeammatesAnswer) {
	for _, v := range a.Changed {
		if v.Trusted {
			p.printf("%s is trusted, %s: the triggers of their notes count from now on; `anamnesis undo` takes it back\n",
				firstLine(v.Name, 60), provenance(v))
		} else {
			p.printf("%s is not trusted any more, %s: no trigger of their notes counts from now on\n", firstLine(v.Name, 60), provenance(v))
		}
	}
	if len(a.Changed) == 0 {
		p.note("that is so already")
	}
}

// printTrustedTeammates prints a line of status for each.
func (p *program) printTrustedTeammates(all []store.Teammate) {
	for _, t := range all {
		p.printf("trusted teammate: %s (%s); the triggers of their notes count\n", firstLine(t.Name, 60), firstLine(t.ID, 200))
	}
}
