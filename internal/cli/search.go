package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

type searchOptions struct {
	askOptions
	k, limit, maxTokens int
	strict, explain     bool
	fields              []string
	format              string
}

func newSearch(p *program) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find notes",
		Long: `Find the notes that answer a question, best first. Words are matched in any
number and order, by their stems; identifiers, paths and error messages also
as a whole; words that mean nearly the same count too; a date such as "last
week" looks among the notes of that time. A query of - is read from standard
input.

The question is about the project of this folder, and about notes for every
project; --global asks all projects. On a branch, notes of that branch and of
the trunk are asked.

Exit code 3 says that nothing was found.`,
		Example: `  anamnesis search regenerate grpc clients
  anamnesis search --project . --type procedural "deploy staging"
  anamnesis search --global --gate "how do we rotate the staging certificate"
  anamnesis search --field rule --field fix "flaky test in the auth suite"
  anamnesis search --explain "flaky test in the auth suite"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.search(cmd.Context(), o, strings.Join(args, " "))
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.IntVarP(&o.k, "k", "k", recall.DefaultK, "notes at most, up to 100")
	f.IntVar(&o.limit, "limit", 0, "the same as --k")
	f.IntVar(&o.maxTokens, "max-tokens", 0, "tokens of all that is printed, estimated; 0 means no end")
	f.BoolVar(&o.strict, "budget-strict", false, "end at the first note that does not fit, instead of looking for shorter ones")
	f.StringArrayVar(&o.fields, "field", nil, "print the field `NAME` of each note instead of the passage, such as rule or fix (may be repeated)")
	f.BoolVar(&o.explain, "explain", false, "show how each score came about")
	f.StringVar(&o.format, "format", "markdown", "markdown, simple, ids or json")
	return cmd
}

// check puts the flags in order and refuses those that make no sense.
func (o *searchOptions) check(p *program) error {
	if o.limit != 0 {
		o.k = o.limit
	}
	if p.json {
		o.format = "json"
	}
	switch o.format {
	case "json":
		p.json = true
	case "markdown", "simple", "ids":
	default:
		return usage("search: no format %q; use markdown, simple, ids or json", o.format)
	}
	switch {
	case o.k < 1:
		return usage("search: --k %d: at least one note", o.k)
	case o.maxTokens < 0:
		return usage("search: --max-tokens %d: give 0 for no end, or a number", o.maxTokens)
	}
	return nil
}

// question returns the text of a query; - stands for standard input.
func (p *program) question(text string) (string, error) {
	if text != "-" {
		return text, nil
	}
	data, err := io.ReadAll(io.LimitReader(p.stdin, 1<<20))
	if err != nil {
		return "", fmt.Errorf("read the query: %w", err)
	}
	return string(data), nil
}

func (p *program) search(ctx context.Context, o searchOptions, text string) error {
	text, err := p.question(text)
	if err == nil && strings.TrimSpace(text) == "" {
		err = usage("search: the question is empty; `anamnesis list` shows all notes")
	}
	if err == nil {
		err = cmp.Or(o.check(p), o.settle(p))
	}
	if err != nil {
		return err
	}
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	q, scope, err := o.query(ctx, m, text)
	if err != nil {
		return err
	}
	q.K, q.MaxTokens, q.Strict, q.Fields = o.k, o.maxTokens, o.strict, o.fields
	q.Cost = func(h *recall.Hit) int { return recall.Tokens(m.rendered(0, h, o)) }
	res, err := m.Engine.Recall(ctx, q)
	if err != nil {
		return asked(err)
	}
	m.logRecall(res, "search")
	for _, s := range append(res.Failed, res.Missing...) {
		p.note("left out: %s", s)
	}
	m.embedRest(res)
	if p.json {
		if err := p.emit(searchJSON(m, res, scope, o)); err != nil {
			return err
		}
	} else {
		p.printHits(m, res, o)
	}
	return p.nothing(res)
}

// embedRest says that notes wait for their vectors, and starts the run that
// makes them.
func (m *memory) embedRest(res *recall.Result) {
	if res.WithoutVector == 0 {
		return
	}
	what := ""
	if !m.Store.ReadOnly() && m.Detach("drain") == nil {
		what = "; a background run makes them"
	}
	m.p.note("%d of %d passages have no vector yet and are found by their words only%s", res.WithoutVector, res.Passages, what)
}

// asked makes an error of wrong usage of one that a flag brought about.
func asked(err error) error {
	if errors.Is(err, recall.ErrNoCorpus) {
		return usage("--corpus %w", err)
	}
	return err
}

// nothing tells people that there is no answer, and why.
func (p *program) nothing(res *recall.Result) error {
	if len(res.Hits) > 0 {
		return nil
	}
	switch g := res.Gate; {
	case p.json:
	case g != nil && !g.Open:
		p.note("nothing relevant: %s; without --gate the nearest notes are shown", g.Reason)
	default:
		p.note("nothing found; the store holds %s", plural(res.Searched, "note"))
	}
	return &app.Error{Kind: app.NotFound}
}

// logRecall records what a search returned, and by which way it was asked.
func (m *memory) logRecall(res *recall.Result, via string) {
	r := store.Record{Kind: store.Recalled, Text: via, Count: len(res.Hits), MS: float64(res.Took.Microseconds()) / 1000}
	for _, h := range res.Hits {
		r.Notes = append(r.Notes, h.Row.ID)
	}
	if m.p.cfg.Events.Queries {
		r.Query = m.Redactor.Redact(res.Query.Text).String()
	}
	_ = m.Store.Log(r)
}

func (p *program) printHits(m *memory, res *recall.Result, o searchOptions) {
	for i, h := range res.Hits {
		if i > 0 && o.format == "markdown" {
			p.printf("\n")
		}
		p.printf("%s", p.paintHit(m.rendered(i, h, o)))
		if o.explain {
			p.explainHit(h)
		}
	}
	if o.explain {
		p.explain(res)
	}
}

// rendered is a hit as it is printed, the i-th of an answer.
func (m *memory) rendered(i int, h *recall.Hit, o searchOptions) string {
	var b strings.Builder
	switch o.format {
	case "json":
		data, err := json.Marshal(m.hitJSON(h, o))
		if err != nil {
			return "" // unreachable: scores are finite
		}
		return string(data)
	case "ids":
		return string(h.Row.ID) + "\n"
	case "simple":
		fmt.Fprintf(&b, "%s  %.2f  [%s] %s%s\n", h.Row.ID, h.Score(), h.Row.Type, firstLine(h.Row.Title, note.MaxTitle), outOfUse(h))
		if len(o.fields) == 0 {
			return b.String()
		}
	default:
		fmt.Fprintf(&b, "%d. [%s] %s\n", i+1, h.Row.Type, firstLine(h.Row.Title, note.MaxTitle))
		fmt.Fprintf(&b, "   %s  score %.2f  project %s  %s%s\n", h.Row.ID, h.Score(), h.Row.Project, date(h.Row.Updated), onBranch(h.Row.Branch)+outOfUse(h))
	}
	text := passage(h)
	if len(o.fields) > 0 {
		text = ""
		for _, name := range o.fields {
			if v := h.Fields[name]; v != "" {
				text += name + ": " + printable(strings.Join(strings.Fields(v), " ")) + "\n"
			}
		}
		if text == "" { // a note that was written before there were fields
			text = firstLine(h.Row.Title, note.MaxTitle) + "\n"
		}
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "   | %s\n", strings.TrimRight(line, "\n"))
	}
	return b.String()
}

// outOfUse says why a note is found only because one asked for all of them.
func outOfUse(h *recall.Hit) string {
	switch {
	case h.Row.SupersededBy != "":
		return "  superseded by " + string(h.Row.SupersededBy)
	case !h.Row.Dead:
		return ""
	case h.Note.Status != "":
		return "  " + firstLine(h.Note.Status, 40)
	case h.Note.Quarantine:
		return "  waits for review"
	}
	return "  expired"
}

func onBranch(branch string) string {
	if branch == "" {
		return ""
	}
	return "  branch " + firstLine(branch, 60)
}

// passage is the stretch of a note that matched, short enough for a terminal.
func passage(h *recall.Hit) string {
	const lines, width = 6, 110
	var b strings.Builder
	n := 0
	for line := range strings.Lines(strings.TrimSpace(h.Note.Body[h.Start:h.End])) {
		if n++; n > lines {
			b.WriteString("…\n")
			break
		}
		b.WriteString(firstLine(strings.TrimRight(line, "\n")+" ", width) + "\n")
	}
	return b.String()
}

func date(t time.Time) string {
	if t.IsZero() {
		return "undated"
	}
	return t.Format("2006-01-02")
}
