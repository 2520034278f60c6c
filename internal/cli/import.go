package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/app/setup"
	"anamnesis/internal/imports"
	"anamnesis/internal/unread"

	"github.com/spf13/cobra"
)

// newImport gathers the ways in which other memories come in.
func newImport(p *program) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Import notes and sessions of other tools",
		Long: `Import notes and sessions of other tools. Each subcommand shows what it would do; --apply
does it. What you edited, archived or forgot here stays as it is, however often it comes.

Without a subcommand it imports the agents' own memory files, and syncs.`,
		Example: `  anamnesis import
  anamnesis import transcripts`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Apply = true // as the program before this one did
			return p.importNative(cmd, "import", imports.NativeOptions{}, o)
		},
	}
	cmd.Flags().StringVar(&o.ClaudeHome, "claude-home", "", "`FOLDER` of Claude Code (default: the setting claude_home)")
	cmd.Flags().BoolVar(&o.NoSync, "no-sync", false, "commit on this machine only")
	cmd.AddCommand(newImportNative(p), newImportTranscripts(p), newImportReflect(p), newImportBundle(p))
	return cmd
}

type importOptions struct {
	setup.ImportOptions
	all bool // list what stays as it is, too
}

func (o *importOptions) addFlags(cmd *cobra.Command) {
	maintainFlags(cmd, &o.MaintainOptions)
	cmd.Flags().BoolVar(&o.all, "all", false, "list what stays as it is, too")
}

