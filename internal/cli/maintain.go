package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"

	"github.com/spf13/cobra"
)

// The commands that look over the whole store and propose changes: dedup,
// migrate, backfill-provenance. Each shows its plan first and acts with --apply.

// maintainFlags are the flags of all of them.
func maintainFlags(cmd *cobra.Command, o *app.MaintainOptions) {
	cmd.Flags().BoolVar(&o.Apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&o.NoSync, "no-sync", false, "commit on this machine only")
}

func newDedup(p *program) *cobra.Command {
	var o app.MaintainOptions
	var everywhere bool
	cmd := &cobra.Command{
		Use:   "dedup",
		Short: "Remove notes that say the same, word for word",
		Long: `Find portable facts and how-tos that say the same (the same body, and for a short one
the same title) and remove all but one: a global note stays before one of a project,
then the oldest. The one that stays gets the tags, the evidence and the references of
the others. Notes of two projects are left alone, unless a global note says the same
or --across-projects is given.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "dedup", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (app.DedupAnswer, error) {
				return app.Dedup(ctx, r, o, everywhere)
			}, func(a app.DedupAnswer) { p.printDedup(a, o.NoSync) })
		},
	}
	maintainFlags(cmd, &o)
	cmd.Flags().BoolVar(&everywhere, "across-projects", false, "one note is enough for all projects")
	return cmd
}

func (p *program) printDedup(a app.DedupAnswer, noSync bool) {
	for _, d := range a.Duplicates {
		p.printf("dedup: remove %s [%s] dup of %s '%s'\n", p.short(d.ID), firstLine(d.Project, 60), p.short(d.Of), firstLine(d.Title, 60))
	}
	if !a.Applied {
		p.printf("dedup: %s would be removed%s\n", plural(len(a.Duplicates), "duplicate"), dryRun(len(a.Duplicates)))
		return
	}
	p.printf("dedup: removed %s; %s\n", plural(a.Removed, "duplicate"), endLine(*a.Sync, noSync))
	p.undoLine(a.Undo)
}

// endLine says how a change of many notes was committed or synced.
func endLine(s app.SyncResult, noSync bool) string {
	switch {
	case !noSync:
		return syncLine(s, false)
	case s.Committed:
		return "committed locally; reindexed (no sync)"
	}
	return "nothing to commit; reindexed (no sync)"
}

// dryRun says how to go on after a plan that has something in it.
func dryRun(n int) string {
	if n == 0 {
		return " (dry-run)"
	}
	return " (dry-run; pass --apply)"
}

func newMigrate(p *program) *cobra.Command {
	var o app.MaintainOptions
	var file string
	cmd := &cobra.Command{
		Use:   "migrate {OLD NEW | --map FILE}",
		Short: "Give the notes of a project another project key",
		Long: `Give the notes of a project another key, as after a repository moved. Only the line
of the project changes in each file. For many at once, --map reads a JSON object:

  {"projects": {"OLD": "NEW"}, "notes": {"ID": "NEW"}}

where single notes take precedence. To make two keys names of one project without
touching any note, use ` + "`anamnesis project alias`" + `.`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			moving, err := app.ReadMoving(p.stdin, file, args)
			if err != nil {
				return err
			}
			return run(p, cmd, "migrate", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (app.RepairAnswer, error) {
				return app.Migrate(ctx, r, o, moving)
			}, func(a app.RepairAnswer) {
				for _, l := range a.Plan {
					p.printf("migrate: %s [%s] '%s' -> '%s'\n", l.ID, l.Repair.Type, firstLine(l.From, 80), firstLine(l.To, 80))
				}
				if a.Applied {
					p.printf("migrate: applied %s; %s\n", plural(a.Changed, "change"), endLine(*a.Sync, o.NoSync))
					p.undoLine(a.Undo)
					return
				}
				p.printf("migrate: %s would change%s\n", plural(len(a.Plan), "note"),
					strings.Replace(dryRun(len(a.Plan)), "--apply", "--apply to write", 1))
			})
		},
	}
	maintainFlags(cmd, &o)
	cmd.Flags().StringVar(&file, "map", "", "read the renamings from `FILE`; - is standard input")
	return cmd
}

func newBackfill(p *program) *cobra.Command {
	var o app.MaintainOptions
	cmd := &cobra.Command{
		Use:   "backfill-provenance",
		Short: "Say who wrote notes that an old program marked as written by you",
		Long: `Find notes that say a person wrote them while their tags tell otherwise: captured
sessions, imports, distilled and merged notes. Only the line prov_source changes.
A note that names another source is never touched.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "backfill-provenance", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (app.RepairAnswer, error) {
				return app.BackfillProvenance(ctx, r, o)
			}, func(a app.RepairAnswer) {
				for _, l := range a.Plan {
					p.printf("backfill: %s [%s] -> prov_source=%s '%s'\n", l.ID, firstLine(l.Repair.Project, 60), l.To, firstLine(l.Repair.Title, 60))
				}
				if a.Applied {
					p.printf("backfill: rewrote %s; %s\n", plural(a.Changed, "note"), endLine(*a.Sync, o.NoSync))
					p.undoLine(a.Undo)
					return
				}
				p.printf("backfill: %s would change%s\n", plural(len(a.Plan), "note"), dryRun(len(a.Plan)))
			})
		},
	}
	maintainFlags(cmd, &o)
	return cmd
}

func newExpire(p *program) *cobra.Command {
	var o app.MaintainOptions
	cmd := &cobra.Command{
		Use:   "expire",
		Short: "Archive notes whose forget_after has passed",
		Long: `List the notes whose forget_after has passed: they are not recalled any more. With
--apply they are archived, as the background run does on its own (reflection.expire). A
note without forget_after, or with one that is no time, is permanent. Their history
stays, and ` + "`anamnesis archive undo`" + ` brings one back once its forget_after is gone or later.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "expire", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (curate.ExpireAnswer, error) {
				return curate.Expire(ctx, r, o)
			}, func(a curate.ExpireAnswer) {
				for _, n := range a.Notes {
					p.printf("expire: %s [%s] since %s '%s'\n", p.short(n.ID), firstLine(n.Project, 60), n.ForgetAfter, firstLine(n.Title, 60))
				}
				if a.Applied {
					p.printf("expire: archived %s; %s\n", plural(a.Archived, "note"), endLine(*a.Sync, o.NoSync))
					p.undoLine(a.Undo)
					return
				}
				p.printf("expire: %s would be archived%s\n", plural(len(a.Notes), "note"), dryRun(len(a.Notes)))
			})
		},
	}
	maintainFlags(cmd, &o)
	return cmd
}
