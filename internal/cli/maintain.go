package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

// The commands that look over the whole store and propose changes: dedup,
// migrate, backfill-provenance. Each shows its plan first and acts with --apply.

// maintainOptions are the flags of all of them.
type maintainOptions struct {
	apply, noSync bool
}

func (o *maintainOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&o.noSync, "no-sync", false, "commit on this machine only")
}

// A batch is a change of many notes that one command takes back.
type batch struct {
	p     *program
	m     *memory
	began time.Time
	ended time.Time // before anything was synced: what comes from elsewhere is not taken back
}

func (p *program) batch(m *memory) *batch { return &batch{p: p, m: m, began: m.Store.Now()} }

// undo returns the command that gives every note the form it had before.
func (b *batch) undo() string {
	const form = "2006-01-02T15:04:05.000Z"
	return "anamnesis restore --since " + b.began.UTC().Format(form) + " --until " + b.ended.UTC().Format(form) + " --apply"
}

// finish commits or syncs what was changed, and says which.
func (b *batch) finish(ctx context.Context, noSync bool) (string, app.SyncResult, error) {
	b.ended = b.m.Store.Now()
	s, err := app.Sync(ctx, b.m.Rooms, app.SyncOptions{Remote: !noSync})
	if err != nil {
		return "", s, err
	}
	switch {
	case !noSync:
		return syncLine(s, false), s, nil
	case s.Committed:
		return "committed locally; reindexed (no sync)", s, nil
	}
	return "nothing to commit; reindexed (no sync)", s, nil
}

func newDedup(p *program) *cobra.Command {
	var o maintainOptions
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
			m, err := p.openWhole(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			plan, err := m.Ingester.PlanDedup(cmd.Context(), everywhere)
			if err != nil {
				return err
			}
			return p.dedup(cmd.Context(), m, plan, o)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVar(&everywhere, "across-projects", false, "one note is enough for all projects")
	return cmd
}

func (p *program) dedup(ctx context.Context, m *memory, plan []ingest.Duplicate, o maintainOptions) error {
	type pair struct {
		ID      note.ID `json:"id"`
		Project string  `json:"project"`
		Title   string  `json:"title"`
		Of      note.ID `json:"duplicate_of"`
	}
	answer := struct {
		header
		Applied    bool   `json:"applied"`
		Duplicates []pair `json:"duplicates"`
		Removed    int    `json:"removed"`
		ended
	}{header: head("dedup"), Applied: o.apply, Duplicates: []pair{}}
	for _, d := range plan {
		answer.Duplicates = append(answer.Duplicates, pair{d.Drop.ID, d.Drop.Project, d.Drop.Title, d.Keep.ID})
		p.say("dedup: remove %s [%s] dup of %s '%s'\n", d.Drop.ID, firstLine(d.Drop.Project, 60), d.Keep.ID, firstLine(d.Drop.Title, 60))
	}
	if !o.apply {
		if p.json {
			return p.emit(answer)
		}
		p.printf("dedup: %d duplicate(s) would be removed%s\n", len(plan), dryRun(len(plan)))
		return nil
	}
	n, end, how, err := p.apply(ctx, m, o.noSync, func() (int, error) { return m.Ingester.Dedup(ctx, plan) })
	if err != nil {
		return err
	}
	answer.Removed, answer.ended = n, end
	if p.json {
		return p.emit(answer)
	}
	p.printf("dedup: removed %d duplicate(s); %s\n", n, how)
	p.undoLine(end.Undo)
	return nil
}

// ended is how a change of many notes ended.
type ended struct {
	Undo string          `json:"undo,omitempty"`
	Sync *app.SyncResult `json:"sync,omitempty"`
}

// apply carries a plan out, and commits or syncs what it changed.
func (p *program) apply(ctx context.Context, m *memory, noSync bool, change func() (int, error)) (n int, end ended, how string, err error) {
	b := p.batch(m)
	if n, err = change(); err != nil {
		return n, end, "", err
	}
	how, s, err := b.finish(ctx, noSync)
	if err != nil {
		return n, end, "", err
	}
	end.Sync = &s
	if n > 0 {
		end.Undo = b.undo()
	}
	return n, end, how, nil
}

// dryRun says how to go on after a plan that has something in it.
func dryRun(n int) string {
	if n == 0 {
		return " (dry-run)"
	}
	return " (dry-run; pass --apply)"
}

func newMigrate(p *program) *cobra.Command {
	var o maintainOptions
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
			moving, err := readMoving(p.stdin, file, args)
			if err != nil {
				return err
			}
			m, err := p.openWhole(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			plan, err := m.Ingester.PlanMove(cmd.Context(), moving)
			if err != nil {
				return err
			}
			return p.repair(cmd.Context(), m, plan, o, wording{
				command: "migrate",
				row: func(r ingest.Repair) string {
					return fmt.Sprintf("%s [%s] '%s' -> '%s'", r.ID, r.Type, firstLine(r.From, 80), firstLine(r.To, 80))
				},
				would: "migrate: %d note(s) would change%s\n",
				done:  "migrate: applied %d change(s); %s\n",
				more:  " (dry-run; pass --apply to write)",
			})
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&file, "map", "", "read the renamings from `FILE`; - is standard input")
	return cmd
}

// readMoving reads the renamings from the file or the two arguments.
func readMoving(stdin io.Reader, file string, args []string) (ingest.Moving, error) {
	m := ingest.Moving{Projects: map[string]string{}, Notes: map[note.ID]string{}}
	switch {
	case file == "" && len(args) == 2:
		m.Projects[args[0]] = args[1]
		return m, checkMoving(m)
	case file == "" || len(args) > 0:
		return m, usage("migrate: give OLD and NEW, or --map FILE")
	}
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return m, fmt.Errorf("read the map: %w", err)
		}
		defer f.Close()
		in = f
	}
	var doc struct {
		Projects map[string]string `json:"projects"`
		Notes    map[string]string `json:"notes"`
	}
	dec := json.NewDecoder(io.LimitReader(in, 64<<20))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return m, usage("migrate: read the map %s: %w; it is {\"projects\": {\"OLD\": \"NEW\"}, \"notes\": {\"ID\": \"NEW\"}}", file, err)
	}
	for from, to := range doc.Projects {
		m.Projects[from] = to
	}
	for name, to := range doc.Notes {
		id, err := note.ParseID(name)
		if err != nil {
			return m, usage("migrate: the map %s: %w", file, err)
		}
		m.Notes[id] = to
	}
	return m, checkMoving(m)
}

