package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/imports"

	"github.com/spf13/cobra"
)

// newImport gathers the ways in which other memories come in.
func newImport(p *program) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Take in what other memories hold",
		Long: `Take in what other memories hold. Each shows what it would do; --apply does it. What
you edited, archived or forgot here stays as it is, however often it comes.

Without a subcommand it takes in what agents remember by themselves, and syncs.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.apply = true // as the program before this one did
			return p.importNative(cmd.Context(), "import", imports.NativeOptions{}, o)
		},
	}
	cmd.Flags().StringVar(&o.claude, "claude-home", "", "`FOLDER` of Claude Code (default: the setting claude_home)")
	cmd.Flags().BoolVar(&o.noSync, "no-sync", false, "commit on this machine only")
	cmd.AddCommand(newImportNative(p), newImportTranscripts(p), newImportReflect(p), newImportBundle(p))
	return cmd
}

type importOptions struct {
	maintainOptions
	claude string
	all    bool
}

func (o *importOptions) addFlags(cmd *cobra.Command) {
	o.maintainOptions.addFlags(cmd)
	cmd.Flags().BoolVar(&o.all, "all", false, "list what stays as it is, too")
}

func newImportNative(p *program) *cobra.Command {
	var o importOptions
	var n imports.NativeOptions
	cmd := &cobra.Command{
		Use:   "native",
		Short: "Take in what Claude Code and Codex remember by themselves",
		Long: `Take in the memories that agents keep for themselves: the files below
