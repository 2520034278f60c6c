package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"anamnesis/internal/recall"

	"github.com/spf13/cobra"
)

func newCorpus(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corpus",
		Short: "Keep named sets of notes, and ask them alone",
		Long: `Keep named sets of notes. A corpus holds the notes that a filter selected when
it was built; search --corpus NAME asks these alone. Notes that are written
later are in it when it is built anew.`,
	}
	cmd.AddCommand(newCorpusBuild(p), newCorpusRebuild(p), newCorpusShow(p), newCorpusList(p), newCorpusDelete(p), newCorpusSearch(p))
	return cmd
}

// withCorpus runs a command on a corpus. One that is not there is exit code 2.
func (p *program) withCorpus(ctx context.Context, do func(*memory) error) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	err = do(m)
	if errors.Is(err, recall.ErrNoCorpus) {
		return usage("%w", err)
	}
	return err
}

func newCorpusBuild(p *program) *cobra.Command {
	var f recall.CorpusFilter
	var spec string
	cmd := &cobra.Command{
		Use:   "build NAME",
		Short: "Save the notes that a filter selects",
		Example: `  anamnesis corpus build releases --tag release --since 2026-01-01
  anamnesis corpus build releases --filter "tag:release,deploy since:2026-01-01"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := corpusFilter(spec, f)
			if err != nil {
				return usage("corpus build: %w", err)
			}
			if strings.TrimSpace(args[0]) == "" {
				return usage("corpus build: the name is empty")
			}
			return p.withCorpus(cmd.Context(), func(m *memory) error {
				if filter.Project == "." {
					filter.Project = p.project(m.Store, ".").Key
				}
				was, _ := m.Engine.Corpus(args[0])
				c, err := m.Engine.BuildCorpus(cmd.Context(), args[0], filter)
				if err != nil {
					return err
				}
				if was != nil {
					old, _ := json.Marshal(was.Filter)
					p.note("it takes the place of the corpus %s of %s, whose filter was %s", printable(was.Name), dated(was.BuiltAt), old)
				}
				return p.printCorpus(cmd.Context(), m, "corpus build", c)
			})
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

type corpusJSON struct {
	header
	*recall.Corpus
	recall.Drift
}

func (p *program) printCorpus(ctx context.Context, m *memory, command string, c *recall.Corpus) error {
	drift, err := m.Engine.Drift(ctx, c)
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(corpusJSON{head(command), c, drift})
	}
	state := ""
	if drift.Stale {
		state = "  stale: notes changed since, `anamnesis corpus rebuild` takes them in"
	}
	p.printf("%s  %s  built %s%s\n", printable(c.Name), plural(c.Count, "note"), c.BuiltAt, state)
	return nil
}

func newCorpusRebuild(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "rebuild NAME", Short: "Apply the filter of a corpus to the notes of now", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withCorpus(cmd.Context(), func(m *memory) error {
				c, err := m.Engine.RebuildCorpus(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				return p.printCorpus(cmd.Context(), m, "corpus rebuild", c)
			})
		},
	}
}

func newCorpusShow(p *program) *cobra.Command {
	var most int
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print the notes of a corpus as one document",
		Long: `Print the notes of a corpus as one document, with which an agent can be primed,
the newest first. With --json its list is printed, and what changed since.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 0 {
				return usage("corpus show: --max-tokens %d: give 0 for no end, or a number", most)
			}
			return p.withCorpus(cmd.Context(), func(m *memory) error {
				if p.json {
					c, err := m.Engine.Corpus(args[0])
					if err != nil {
						return err
					}
					return p.printCorpus(cmd.Context(), m, "corpus show", c)
				}
				text, left, err := m.Engine.PrimeCorpus(cmd.Context(), args[0], most)
				if err != nil {
					return err
				}
				p.printf("%s", text)
				if left > 0 {
					p.note("%s left out: they do not fit, or are gone", plural(left, "note"))
				}
				return nil
			})
		},
	}
	cmd.Flags().IntVar(&most, "max-tokens", 0, "tokens of the document, estimated; 0 means no end")
	return cmd
}

func newCorpusList(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the corpora", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.withCorpus(cmd.Context(), func(m *memory) error {
				all, err := m.Engine.Corpora()
				if err != nil {
					p.note("%v", err)
				}
				if !p.json {
					for _, c := range all {
						if err := p.printCorpus(cmd.Context(), m, "", c); err != nil {
							return err
						}
					}
					return nil
				}
				list := []corpusJSON{}
				for _, c := range all {
					drift, err := m.Engine.Drift(cmd.Context(), c)
					if err != nil {
						return err
					}
					list = append(list, corpusJSON{head("corpus"), c, drift})
				}
				return p.emit(struct {
					header
					Corpora []corpusJSON `json:"corpora"`
				}{head("corpus list"), list})
			})
		},
	}
}

func newCorpusDelete(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Delete a corpus; its notes stay", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withCorpus(cmd.Context(), func(m *memory) error {
				if err := m.Engine.DeleteCorpus(args[0]); err != nil {
					return err
				}
				if p.json {
					return p.emit(struct {
						header
						Name string `json:"name"`
					}{head("corpus delete"), args[0]})
				}
				p.printf("corpus delete: %s is gone, its notes stay\n", printable(args[0]))
				return nil
			})
		},
	}
}

func newCorpusSearch(p *program) *cobra.Command {
	o := searchOptions{k: recall.DefaultK, format: "markdown"}
	cmd := &cobra.Command{
		Use: "search NAME QUERY...", Short: "Find notes of a corpus: search --global --corpus NAME", Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.corpus, o.global = args[0], true
			return p.search(cmd.Context(), o, strings.Join(args[1:], " "))
		},
	}
	cmd.Flags().IntVar(&o.k, "k", recall.DefaultK, "notes at most, up to 100")
	cmd.Flags().StringVar(&o.format, "format", "markdown", "markdown, simple, ids or json")
	return cmd
}