func newImportNative(p *program) *cobra.Command {
	var o importOptions
	var n imports.NativeOptions
	cmd := &cobra.Command{
		Use:   "native",
		Short: "Import the native memory of Claude Code, Codex and Gemini CLI",
		Long: `Take in the memories that agents keep for themselves: the files below
~/.claude/projects/*/memory or where autoMemoryDirectory has moved them, ~/.codex/memories,
and of Gemini CLI the section "Gemini Added Memories" of ~/.gemini/GEMINI.md and
~/.gemini/tmp/*/memory. Every sync does it too, unless
ANAMNESIS_IMPORT_NATIVE=0. docs/imports.md says what becomes what.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.importNative(cmd, "import native", n, o)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&n.Agent, "agent", "", "of one agent: claude, codex or gemini")
	cmd.Flags().StringVar(&n.Project, "project", "", "of one project: its `KEY`")
	return cmd
}

func (p *program) importNative(cmd *cobra.Command, command string, n imports.NativeOptions, o importOptions) error {
	if err := knownAgent(command, n.Agent, func(h *agent.Harness) bool { return h.Memory != nil }); err != nil {
		return err
	}
	o.Plan = func(ctx context.Context, im *imports.Importer) (*imports.Plan, error) { return im.Native(ctx, n) }
	return p.importFrom(cmd, command, o)
}

// knownAgent refuses the name of an agent that lacks an ability; "" means all that have it.
func knownAgent(command, name string, able func(*agent.Harness) bool, also ...string) error {
	var names []string
	for _, h := range agent.All {
		if able(h) {
			names = append(names, h.Name)
		}
	}
	names = append(names, also...)
	if name != "" && !slices.Contains(names, name) {
		return usage("%s: --agent %q: use %s", command, name, strings.Join(names, " or "))
	}
	return nil
}

func newImportTranscripts(p *program) *cobra.Command {
	var o importOptions
	var t imports.TranscriptOptions
	var since string
	var learn bool
	var maxCalls int
	cmd := &cobra.Command{
		Use:   "transcripts",
		Short: "Turn the past sessions of this machine into notes",
		Long: `Turn the past sessions of this machine into notes, newest first. Sessions that are
notes already, and those without content, are passed over. It can be stopped at any
time and goes on where it was.

With --agent ` + strings.Join(agent.ProjectTools(), ", ") + ` it reads what that tool keeps in the project of
this folder, in files or in git. Others may have written such sessions, so they are kept
word for word (see "anamnesis sessions") and make no note.

With --learn the configured model reads what was typed in them, one request a session,
and writes the rules that hold beyond it. The estimate comes first; "anamnesis undo"
takes the run back. With reflection.provider = files the requests are left in a folder,
and the answers are taken when they are there.`,
		Example: `  anamnesis import transcripts --since 30d
  anamnesis import transcripts --since 30d --apply
  anamnesis import transcripts --learn --max-calls 50 --apply`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if t.Agent == "all" {
				t.Agent = ""
			}
			err := knownAgent("import transcripts", t.Agent, func(h *agent.Harness) bool { return h.Sessions != nil }, agent.ProjectTools()...)
			if err != nil {
				return err
			}
			if slices.Contains(agent.ProjectTools(), t.Agent) {
				if learn {
					return usage("import transcripts: --learn: nothing is learnt from sessions that stand in a project, which others may have written")
				}
				dir, err := os.Getwd()
				if err != nil {
					return err
				}
				t.Folder = dir
			}
			if since != "" {
				at, err := app.Moment("--since", since, time.Now())
				if err != nil {
					return err
				}
				t.Since = at
			}
			if learn {
				return p.learnPast(cmd, curate.LearnPastOptions{
					MaintainOptions: o.MaintainOptions, TranscriptOptions: t, ClaudeHome: o.ClaudeHome, MaxCalls: maxCalls,
				})
			}
			o.Plan = func(ctx context.Context, im *imports.Importer) (*imports.Plan, error) { return im.Transcripts(ctx, t) }
			return p.importFrom(cmd, importTranscripts, o)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&t.Agent, "agent", "all", "of one agent, by `NAME`; all is every agent")
	cmd.Flags().StringVar(&t.Project, "project", "", "of one project: its `KEY`")
	cmd.Flags().BoolVar(&learn, "learn", false, "let the model read them for rules")
	cmd.Flags().IntVar(&maxCalls, "max-calls", 0, "with --learn, `N` requests at most (default: no bound)")
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
			o.Plan = func(ctx context.Context, im *imports.Importer) (*imports.Plan, error) { return im.Reflect(ctx, r) }
			return p.importFrom(cmd, "import reflect", o)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&r.Project, "project", "", "of one project: its `KEY`")
	return cmd
}

// importFrom makes a plan, shows it, and carries it out with --apply.
func (p *program) importFrom(cmd *cobra.Command, command string, o importOptions) error {
	r, err := app.OpenWalked(cmd.Context(), p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	a, err := setup.Import(cmd.Context(), r, o.ImportOptions)
	switch {
	case a.Planned != nil:
		return render(p, "import", *a.Planned, err, func(a setup.ImportPlan) { p.printImportPlan(a, o.all) })
	case a.Report != nil:
		err = render(p, "import", *a.Report, err, func(a setup.ImportReport) { p.printImported(a, command, o) })
		if command == importTranscripts {
			err = cmp.Or(err, p.sayReading("import", unread.Of(r.Store)))
		}
	}
	return err
}

// importTranscripts is the command whose sessions agents can read.
const importTranscripts = "import transcripts"

func (p *program) printImportPlan(a setup.ImportPlan, all bool) {
	for _, it := range a.Items {
		if all || it.Action != imports.Unchanged && it.Action != imports.Skipped && it.Action != imports.Keeps {
			p.printf("import: %-9s %s%s\n", it.Action, importedAs(it), because(printable(it.Why)))
		}
	}
	for _, it := range a.Items {
		p.printUnreadable(it)
	}
	p.printGroups(a.Groups)
	t := a.Totals
	keep := ""
	if t.Keep > 0 {
		keep = fmt.Sprintf("%d to keep word for word, ", t.Keep)
	}
	p.printf("import: %d new, %d to update, %s%d unchanged, %d skipped, %d refused (%s in %s)%s\n",
		t.New, t.Update, keep, t.Unchanged, t.Skipped, t.Refused, size(t.Bytes), plural(t.Files, "file"), dryRun(t.New+t.Update+t.Keep))
}

// printUnreadable names a session of which lines could not be read.
func (p *program) printUnreadable(it imports.Item) {
	if it.Unreadable > 0 {
		p.printf("import: %-9s %s: %s cannot be read\n", "damaged", firstLine(it.Source, 200), plural(it.Unreadable, "line"))
	}
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

func (p *program) printImported(a setup.ImportReport, command string, o importOptions) {
	unlisted := []string{imports.Known, string(imports.Unchanged), string(imports.Skipped), imports.Trivial, imports.Kept}
	for _, d := range a.Items {
		if o.all || !slices.Contains(unlisted, d.Outcome) {
			p.printf("import: %-9s %s%s\n", d.Outcome, importedAs(d.Item), because(printable(d.Why)))
		}
	}
	for _, d := range a.Items {
		p.printUnreadable(d.Item)
	}
	p.printGroups(a.Groups)
	if command != "import" {
		p.printImportTotals(a, o)
		return
	}
	n, left := a.Totals, leftOut(a)
	// the line of the program before this one
	p.printf("import: %d new, %d updated, %d skipped (from %s)\n", n[imports.Created], n[imports.Updated], left, cmp.Or(o.ClaudeHome,
		p.cfg.ClaudeHome))
	p.printf("import: %s\n", strings.Replace(endLine(a.Sync, o.NoSync), "; reindexed", "", 1))
}

// leftOut counts the items that neither became a note nor changed one.
func leftOut(a setup.ImportReport) (left int) {
	for outcome, count := range a.Totals {
		if outcome != imports.Created && outcome != imports.Updated {
			left += count
		}
	}
	return left
}

// printImportTotals says how many of what an import found became what.
func (p *program) printImportTotals(a setup.ImportReport, o importOptions) {
	n, left := a.Totals, leftOut(a)
	var parts []string
	for _, outcome := range []string{
		imports.Created, imports.Updated, imports.Held, imports.Dropped, imports.Failed, imports.Trivial,
		imports.Kept, imports.Left,
	} {
		if n[outcome] == 0 {
			continue
		}
		parts = append(parts, plainInt(n[outcome])+" "+outcome)
		if outcome != imports.Created && outcome != imports.Updated {
			left -= n[outcome]
		}
	}
	parts = append(parts, plainInt(left)+" left as they are")
	p.printf("import: %s; %s\n", strings.Join(parts, ", "), endLine(a.Sync, o.NoSync))
	if a.Former > 0 {
		p.printf("import: %s of those notes came along; `anamnesis log history ID` lists them\n", plural(a.Former, "former version"))
	}
	if len(a.Undo) > 0 {
		p.undoLine(a.Undo[0])
	}
	if a.Batch != "" {
		p.printf("import: this run is %s\n", a.Batch)
	}
}
