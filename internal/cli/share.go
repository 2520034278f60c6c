package cli

import (
	"cmp"
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/team/repo"

	"github.com/spf13/cobra"
)

type shareOptions struct {
	repo bool
	app.ShareOptions
}

func newShare(p *program) *cobra.Command {
	var o shareOptions
	cmd := &cobra.Command{
		Use:   "share [PROJECT...] | --repo [PROJECT | ID...]",
		Short: "Share notes with a team",
		Long: `Share the notes of projects with a team, over its Postgres database
(` + "`anamnesis config set team.dsn ADDRESS`" + ` and team.workspace ID; docs/postgres.md): what
is shared then goes with each background run, and what others share is found here.
"." is the project of the current folder. Without a name it lists what is shared,
what stays here and why, and whose notes are known here.

With --repo, exchange notes with the git repository that your team reviews: first take in
what was reviewed there (each background run does so, too), then offer the notes of
projects, or single notes, to it (` + "`anamnesis config set team.repo.address ADDRESS`" + `; docs/team.md). A
note of high confidence goes to a branch, or to the default branch where you allow
that; one of medium confidence goes to a separate branch with a draft request,
which your own gh or glab opens; one of low confidence goes nowhere, it waits in
` + "`anamnesis review`" + `. Nothing is forced: what the team changed in a note stays, and is
merged with what you changed.

Global and machine-local notes never go, and a note that holds a secret is held
back. --dry-run says what would go, and changes nothing.

Exit codes: 0 shared, offered, or nothing to do; with --repo 4 notes are held back, 5
the repository could not be reached, or did not take a note, 75 another share is at work.`,
		Example: `  anamnesis team share .
  anamnesis team share --stop payments
  anamnesis team share --repo --dry-run
  anamnesis team share --repo 9KQT`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.share(cmd, o, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.repo, "repo", false, "to the git repository of the team")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would go where, and change nothing")
	f.StringArrayVar(&o.Stop, "stop", nil, "share the notes of `PROJECT` no longer")
	f.StringVar(&o.Origin, "origin", "", "`new` or keep: this machine gets a separate name in the team's database, or keeps the old one, "+
		"when a copy of it shares under the same")
	f.BoolVar(&o.Again, "again", false, "look at every shared note again, as after a new rule of what is a secret")
	return cmd
}

func (p *program) share(cmd *cobra.Command, o shareOptions, names []string) error {
	if !o.repo {
		if o.Origin != "" && o.DryRun {
			return usage("share: --origin excludes --dry-run")
		}
		o.Add = names
		return p.shareProjects(cmd, o.ShareOptions)
	}
	if len(o.Stop) > 0 || o.Again || o.Origin != "" {
		return usage("share: --stop, --again and --origin are about the team's database, and exclude --repo")
	}
	return run(p, cmd, "share", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (app.ShareRepoAnswer, error) {
		return app.ShareRepo(ctx, r, names, o.DryRun)
	}, p.printShared)
}

func (p *program) printShared(a app.ShareRepoAnswer) {
	p.printReviewed(a.Taken)
	if len(a.Notes) == 0 {
		p.note("share: there are no notes to offer")
		return
	}
	for _, it := range a.Notes {
		p.printf("%s  %s\n", p.short(it.ID), firstLine(it.Title, 70))
		p.printf("    %s\n", sharedSentence(it))
		if it.Why != "" {
			p.printf("    %s\n", firstLine(it.Why, 400))
		}
		if len(it.Both) > 0 {
			p.printf("    you and the team both changed: %s; the later change stands\n", firstLine(strings.Join(it.Both, ", "), 200))
		}
	}
	if a.DryRun {
		p.printf("share: %s would go, %d held back, %d wait for you; nothing was changed\n", plural(a.Count(repo.Planned), "note"),
			a.Count(repo.Held), a.Count(repo.Queued))
		return
	}
	p.printf("share: %s pushed, %d unchanged, %d held back, %d wait for you", plural(a.Count(repo.Pushed), "note"), a.Count(repo.Unchanged),
		a.Count(repo.Held), a.Count(repo.Queued))
	if n := a.Count(repo.Failed, repo.Later, repo.Declined); n > 0 {
		p.printf(", %d not taken", n)
	}
	p.printf("\n")
}

// printReviewed says what came from the team's repository.
func (p *program) printReviewed(t app.RepoTaken) {
	for _, id := range t.Home {
		p.printf("%s  a change by the review waits: `anamnesis review`\n", p.short(id))
	}
	for _, h := range t.Left {
		p.printf("  a note of the repository was left out (%s): %s\n", firstLine(string(h.ID), 60), firstLine(h.Why, 200))
	}
	if t.Put+t.Dropped+len(t.Home) > 0 {
		p.printf("from the repository: %s of others taken in, %d no longer there, %d of yours changed\n", plural(t.Put, "note"), t.Dropped,
			len(t.Home))
	}
}

// sharedSentence says what became of a note.
func sharedSentence(it repo.Item) string {
	to := map[string]string{
		repo.ToBranch: "the branch " + it.Branch, repo.ToDefault: "the default branch", repo.ToRequest: "a draft request, branch " + it.Branch,
	}[it.Route]
	confidence := cmp.Or(it.Confidence, "unknown") + " confidence: "
	switch it.State {
	case repo.Planned:
		return confidence + "would go to " + to
	case repo.Pushed:
		if it.Request != "" {
			return confidence + "pushed to " + it.Branch + ", " + firstLine(it.Request, 300)
		}
		return confidence + "pushed to " + it.Branch
	case repo.Unchanged:
		if it.Request != "" {
			return confidence + "nothing new for " + it.Branch + ", " + firstLine(it.Request, 300)
		}
		return confidence + "nothing new for " + it.Branch
	case repo.Queued:
		return confidence + "stays here"
	case repo.Held:
		return "held back"
	case repo.Failed:
		return confidence + "not pushed to " + it.Branch
	case repo.Declined:
		return confidence + "not offered again"
	}
	return confidence + "not offered yet"
}