~/.claude/projects/*/memory, and ~/.codex/memories. Every sync does it too, unless
ANAMNESIS_IMPORT_NATIVE=0. docs/imports.md says what becomes what.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.importNative(cmd.Context(), "import native", n, o)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&n.Agent, "agent", "", "of one agent: claude or codex")
	cmd.Flags().StringVar(&n.Project, "project", "", "of one project: its `KEY`")
	return cmd
}

func (p *program) importNative(ctx context.Context, command string, n imports.NativeOptions, o importOptions) error {
	if n.Agent != "" && n.Agent != "claude" && n.Agent != "codex" {
		return usage("%s: --agent %q: use claude or codex", command, n.Agent)
	}
	return p.importFrom(ctx, command, o, func(_ *memory, im *imports.Importer) (*imports.Plan, error) { return im.Native(ctx, n) })
}

func newImportTranscripts(p *program) *cobra.Command {
	var o importOptions
	var t imports.TranscriptOptions
	var since string
	cmd := &cobra.Command{
		Use:   "transcripts",
		Short: "Turn the past sessions of this machine into notes",
		Long: `Turn the past sessions of this machine into notes, newest first. Sessions that are
notes already, and those without content, are passed over. It can be stopped at any
time and goes on where it was.`,
		Example: `  anamnesis import transcripts --since 30d
  anamnesis import transcripts --since 30d --apply`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if t.Agent != "" && t.Agent != "claude" {
				return usage("import transcripts: --agent %q: use claude", t.Agent)
			}
			return p.importFrom(cmd.Context(), "import transcripts", o, func(m *memory, im *imports.Importer) (*imports.Plan, error) {
				if since != "" {
					at, err := app.Moment("--since", since, m.Store.Now())
					if err != nil {
						return nil, err
					}
					t.Since = at
				}
				return im.Transcripts(cmd.Context(), t)
			})
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&t.Agent, "agent", "", "of one agent: claude")
	cmd.Flags().StringVar(&t.Project, "project", "", "of one project: its `KEY`")
	cmd.Flags().StringVar(&since, "since", "", "sessions that ended since `TIME`: 2026-03-31, 30d (default: all)")
	return cmd
}

func newImportReflect(p *program) *cobra.Command {
	var o importOptions
	var r imports.ReflectOptions
	cmd := &cobra.Command{
		Use:   "reflect",
		Short: "Take in the notes and the database of reflect",
		Long: `Take in what the program reflect keeps: the notes of ~/.learnings with their entities
and archive, and slots, observations and more of ~/.reflect/reflect.db, of which a
copy is read. The report says what became what, and what has no place here.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.importFrom(cmd.Context(), "import reflect", o, func(_ *memory, im *imports.Importer) (*imports.Plan, error) { return im.Reflect(cmd.Context(), r) })
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&r.Project, "project", "", "of one project: its `KEY`")
	return cmd
}

// importFrom makes a plan, shows it, and carries it out with --apply.
func (p *program) importFrom(ctx context.Context, command string, o importOptions, plan func(*memory, *imports.Importer) (*imports.Plan, error)) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.MayRedact(); err != nil {
		return err
	}
	im := m.Importer(o.claude)
	pl, err := plan(m, im)
	if err != nil {
		return err
	}
	for _, problem := range pl.Problems {
		p.note("left out: %s", problem)
	}
	if !o.apply {
		return p.showImport(pl, o)
	}
	return p.applyImport(ctx, m, im, pl, command, o)
}

// showImport prints a plan.
func (p *program) showImport(pl *imports.Plan, o importOptions) error {
	t := pl.Totals()
	if p.json {
		return p.emit(struct {
			header
			From     string          `json:"from"`
			Applied  bool            `json:"applied"`
			Totals   imports.Totals  `json:"totals"`
			Items    []imports.Item  `json:"items"`
			Groups   []imports.Group `json:"groups"`
			Problems []string        `json:"problems"`
		}{
			head("import"), pl.From, false, t, append([]imports.Item{}, pl.Items...), append([]imports.Group{}, pl.Groups...),
			append([]string{}, pl.Problems...),
		})
	}
	for _, it := range pl.Items {
		if o.all || it.Action != imports.Unchanged && it.Action != imports.Skipped {
			p.printf("import: %-9s %s%s\n", it.Action, importedAs(it), because(printable(it.Why)))
		}
	}
	p.printGroups(pl.Groups)
	p.printf("import: %d new, %d to update, %d unchanged, %d skipped, %d refused (%s in %s)%s\n",
		t.New, t.Update, t.Unchanged, t.Skipped, t.Refused, size(t.Bytes), plural(t.Files, "file"), dryRun(t.New+t.Update))
	return nil
}

// importedAs names an item: what it becomes, and where it stands.
func importedAs(it imports.Item) string {
	name := firstLine(it.Title, 60)
	if name == "" {
		return firstLine(it.Source, 100)
	}
	project := ""
	if it.Project != "" {
		project = " [" + firstLine(it.Project, 40) + "]"
	}
	return fmt.Sprintf("%s%s %q from %s", it.Type, project, name, firstLine(it.Source, 100))
}

// printGroups says what kinds of things a source holds.
func (p *program) printGroups(groups []imports.Group) {
	for _, g := range groups {
		left := ""
		if g.Left {
			left = " stay behind"
		}
		p.printf("import: %s: %d%s%s\n", g.Name, g.Found, left, because(printable(g.Why)))
	}
}

func (p *program) applyImport(ctx context.Context, m *memory, im *imports.Importer, pl *imports.Plan, command string, o importOptions) error {
	bar := p.progress("importing")
	rep, aerr := im.Apply(ctx, pl, func(done, total int64) { bar.Step(int(done>>10), int(total>>10)) })
	bar.Done()
	how, s, err := p.batch(m).finish(ctx, o.noSync)
	if aerr != nil {
		err = aerr
	}
	if p.json {
		eerr := p.emit(struct {
			header
			*imports.Report
			Applied bool           `json:"applied"`
			Undo    []string       `json:"undo"`
			Sync    app.SyncResult `json:"sync"`
		}{head("import"), rep, true, undoImport(rep), s})
		if err == nil {
			err = eerr
		}
		return err
	}
	for _, d := range rep.Items {
		told := d.Outcome != imports.Known && d.Outcome != string(imports.Unchanged) && d.Outcome != string(imports.Skipped) && d.Outcome != imports.Trivial
		if told || o.all {
			p.printf("import: %-9s %s%s\n", d.Outcome, importedAs(d.Item), because(printable(d.Why)))
		}
	}
	p.printGroups(rep.Groups)
	n := rep.Totals
	skipped := 0
	for outcome, count := range n {
		if outcome != imports.Created && outcome != imports.Updated {
			skipped += count
		}
	}
	if command == "import" { // the line of the program before this one
		p.printf("import: imported=%d updated=%d skipped=%d (from %s)\n", n[imports.Created], n[imports.Updated], skipped, cmp.Or(o.claude, p.cfg.ClaudeHome))
		p.printf("import: %s\n", strings.Replace(how, "; reindexed", "", 1))
		return err
	}
	var parts []string
	for _, outcome := range []string{imports.Created, imports.Updated, imports.Held, imports.Dropped, imports.Failed, imports.Trivial, imports.Left} {
		if n[outcome] > 0 {
			parts = append(parts, plainInt(n[outcome])+" "+outcome)
			skipped -= n[outcome]
		}
	}
	skipped += n[imports.Created] + n[imports.Updated]
	parts = append(parts, plainInt(skipped)+" left as they are")
	p.printf("import: %s; %s\n", strings.Join(parts, ", "), how)
	if rep.Former > 0 {
		p.printf("import: %s of those notes came along; `anamnesis history ID` lists them\n", plural(rep.Former, "former version"))
	}
	if undo := undoImport(rep); len(undo) > 0 && len(undo[0]) < 400 {
		p.undoLine(undo[0])
	} else if len(undo) > 0 {
		p.undoLine("anamnesis archive --import " + string(rep.Batch))
	}
	if rep.Batch != "" {
		p.printf("import: this run is %s\n", rep.Batch)
	}
	return err
}

// undoImport returns the commands that take an import back.
func undoImport(rep *imports.Report) []string {
	undo := []string{}
	if len(rep.Created) > 0 {
		ids := make([]string, len(rep.Created))
		for i, id := range rep.Created {
			ids[i] = string(id)
		}
		slices.Sort(ids)
		undo = append(undo, "anamnesis archive "+strings.Join(ids, " "))
	}
	return undo
}
