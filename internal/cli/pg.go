package cli

import (
	"cmp"
	"context"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/workspace"

	"github.com/spf13/cobra"
)

func newPG(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pg",
		Short: "Prepare and look after the database of a team",
		Long: `Prepare and look after the Postgres database over which a team shares notes
(docs/postgres.md). Its address is the setting team.dsn; for a command of the
database's owner give it in the environment of that command alone:

  REFLECT_PG_DSN=postgres://owner@host/anamnesis anamnesis team pg setup "The shop team"`,
	}
	cmd.AddCommand(newPGSetup(p), newPGMigrate(p), newPGStatus(p), newPGDoctor(p), newPGMembers(p), newPGAddMember(p), newPGRemoveMember(p),
		newPGRemoveNote(p), newPGTrust(p), newPGConflicts(p))
	return cmd
}

// pg calls a use case that needs the settings alone.
func pg[T any](p *program, command string, use func() (T, error), text func(T)) error {
	v, err := use()
	return render(p, command, v, err, text)
}

func newPGSetup(p *program) *cobra.Command {
	var o workspace.PGSetupOptions
	cmd := &cobra.Command{
		Use:   "setup NAME",
		Short: "Make the schema, and a workspace for a team",
		Long: `Bring the schema of the database to the latest version, and make a workspace, which
is the team's part of it, with you as its owner. Everything of it is repeatable:
with --id a workspace that is there gets the name and the owner. When there is one of
that name, another is made only with --new.

Exit codes: 0 done; 4 there is a workspace of that name.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return pg(p, "pg setup", func() (workspace.PGSetupAnswer, error) {
				o.Name = args[0]
				return workspace.PGSetup(cmd.Context(), p.cfg.Team.DSN, o)
			}, p.printPGSetup)
		},
	}
	cmd.Flags().StringVar(&o.Owner, "owner", "", "`LOGIN` that owns the workspace (default: that of the address)")
	cmd.Flags().StringVar(&o.ID, "id", "", "`UUID` of the workspace (default: a new one)")
	cmd.Flags().BoolVar(&o.New, "new", false, "make a workspace also when there is one of that name")
	return cmd
}

func (p *program) printPGSetup(a workspace.PGSetupAnswer) {
	p.printPGMigrated(a.Migrated)
	p.printf("the workspace of %s is %s, its owner %s\n", firstLine(a.Name, 200), a.Workspace, firstLine(a.Owner, 80))
	p.printPGGrant(a.Grant)
	p.printf("\nEach member then sets\n  anamnesis config set team.dsn ADDRESS\n  anamnesis config set team.workspace %s\n", a.Workspace)
}

func (p *program) printPGGrant(grant string) {
	if grant != "" {
		p.printf("an administrator of the server has to run\n  %s\n", grant)
	}
}

func newPGMigrate(p *program) *cobra.Command {
	var dry bool
	var to int
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the schema of the database to the latest version",
		Long: `Bring the schema of the database to the latest version, or with --to to another one.
Each step is a transaction, and one run does it at a time. Going down takes away what
the later version had added: --to 1 the members, --to -1 everything. The notes are files
of those who wrote them, and come back with the next background run.

Where the server has pgvector, or you may install it, the server compares vectors from
then on, and many vectors of the workspace in team.workspace get an HNSW index. Run it
again when the extension was installed later, or the workspace has grown.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pg(p, "pg migrate", func() (workspace.PGMigrated, error) {
				return workspace.PGMigrate(cmd.Context(), p.cfg.Team, dry, to)
			}, p.printPGMigrated)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done")
	cmd.Flags().IntVar(&to, "to", 0, "`VERSION` to go to; 0 is the latest, -1 takes everything away")
	return cmd
}

func (p *program) printPGMigrated(a workspace.PGMigrated) {
	for _, step := range a.Steps {
		p.printf("%s%s\n", map[bool]string{true: "would do: ", false: ""}[a.DryRun], step)
	}
	if len(a.Steps) == 0 {
		p.printf("the schema has version %d, and nothing is to do\n", a.To)
		return
	}
	if a.From != a.To {
		p.printf("the schema %s from version %d to %d\n", map[bool]string{true: "would go", false: "went"}[a.DryRun], a.From, a.To)
	}
}

func newPGStatus(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Tell how the database stands, and what you are in it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "pg status", now, workspace.PGStatusOf, p.printPGStatus)
		},
	}
}

