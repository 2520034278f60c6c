package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

// The three layers in which an agent reads memory: index, timeline, hydrate.

func newWorkflow(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "workflow",
		Short: "Tell an agent how to read memory in three layers",
		Long:  "Print how an agent reads memory without paying for what it does not need:\n\n" + recall.Workflow,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if p.json {
				return p.emit(struct {
					header
					Text string `json:"workflow"`
				}{head("workflow"), recall.Workflow})
			}
			p.printf("%s", recall.Workflow)
			return nil
		},
	}
}

func newIndex(p *program) *cobra.Command {
	var o askOptions
	var limit int
	cmd := &cobra.Command{
		Use:   "index QUERY...",
		Short: "Step 1: answer a question with one short row a note",
		Long: `Step 1: answer a question with one row a note: id, title, score, project and
date, at most 100 tokens each. Step 2 is timeline, step 3 hydrate; anamnesis
workflow tells more. (The files of the index are made anew by reindex.)

Exit code 3 says that nothing was found.`,
		Example: `  anamnesis index "deploy staging"
  anamnesis index --gate --limit 5 "deploy staging"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.index(cmd.Context(), o, strings.Join(args, " "), limit)
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().IntVar(&limit, "limit", recall.DefaultRows, "rows at most, up to 100")
	return cmd
}

func (p *program) index(ctx context.Context, o askOptions, text string, limit int) error {
	text, err := p.question(text)
	if err == nil && strings.TrimSpace(text) == "" {
		err = usage("index: the question is empty")
	}
	if err == nil && limit < 1 {
		err = usage("index: --limit %d: at least one row", limit)
	}
	if err == nil {
		err = o.settle(p)
	}
	if err != nil {
		return err
	}
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	q, _, err := o.query(ctx, m, text)
	if err != nil {
		return err
	}
	q.K = limit
	rows, res, err := m.Engine.Index(ctx, q)
	if err != nil {
		return asked(err)
	}
	for _, s := range append(res.Failed, res.Missing...) {
		p.note("left out: %s", s)
	}
	if p.json {
		err = p.emit(struct {
			header
			Step  int               `json:"step"`
			Query string            `json:"query"`
			Count int               `json:"count"`
			Rows  []recall.StageRow `json:"results"`
		}{head("index"), 1, text, len(rows), append([]recall.StageRow{}, rows...)})
	} else {
		p.printRows(rows)
	}
	if err != nil {
		return err
	}
	return p.nothing(res)
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
		p.printf("[%s] %s%s  %s  %s%s\n", r.ID, firstLine(r.Title, note.MaxTitle), score, printable(r.Project), r.Date, mark)
	}
}

func newTimeline(p *program) *cobra.Command {
	var o askOptions
	var anchor string
	var before, after int
	cmd := &cobra.Command{
		Use:   "timeline [QUERY...]",
		Short: "Step 2: list what was written before and after a note",
		Long: `Step 2: list the notes that were made before and after one, the oldest first.
That note is named by --anchor, or it is the best answer to the query.

Exit code 3 says that there is no such note.`,
		Example: `  anamnesis timeline --anchor 01K2M3N4 --depth-before 5
  anamnesis timeline "deploy staging"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if anchor == "" && strings.TrimSpace(strings.Join(args, " ")) == "" {
				return usage("timeline: give --anchor ID, or a question")
			}
			if before < 0 || after < 0 {
				return usage("timeline: depths are numbers from 0")
			}
			if err := o.settle(p); err != nil {
				return err
			}
			return p.timeline(cmd.Context(), o, note.ID(anchor), strings.Join(args, " "), before, after)
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.StringVar(&anchor, "anchor", "", "`ID` of the note in the middle, or the beginning of it")
	f.IntVar(&before, "depth-before", 3, "notes before it")
	f.IntVar(&after, "depth-after", 3, "notes after it")
	return cmd
}

func (p *program) timeline(ctx context.Context, o askOptions, anchor note.ID, text string, before, after int) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	q, _, err := o.query(ctx, m, text)
	if err != nil {
		return err
	}
	rows, err := m.Engine.Timeline(ctx, anchor, q, before, after)
	answer := struct {
		header
		Step   int               `json:"step"`
		Query  string            `json:"query"`
		Anchor note.ID           `json:"anchor"` // "" when there is none
		Before int               `json:"depth_before"`
		After  int               `json:"depth_after"`
		Count  int               `json:"count"`
		Rows   []recall.StageRow `json:"results"`
		Error  string            `json:"error,omitempty"`
	}{header: head("timeline"), Step: 2, Query: text, Before: before, After: after, Count: len(rows), Rows: append([]recall.StageRow{}, rows...)}
	for _, r := range rows {
		if r.Anchor {
			answer.Anchor = r.ID
		}
	}
	switch {
	case errors.Is(err, recall.ErrNoNote) && p.json:
		answer.Error = err.Error()
		if err := p.emit(answer); err != nil {
			return err
		}
		return &app.Error{Kind: app.NotFound}
	case errors.Is(err, recall.ErrNoNote):
		return &app.Error{Kind: app.NotFound, Err: err}
	case err != nil:
		return asked(err)
	case p.json:
		return p.emit(answer)
	}
	p.printRows(rows)
	return nil
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
			ids := make([]note.ID, len(args))
			for i, a := range args {
				ids[i] = note.ID(strings.TrimSpace(a))
			}
			return p.hydrate(cmd.Context(), ids)
		},
	}
}

func (p *program) hydrate(ctx context.Context, ids []note.ID) error {
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	all, err := m.Engine.Hydrate(ctx, ids)
	if err != nil {
		return err
	}
	r := store.Record{Kind: store.Recalled, Text: "hydrate"}
	for _, h := range all {
		if h.Found {
			r.Notes = append(r.Notes, h.ID)
		}
	}
	if r.Count = len(r.Notes); r.Count > 0 { // somebody chose them
		_ = m.Store.Log(r)
	}
	if p.json {
		err = p.emit(struct {
			header
			Step  int               `json:"step"`
			Count int               `json:"count"`
			Notes []recall.Hydrated `json:"results"`
		}{head("hydrate"), 3, len(all), append([]recall.Hydrated{}, all...)})
	} else {
		p.printHydrated(m, all)
	}
	if err == nil && r.Count == 0 {
		return &app.Error{Kind: app.NotFound}
	}
	return err
}

func (p *program) printHydrated(m *memory, all []recall.Hydrated) {
	for i, h := range all {
		if !h.Found {
			p.note("%s", h.Reason)
			continue
		}
		if i > 0 {
			p.printf("\n")
		}
		p.printf("# %s\n\n[%s] project %s  %s\n%s\n\n%s\n", firstLine(h.Title, note.MaxTitle), h.ID, printable(h.Project), h.Date, m.Store.Path(h.Path), p.screened(h.Body))
	}
}
