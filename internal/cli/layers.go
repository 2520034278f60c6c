package cli

import (
	"context"
	"fmt"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"

	"github.com/spf13/cobra"
)

// The three layers in which an agent reads memory: index, timeline, hydrate.

func newWorkflow(p *program) *cobra.Command {
	type answer struct {
		Text string `json:"workflow"`
	}
	return &cobra.Command{
		Use:   "workflow",
		Short: "Tell an agent how to read memory in three layers",
		Long:  "Print how an agent reads memory without paying for what it does not need:\n\n" + recall.Workflow,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return render(p, "workflow", answer{recall.Workflow}, nil, func(a answer) { p.printf("%s", a.Text) })
		},
	}
}

func newIndex(p *program) *cobra.Command {
	var q app.Question
	var limit int
	cmd := &cobra.Command{
		Use:   "index QUERY...",
		Short: "Search, one line per note",
		Long: `Step 1: answer a question with one row a note: id, title, score, project and
date, at most 100 tokens each. Step 2 is "list timeline", step 3 "show
notes"; "anamnesis show workflow" explains all three.

Exit code 3 says that nothing was found.`,
		Example: `  anamnesis list matches "deploy staging"
  anamnesis list matches --gate --limit 5 "deploy staging"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := p.question("index", strings.Join(args, " "))
			if err == nil && limit < 1 {
				err = usage("index: --limit %d: at least one row", limit)
			}
			if err == nil {
				err = q.Configure(p.cfg)
			}
			if err != nil {
				return err
			}
			return ask(p, cmd, "index", func(ctx context.Context, r *app.Rooms) (app.RowsAnswer, error) {
				return app.Rows(ctx, r, q, text, limit)
			}, func(a app.RowsAnswer) {
				p.printRows(a.Rows)
				p.printNothing(a.Result)
			})
		},
	}
	questionFlags(cmd.Flags(), &q)
	cmd.Flags().IntVar(&limit, "limit", recall.DefaultRows, "rows at most, up to 100")
	return cmd
}

// printRows prints the rows of the first two layers.
func (p *program) printRows(rows []recall.StageRow) {
	for _, r := range rows {
		mark, score := "", ""
		if r.Anchor {
			mark = "  ← here"
		}
		if r.Score != nil {
			score = fmt.Sprintf("  score %.2f", *r.Score)
		}
		p.printf("[%s] %s%s  %s  %s%s\n", p.short(r.ID), firstLine(r.Title, note.MaxTitle), score, printable(r.Project), r.Date, mark)
	}
}

func newTimeline(p *program) *cobra.Command {
	var q app.Question
	var anchor string
	var before, after int
	cmd := &cobra.Command{
		Use:   "timeline [QUERY...]",
		Short: "Step 2: list what was written before and after a note",
		Long: `Step 2: list the notes that were made before and after one, the oldest first.
That note is named by --anchor, or it is the best answer to the query.

Exit code 3 says that there is no such note.`,
		Example: `  anamnesis list timeline --anchor 01K2M3N4 --depth-before 5
  anamnesis list timeline "deploy staging"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.Join(args, " ")
			if anchor == "" && strings.TrimSpace(text) == "" {
				return usage("timeline: give --anchor ID, or a question")
			}
			if before < 0 || after < 0 {
				return usage("timeline: depths are numbers from 0")
			}
			if err := q.Configure(p.cfg); err != nil {
				return err
			}
			return ask(p, cmd, "timeline", func(ctx context.Context, r *app.Rooms) (app.TimelineAnswer, error) {
				return app.Timeline(ctx, r, q, note.ID(anchor), text, before, after)
			}, func(a app.TimelineAnswer) {
				p.printRows(a.Rows)
				if a.Error != "" {
					p.note("%s", a.Error)
				}
			})
		},
	}
	f := cmd.Flags()
	questionFlags(f, &q)
	f.StringVar(&anchor, "anchor", "", "`ID` of the note in the middle, or the beginning of it")
	f.IntVar(&before, "depth-before", 3, "notes before it")
	f.IntVar(&after, "depth-after", 3, "notes after it")
	return cmd
}

func newHydrate(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "hydrate ID...",
		Short: "Step 3: print whole notes",
		Long: `Step 3: print the notes with these ids as a whole, in that order. The beginning
of an id is enough when it names only one note. What is not found says so in
its place; exit code 3 says that none was.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(p, cmd, "hydrate", func(ctx context.Context, r *app.Rooms) (app.HydrateAnswer, error) {
				a, err := app.Hydrate(ctx, r, args)
				if !p.json {
					for i := range a.Notes {
						a.Notes[i].Path = r.Store.Path(a.Notes[i].Path)
					}
				}
				return a, err
			}, p.printHydrated)
		},
	}
}

func (p *program) printHydrated(a app.HydrateAnswer) {
	for i, h := range a.Notes {
		if !h.Found {
			p.note("%s", h.Reason)
			continue
		}
		if i > 0 {
			p.printf("\n")
		}
		p.printf("# %s\n\n[%s] project %s  %s\n%s\n\n", firstLine(h.Title, note.MaxTitle), h.ID, printable(h.Project), h.Date, h.Path)
		p.verbatim(h.Body + "\n")
	}
}
