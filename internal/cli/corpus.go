package cli

import (
	"context"
	"encoding/json"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/recall"

	"github.com/spf13/cobra"
)

func newCorpus(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corpus",
		Short: "Save and search named collections",
		Long: `A corpus holds the notes that a filter selected when
it was built; search --corpus NAME asks these alone. Notes that are written
later are in it when it is rebuilt.`,
	}
	cmd.AddCommand(newCorpusBuild(p), newCorpusRebuild(p), newCorpusShow(p), newCorpusList(p), newCorpusDelete(p), newCorpusSearch(p))
	return cmd
}

func newCorpusBuild(p *program) *cobra.Command {
	var f recall.CorpusFilter
	var spec string
	cmd := &cobra.Command{
		Use:   "build NAME",
		Short: "Save the notes that a filter selects",
		Example: `  anamnesis list corpus build releases --tag release --since 2026-01-01
  anamnesis list corpus build releases --filter "tag:release,deploy since:2026-01-01"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := corpusFilter(spec, f)
			if err != nil {
				return usage("corpus build: %w", err)
			}
			if strings.TrimSpace(args[0]) == "" {
				return usage("corpus build: the name is empty")
			}
			return run(p, cmd, "corpus build", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.CorpusView, error) {
				v, was, err := app.BuildCorpus(ctx, r, args[0], filter)
				if err == nil && was != nil {
					old, _ := json.Marshal(was.Filter)
					p.note("it takes the place of the corpus %s of %s, whose filter was %s", printable(was.Name), dated(was.BuiltAt), old)
				}
				return v, err
			}, p.printCorpus)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.Tags, "tag", nil, "notes with any of these `TAGS`")
	flags.StringVar(&f.Category, "category", "", "notes of a category")
	flags.StringVar(&f.Project, "project", "", "notes of a project, by its `KEY`; . is the one of this folder")
	flags.StringVar(&f.Since, "since", "", "notes made on `DATE` or later")
	flags.StringVar(&f.Until, "until", "", "notes made on `DATE` or before")
	flags.StringVar(&spec, "filter", "", "all of that as one text, such as `\"tag:a,b project:x since:2026-01-31\"`")
	return cmd
}

// corpusFilter joins a filter that was written as one text with one of flags.
func corpusFilter(spec string, f recall.CorpusFilter) (recall.CorpusFilter, error) {
	for key, value := range map[string]string{"since": f.Since, "until": f.Until} {
		if value != "" {
			spec += " " + key + ":" + value
		}
	}
	parsed, err := recall.ParseCorpusFilter(spec)
	parsed.Tags = append(parsed.Tags, f.Tags...)
	if f.Category != "" {
		parsed.Category = f.Category
	}
	if f.Project != "" {
		parsed.Project = f.Project
	}
	return parsed, err
}

func (p *program) printCorpus(c app.CorpusView) {
	state := ""
	if c.Stale {
		state = "  stale: notes changed since, `anamnesis list corpus rebuild` takes them in"
	}
	p.printf("%s  %s  built %s%s\n", printable(c.Name), plural(c.Count, "note"), c.BuiltAt, state)
}

func newCorpusRebuild(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "rebuild NAME", Short: "Apply the filter of a corpus to the notes of now", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "corpus rebuild", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.CorpusView, error) {
				return app.RebuildCorpus(ctx, r, args[0])
			}, p.printCorpus)
		},
	}
}

func newCorpusShow(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "show NAME", Short: "List the notes of a corpus", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "corpus show", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.CorpusView, error) {
				return app.ShowCorpus(ctx, r, args[0])
			}, func(c app.CorpusView) {
				p.printCorpus(c)
				for _, e := range c.Entries {
					p.printf("%s  %s\n", e.ID, firstLine(e.Title, 80))
				}
			})
		},
	}
}

func newCorpusList(p *program) *cobra.Command {
	type row struct {
		header
		app.CorpusView
	}
	type answer struct {
		Corpora []row `json:"corpora"`
	}
	return &cobra.Command{
		Use: "list", Short: "List the corpora", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(p, cmd, "corpus list", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (a answer, err error) {
				all, err := app.Corpora(ctx, r)
				for _, c := range all {
					a.Corpora = append(a.Corpora, row{head("corpus"), c})
				}
				return a, err
			}, func(a answer) {
				for _, c := range a.Corpora {
					p.printCorpus(c.CorpusView)
				}
				if len(a.Corpora) == 0 {
					p.note("there is no corpus; `anamnesis list corpus build` makes one")
				}
			})
		},
	}
}

func newCorpusDelete(p *program) *cobra.Command {
	type answer struct {
		Name string `json:"name"`
	}
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a corpus; its notes stay", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "corpus delete", now, func(_ context.Context, r *app.Rooms) (answer, error) {
				return answer{args[0]}, app.DeleteCorpus(r, args[0])
			}, func(a answer) { p.printf("corpus delete: %s is gone, its notes stay\n", printable(a.Name)) })
		},
	}
}

func newCorpusSearch(p *program) *cobra.Command {
	o := searchOptions{format: "markdown"}
	o.Lambda = app.Unset
	cmd := &cobra.Command{
		Use: "search NAME QUERY...", Short: "Find notes of a corpus: search --global --corpus NAME", Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Corpus, o.Global = args[0], true
			return p.search(cmd, o, strings.Join(args[1:], " "))
		},
	}
	cmd.Flags().IntVar(&o.K, "k", recall.DefaultK, "notes at most, up to 100")
	cmd.Flags().StringVar(&o.format, "format", "markdown", "markdown, simple, ids or json")
	return cmd
}