func newPGDoctor(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look for what keeps the database from being used, or makes it unsafe",
		Long: `Check the server, the schema, your membership, the rules of rows, the name of this
machine and the mirror. A check that fails names the next command. It changes nothing.

Exit codes: 0 all checks pass; 1 the database does not answer; 5 a check failed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "pg doctor", now, workspace.PGDoctor, func(a workspace.PGStatus) {
				p.printPGStatus(a)
				for _, f := range a.Findings {
					p.printf("wrong: %s\n    %s\n", firstLine(f.What, 300), firstLine(f.Next, 300))
				}
				if len(a.Findings) == 0 {
					p.printf("nothing is wrong\n")
				}
			})
		},
	}
}

// vectorState says whether pgvector is there, and used.
func vectorState(a workspace.PGStatus) string {
	switch {
	case a.Vector == "":
		return "not installed"
	case !a.Compares:
		return firstLine(a.Vector, 20) + " (not used)"
	}
	return firstLine(a.Vector, 20)
}

func (p *program) printPGStatus(a workspace.PGStatus) {
	p.printf("PostgreSQL %s, pgvector %s, schema %d of %d, answered in %.0f ms\n", firstLine(a.Server, 60),
		vectorState(a), a.Version, a.Latest, a.TookMS)
	bypasses := map[bool]string{true: "; no rules of rows hold for this login: it sees all teams"}[a.Bypasses]
	p.printf("login %s, role %s%s\n", firstLine(a.Login, 80), cmp.Or(a.Role, "none"), bypasses)
	if a.Role == "" {
		return
	}
	p.printf("workspace %s: %s, %s, %s of index in all workspaces\n", a.Workspace, plural(a.Members, "member"), plural(int(a.Notes), "note"),
		size(a.Bytes))
	if a.MirrorAge > 0 {
		p.printf("mirrored up to change %d of %d, asked %s ago\n", a.Mirrored, a.Generation,
			time.Duration(a.MirrorAge*float64(time.Second)).Round(time.Second))
	} else {
		p.printf("nothing is mirrored here yet\n")
	}
}

func newPGMembers(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "members", Short: "List the members of the team", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return pg(p, "pg members", func() (workspace.PGMembersAnswer, error) {
				return workspace.PGMembers(cmd.Context(), p.cfg.Team)
			}, p.printPGMembers)
		},
	}
}

func newPGAddMember(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "add-member LOGIN ROLE",
		Short: "Make somebody a member of the team, or give a member another role",
		Long: `Make a login of the database a member of the team, or what a signed claim calls
somebody. A reader reads what is shared, a writer shares as well, an owner manages
members and takes notes of others away as well.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return pg(p, "pg add-member", func() (workspace.PGMembersAnswer, error) {
				return workspace.PGAddMember(cmd.Context(), p.cfg.Team, args[0], args[1])
			}, p.printPGMembers)
		},
	}
}

