package cli

import (
	"context"
	"os"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/imports"

	"github.com/spf13/cobra"
)

func newSkills(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skills",
		Short: "List skills and match them to a text",
		Long: `Agents keep skills as files: SKILL.md, with a name and a description. Memory keeps an
index of those of all agents on this machine, of the user and of the projects that
sessions worked on. Their copies never leave the machine.

A skill counts as out of date when a note that backs it, by a tag of the skill, is newer
than its file. When notes say something else than a skill, or more, a patch of its file
waits in anamnesis review. The setting inject.skills.tier tells skills at session start.`,
		Example: `  anamnesis skills list
  anamnesis skills match 'deploy the staging server'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.skills(cmd, "") },
	}
	cmd.AddCommand(newSkillsList(p), newSkillsMatch(p), newSkillsRefresh(p), newSkillsUndo(p))
	return cmd
}

func newSkillsList(p *program) *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the skills that a session here has",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.skills(cmd, key) },
	}
	cmd.Flags().StringVar(&key, "project", "", "project `KEY` (default: the one of this folder)")
	return cmd
}

func (p *program) skills(cmd *cobra.Command, key string) error {
	return ask(p, cmd, "skills", func(ctx context.Context, r *app.Rooms) (app.SkillsAnswer, error) {
		return app.ListSkills(ctx, r, key)
	}, p.printSkills)
}

func newSkillsMatch(p *program) *cobra.Command {
	var key string
	var limit int
	cmd := &cobra.Command{
		Use:   "match TEXT...",
		Short: "Find the skills that a text is about",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usage("skills match: --limit %d: give a number from 1 on", limit)
			}
			return ask(p, cmd, "skills", func(ctx context.Context, r *app.Rooms) (app.SkillsAnswer, error) {
				return app.MatchSkills(ctx, r, key, strings.Join(args, " "), limit)
			}, p.printSkills)
		},
	}
	cmd.Flags().StringVar(&key, "project", "", "project `KEY` (default: the one of this folder)")
	cmd.Flags().IntVar(&limit, "limit", 5, "skills at most")
	return cmd
}

func (p *program) printSkills(a app.SkillsAnswer) {
	for _, s := range a.Skills {
		line := firstLine(s.Name, 40)
		if s.Score > 0 {
			p.printf("%3d  %s\n", s.Score, line)
		} else {
			p.printf("%s\n", line)
		}
		if s.Summary != "" {
			p.printf("     %s\n", firstLine(s.Summary, 100))
		}
		p.printf("     %s\n", firstLine(s.Path, 200))
		if s.Stale != "" {
			p.printf("     may be out of date: %s\n", firstLine(s.Stale, 120))
		}
	}
}

func newSkillsRefresh(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "refresh",
		Short: "Look for skills that are new, changed or gone; the background run does it too",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			return ask(p, cmd, "skills", func(ctx context.Context, r *app.Rooms) (imports.SkillChanges, error) {
				return app.RefreshSkills(ctx, r, []string{dir})
			}, func(c imports.SkillChanges) {
				p.printf("skills: %d new, %d changed, %d gone, %d unchanged\n", c.Added, c.Changed, c.Removed, c.Unchanged)
				for _, f := range c.Failed {
					p.printf("left out: %s\n", firstLine(f, 300))
				}
			})
		},
	}
}

func newSkillsUndo(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "undo PATCH",
		Short: "Give a skill back what it said before a patch was applied",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "skills", filesOnly, func(_ context.Context, r *app.Rooms) (curate.SkillUndone, error) {
				return curate.UndoSkill(r, args[0])
			}, func(a curate.SkillUndone) {
				p.printf("skills: %s restored\n", firstLine(a.File, 200))
			})
		},
	}
}
