package cli

import (
	"context"
	"fmt"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"

	"github.com/spf13/cobra"
)

func newHistory(p *program) *cobra.Command {
	var limit int
	var runs bool
	cmd := &cobra.Command{
		Use:   "history [ID]",
		Short: "List what changed, and when",
		Long: `List the changes of a note, newest first: the former forms that this machine keeps,
and the commits of all machines. Without an ID, the commits of all notes. The
second column names a form for diff and restore. --runs lists what reflect, merge
and import did on this machine, for ` + "`anamnesis undo`" + `.`,
		Example: `  anamnesis log history 9KQT
  anamnesis log diff 9KQT@3f9c2ab
  anamnesis restore 9KQT@3f9c2ab`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usage("history: --limit %d: give 0 for all, or a number", limit)
			}
			if runs && len(args) > 0 {
				return usage("history: --runs is about all notes; leave the ID out")
			}
			if runs {
				return run(p, cmd, "history", filesOnly, func(_ context.Context, r *app.Rooms) (history.RunsAnswer, error) {
					return history.Runs(r, limit)
				}, p.printRuns)
			}
			return ask(p, cmd, "history", func(ctx context.Context, r *app.Rooms) (history.Answer, error) {
				return history.History(ctx, r, strings.Join(args, ""), limit)
			}, p.printHistory)
		},
	}
	cmd.Flags().BoolVar(&runs, "runs", false, "list the runs that can be undone")
	cmd.Flags().IntVar(&limit, "limit", 20, "changes at most; 0 means all")
	return cmd
}

func (p *program) printRuns(a history.RunsAnswer) {
	for _, r := range a.Runs {
		p.printf("%s  %s  %-8s %s\n", printable(r.At), r.ID, printable(r.What), plural(r.Notes, "note"))
	}
	if len(a.Runs) == 0 {
		p.note("no run has written anything on this machine")
	}
}

func (p *program) printHistory(a history.Answer) {
	for _, c := range a.Changes {
		files := ""
		if a.ID == "" && len(c.Paths) > 0 {
			files = " · " + plural(len(c.Paths), "file")
		}
		before := fmt.Sprintf("%s  %-34s %-8s ", c.At, c.Rev, c.Kind)
		p.printf("%s%s%s\n", before, p.rest(before+files, c.What, 80), files)
	}
	switch {
	case a.Uncommitted && len(a.Changes) == 0:
		p.note("no commit has the note yet, and no former form of it was kept here; `anamnesis sync` commits it")
	case a.Uncommitted:
		p.note("the note was changed since its last commit; `anamnesis sync` commits it")
	case len(a.Changes) == 0:
		p.note("no former form and no commit is known")
	}
}

func newDiff(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "diff ID[@REV] [ID[@REV]|REV]",
		Short: "Compare two forms of a note, or two notes",
		Long: `Compare two forms of a note, or two notes. Lines with - are in the first only, lines
with + in the second only. REV is a name of ` + "`anamnesis log history`" + `. A single ID@REV
is compared with the note as it stands; a single ID shows its last change.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(p, cmd, "diff", func(ctx context.Context, r *app.Rooms) (history.DiffAnswer, error) {
				return history.Diff(ctx, r, args[0], strings.Join(args[1:], ""))
			}, func(a history.DiffAnswer) {
				if p.verbatim(a.Diff); a.Diff == "" {
					p.note("%s and %s are equal", a.From, a.To)
				}
			})
		},
	}
}