func newPGRemoveMember(p *program) *cobra.Command {
	var notes bool
	cmd := &cobra.Command{
		Use:   "remove-member LOGIN",
		Short: "Take somebody out of the team",
		Long: `Take somebody out of the team: they see nothing of it any more. What they shared
stays, unless --notes takes it away; the files on their machine stay theirs.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return pg(p, "pg remove-member", func() (workspace.PGMembersAnswer, error) {
				return workspace.PGRemoveMember(cmd.Context(), p.cfg.Team, args[0], notes)
			}, p.printPGMembers)
		},
	}
	cmd.Flags().BoolVar(&notes, "notes", false, "take away what they shared, too")
	return cmd
}

func newPGRemoveNote(p *program) *cobra.Command {
	var o workspace.PGRemoveOptions
	cmd := &cobra.Command{
		Use:   "remove-note ID",
		Short: "Take one note of whoever shares it away from the team",
		Long: `Take one note away from the team, of whoever shares it, for an owner: it goes from the
database and from the mirrors of all, and does not come back, also when it is edited,
until --undo returns it. The file stays its author's, whose ` + "`anamnesis team share`" + ` says who
took it away and why.

Exit codes: 0 done; 1 you are no owner, or the database does not answer; 3 nobody
shares a note of that id.`,
		Example: "  anamnesis team pg remove-note 9KQT --reason 'out of date since the move'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Note = args[0]
			return run(p, cmd, "pg remove-note", now, func(ctx context.Context, r *app.Rooms) (workspace.PGRemoved, error) {
				return workspace.PGRemoveNote(ctx, r, o)
			}, p.printPGRemoved)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Reason, "reason", "", "`TEXT` that its authors are shown")
	f.BoolVar(&o.Undo, "undo", false, "let the note be shared again")
	f.BoolVar(&o.DryRun, "dry-run", false, "say whose note it is, and change nothing")
	return cmd
}

func (p *program) printPGRemoved(a workspace.PGRemoved) {
	if a.Returned {
		may := map[bool]string{true: "would be free to be", false: "may be"}[a.DryRun]
		p.printf("%s %s shared again; it comes with the next run of who has it\n", a.ID, may)
		return
	}
	would := map[bool]string{true: "would be ", false: ""}[a.DryRun]
	p.printf("%s %staken away: %s\n", a.ID, would, firstLine(a.Title, 100))
	for _, f := range a.Forms {
		p.printf("  %s (%s), written %s\n", firstLine(f.Member, 80), firstLine(f.Origin, 120), f.Updated)
	}
}

func (p *program) printPGMembers(a workspace.PGMembersAnswer) {
	for _, m := range a.Members {
		state := ""
		switch {
		case !m.Login:
			state = "  by signed claims"
		case !m.Granted:
			state = "  not in the group anamnesis_" + m.Role
		}
		p.printf("%-8s %s, since %s%s\n", m.Role, firstLine(m.Name, 80), m.Since, state)
	}
	if a.Removed > 0 {
		p.printf("%s taken away\n", plural(a.Removed, "note"))
	}
	p.printPGGrant(a.Grant)
}

func newPGTrust(p *program) *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use:   "trust LOGIN",
		Short: "Trust a proxy login's signed identity",
		Long: `Let a login of the server speak for whom the signed claims of a request name
(request.jwt.claims): that of PostgREST or Supabase, which checks the signatures. The
claim sub is then the member and workspace_id the workspace. Of every other login the
claims say nothing about who it is.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return pg(p, "pg trust", func() (workspace.PGTrusted, error) {
				return workspace.PGTrust(cmd.Context(), p.cfg.Team.DSN, args[0], !off)
			}, func(a workspace.PGTrusted) {
				verb := map[bool]string{true: "speaks", false: "does not speak"}[a.Trusted]
				p.printf("%s %s for whom its signed claims name\n", firstLine(a.Login, 80), verb)
			})
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "take it off the list")
	return cmd
}

func newPGConflicts(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "conflicts",
		Short: "List notes that several machines share with different words",
		Long: `List notes that several machines share with different words. Each form is kept, and
everybody sees their own; sync these machines, or edit one of them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "pg conflicts", now, func(ctx context.Context, r *app.Rooms) (workspace.PGConflictsAnswer, error) {
				return workspace.PGConflicts(ctx, r)
			}, func(a workspace.PGConflictsAnswer) {
				for _, c := range a.Conflicts {
					p.printf("%s\n", c.ID)
					for _, f := range c.Forms {
						p.printf("  %s (%s), written %s\n", firstLine(f.Member, 80), firstLine(f.Origin, 120), f.Updated)
					}
				}
				if len(a.Conflicts) == 0 {
					p.note("no note is shared with different words")
				}
			})
		},
	}
}
