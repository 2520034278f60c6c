package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

type searchOptions struct {
	filterOptions
	k, limit, maxTokens int
	explain             bool
	format              string
}

func newSearch(p *program) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find notes",
		Long: `Find the notes that answer a question, best first. Words are matched in any
number and order, by their stems; identifiers, paths and error messages also
as a whole. A query of - is read from standard input.

Exit code 3 says that nothing was found.`,
		Example: `  anamnesis search regenerate grpc clients
  anamnesis search --project . --type procedural "deploy staging"
  anamnesis search --explain "flaky test in the auth suite"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.search(cmd, o, strings.Join(args, " "))
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.IntVarP(&o.k, "k", "k", recall.DefaultK, "notes at most, up to 100")
	f.IntVar(&o.limit, "limit", 0, "the same as --k")
	f.IntVar(&o.maxTokens, "max-tokens", 0, "tokens of all notes together, estimated; 0 means no end")
	f.BoolVar(&o.explain, "explain", false, "show how each score came about")
	f.StringVar(&o.format, "format", "markdown", "markdown, simple, ids or json")
	return cmd
}

func (p *program) search(cmd *cobra.Command, o searchOptions, text string) error {
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(p.stdin, 1<<20))
		if err != nil {
			return fmt.Errorf("read the query: %w", err)
		}
		text = string(data)
	}
	if o.limit != 0 {
		o.k = o.limit
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
	m, err := p.openWalked(cmd.Context())
	if err != nil {
		return err
	}
	defer m.close()
	f, err := o.filter(m)
	if err != nil {
		return err
	}
	res, err := m.engine.Recall(cmd.Context(), recall.Query{
		Text: text, Projects: f.Projects, Types: f.Types, Scope: f.Scope, Tags: f.Tags, Dead: f.Dead, K: o.k, MaxTokens: o.maxTokens,
	})
	if err != nil {
		return err
	}
	m.logRecall(res)
	for _, s := range append(res.Failed, res.Missing...) {
		p.note("left out: %s", s)
	}
	if p.json {
		if err := p.emit(searchJSON(m, res, o.explain)); err != nil {
			return err
		}
	} else {
		p.printHits(res, o)
	}
	if len(res.Hits) == 0 {
		if !p.json {
			p.note("nothing found among %s", plural(res.Searched, "note"))
		}
		return &codedError{code: exitNothing}
	}
	return nil
}

// logRecall records what a search returned.
func (m *memory) logRecall(res *recall.Result) {
	r := store.Record{Kind: store.Recalled, Count: len(res.Hits), MS: float64(res.Took.Microseconds()) / 1000}
	for _, h := range res.Hits {
		r.Notes = append(r.Notes, h.Row.ID)
	}
	if m.p.cfg.Events.Queries {
		r.Query = m.redactor.Redact(res.Query.Text).String()
	}
	_ = m.store.Log(r)
}

func (p *program) printHits(res *recall.Result, o searchOptions) {
	for i, h := range res.Hits {
		switch o.format {
		case "ids":
			p.printf("%s\n", h.Row.ID)
			continue
		case "simple":
			p.printf("%s  %.2f  [%s] %s\n", h.Row.ID, h.Score(), h.Row.Type, firstLine(h.Row.Title, note.MaxTitle))
		default:
			if i > 0 {
				p.printf("\n")
			}
			p.printf("%d. [%s] %s\n", i+1, h.Row.Type, firstLine(h.Row.Title, note.MaxTitle))
			p.printf("   %s  score %.2f  project %s  %s\n", h.Row.ID, h.Score(), h.Row.Project, date(h.Row.Updated))
			for line := range strings.Lines(passage(h)) {
				p.printf("   | %s\n", strings.TrimRight(line, "\n"))
			}
		}
		if o.explain {
			for _, r := range h.Reasons {
				p.printf("   %+8.3f  %s\n", r.Delta, r.What)
			}
			p.printf("   coverage %.0f %% of the question by weight\n", 100*h.Coverage)
		}
	}
	if o.explain {
		var terms []string
		for _, t := range res.Terms {
			terms = append(terms, fmt.Sprintf("%s (in %d)", t.Token, t.Frequency))
		}
		p.printf("\nlooked for: %s\n%s searched in %s\n", strings.Join(terms, ", "), plural(res.Searched, "note"), took(res.Took))
	}
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

type hitJSON struct {
	noteJSON
	Score    float64         `json:"score"`
	Coverage float64         `json:"coverage"`
	Path     string          `json:"path"`
	Body     string          `json:"body"`
	Reasons  []recall.Reason `json:"reasons,omitempty"`
}

func searchJSON(m *memory, res *recall.Result, explain bool) any {
	hits := make([]hitJSON, 0, len(res.Hits))
	for _, h := range res.Hits {
		j := hitJSON{noteJSON: describe(h.Note), Score: h.Score(), Coverage: h.Coverage, Path: m.store.Path(h.Row.Ref.Path), Body: h.Note.Body}
		if explain {
			j.Reasons = h.Reasons
		}
		hits = append(hits, j)
	}
	return struct {
		header
		Query    string    `json:"query"`
		Hits     []hitJSON `json:"results"`
		Searched int       `json:"searched"`
		Stale    int       `json:"stale"`
		Tokens   int       `json:"tokens"`
		TookMS   float64   `json:"took_ms"`
		Missing  []string  `json:"missing"`
	}{head("search"), res.Query.Text, hits, res.Searched, m.stale, res.Tokens, float64(res.Took.Microseconds()) / 1000, append([]string{}, res.Missing...)}
}

// noteJSON is a note without its body, in the shape that every command prints.
type noteJSON struct {
	ID          note.ID   `json:"id"`
	Type        note.Type `json:"type"`
	Title       string    `json:"title"`
	Project     string    `json:"project"`
	MachineID   string    `json:"machine_id"`
	Scope       string    `json:"scope"`
	UserID      string    `json:"user_id"`
	WorkspaceID string    `json:"workspace_id"`
	Source      string    `json:"prov_source"`
	Confidence  float64   `json:"confidence"`
	Model       string    `json:"prov_model,omitempty"`
	Session     string    `json:"prov_session,omitempty"`
	Supersedes  []note.ID `json:"supersedes,omitempty"`
	Tags        []string  `json:"tags"`
	CreatedAt   string    `json:"created_at"`
	UpdatedAt   string    `json:"updated_at"`
}

func describe(n *note.Note) noteJSON {
	return noteJSON{
		n.ID, n.Type, n.Title, n.Project, n.MachineID, string(n.Scope), n.UserID, n.WorkspaceID, n.Provenance.Source,
		n.Provenance.Confidence, n.Provenance.Model, n.Provenance.Session, n.Supersedes, append([]string{}, n.Tags...),
		string(n.CreatedAt), string(n.UpdatedAt),
	}
}