func checkMoving(m ingest.Moving) error {
	for from, to := range m.Projects {
		if from == "" || to == "" {
			return usage("migrate: a project key is empty: %q to %q", from, to)
		}
	}
	for id, to := range m.Notes {
		if to == "" {
			return usage("migrate: the new project key of %s is empty", id)
		}
	}
	return nil
}

func newBackfill(p *program) *cobra.Command {
	var o maintainOptions
	cmd := &cobra.Command{
		Use:   "backfill-provenance",
		Short: "Say who wrote notes that an old program marked as written by you",
		Long: `Find notes that say a person wrote them while their tags tell otherwise: captured
sessions, imports, distilled and merged notes. Only the line prov_source changes.
A note that names another source is never touched.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := p.openWhole(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			plan, err := m.Ingester.PlanProvenance(cmd.Context())
			if err != nil {
				return err
			}
			return p.repair(cmd.Context(), m, plan, o, wording{
				command: "backfill-provenance",
				row: func(r ingest.Repair) string {
					return fmt.Sprintf("%s [%s] -> prov_source=%s '%s'", r.ID, firstLine(r.Project, 60), r.To, firstLine(r.Title, 60))
				},
				would: "backfill: %d note(s) would change%s\n",
				done:  "backfill: rewrote %d note(s); %s\n",
				more:  " (dry-run; pass --apply)",
			})
		},
	}
	o.addFlags(cmd)
	return cmd
}

// A wording is what a command says about its repairs.
type wording struct {
	command     string
	row         func(ingest.Repair) string
	would, done string // number, and what comes after it
	more        string
}

// repair shows a plan of repairs, and carries it out with --apply.
func (p *program) repair(ctx context.Context, m *memory, plan []ingest.Repair, o maintainOptions, w wording) error {
	type line struct {
		ID   note.ID `json:"id"`
		Key  string  `json:"key"`
		From string  `json:"from"`
		To   string  `json:"to"`
	}
	answer := struct {
		header
		Applied bool   `json:"applied"`
		Plan    []line `json:"plan"`
		Changed int    `json:"changed"`
		ended
	}{header: head(w.command), Applied: o.apply, Plan: []line{}}
	prefix := "migrate"
	if w.command != prefix {
		prefix = "backfill"
	}
	for _, r := range plan {
		answer.Plan = append(answer.Plan, line{r.ID, r.Key, r.From, r.To})
		p.say("%s: %s\n", prefix, w.row(r))
	}
	if !o.apply {
		if p.json {
			return p.emit(answer)
		}
		more := w.more
		if len(plan) == 0 {
			more = " (dry-run)"
		}
		p.printf(w.would, len(plan), more)
		return nil
	}
	n, end, how, err := p.apply(ctx, m, o.noSync, func() (int, error) { return m.Ingester.Repair(ctx, plan) })
	if err != nil {
		return err
	}
	answer.Changed, answer.ended = n, end
	if p.json {
		return p.emit(answer)
	}
	p.printf(w.done, n, how)
	p.undoLine(end.Undo)
	return nil
}
