package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/recall"

	"github.com/spf13/cobra"
)

// searchOptions are the flags of search.
type searchOptions struct {
	app.SearchOptions
	limit  int
	format string

	sessions, notes bool
}

func newSearch(p *program) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find notes, and exchanges of past sessions",
		Long: `Find the notes that answer a question, best first, and under them the exchanges of past
sessions that do. Words are matched in any
number and order, by their stems; identifiers, paths and error messages also
as a whole; words that mean nearly the same count too; a date such as "last
week" looks among the notes of that time. A query of - is read from standard
input.

The question is about the project of this folder, and about notes for every
project; --global asks all projects. What sessions noted on other branches
are held back while those are open; exchanges of all branches are found.

Exit code 3 says that nothing was found.`,
		Example: `  anamnesis search regenerate grpc clients
  anamnesis search --project . --type procedural "deploy staging"
  anamnesis search --global --gate "how do we rotate the staging certificate"
  anamnesis search --field rule --field fix "flaky test in the auth suite"
  anamnesis search --sessions "why did we drop the retry queue"
  anamnesis search --explain "flaky test in the auth suite"`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("max-tokens") {
				o.MaxTokens = p.cfg.Recall.MaxTokens
			}
			return p.search(cmd, o, strings.Join(args, " "))
		},
	}
	f := cmd.Flags()
	questionFlags(f, &o.Question)
	f.IntVarP(&o.K, "k", "k", recall.DefaultK, "notes at most, up to 100")
	f.IntVar(&o.limit, "limit", 0, "the same as --k")
	f.IntVar(&o.MaxTokens, "max-tokens", 0, "tokens of all that is printed, estimated; 0 means no end (default: the setting "+
		"recall.max_tokens)")
	f.BoolVar(&o.Strict, "budget-strict", false, "end at the first note that does not fit, instead of looking for shorter ones")
	f.StringArrayVar(&o.Fields, "field", nil, "print the field `NAME` of each note instead of the passage, such as rule or fix (may be "+
		"repeated)")
	f.BoolVar(&o.Explain, "explain", false, "show how each score came about")
	f.StringVar(&o.format, "format", "markdown", "markdown, simple, ids or json")
	f.BoolVar(&o.sessions, "sessions", false, "exchanges of sessions alone")
	f.BoolVar(&o.notes, "notes", false, "notes alone")
	cmd.MarkFlagsMutuallyExclusive("sessions", "notes")
	f.BoolVar(&o.Persona, "persona-only", false, "answer a question about a habit or nothing: what is our commit style")
	return cmd
}

// sessionHits is how many exchanges stand under the notes.
const sessionHits = 3

// check puts the flags in order and refuses those that make no sense.
func (o *searchOptions) check(p *program) error {
	if o.limit != 0 {
		o.K = o.limit
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
	o.Sessions = sessionHits
	switch {
	case o.sessions:
		o.Only, o.Sessions = app.OnlySessions, o.K
	case o.notes || o.format == "ids" || o.format == "simple":
		o.Only = app.OnlyNotes
	}
	switch {
	case o.K < 1:
		return usage("search: --k %d: at least one note", o.K)
	case o.MaxTokens < 0:
		return usage("search: --max-tokens %d: give 0 for no end, or a number", o.MaxTokens)
	}
	return nil
}

// fitJSON drops hits from the end of an answer until its JSON, with all that stands
// around the hits, costs at most some tokens. One hit stays.
func fitJSON(a *app.SearchAnswer, most int) error {
	for most > 0 && len(a.Hits)+len(a.Sessions) > 1 {
		text, err := jsonText("search", *a)
		if err != nil || recall.Tokens(string(text)) <= most {
			return err
		}
		if n := len(a.Sessions); n > 0 {
			a.Sessions = a.Sessions[:n-1]
		} else {
			a.DropLast()
		}
	}
	return nil
}

// printExchangeHits prints the exchanges that answer, under the notes.
func (p *program) printExchangeHits(a *app.SearchAnswer) {
	for i := range a.Sessions {
		h := &a.Sessions[i]
		if i > 0 || len(a.Result.Hits) > 0 {
			p.printf("\n")
		}
		branch := ""
		if h.Branch != "" {
			branch = "  on " + firstLine(h.Branch, 40)
		}
		p.printf("%d. [session] %s\n", len(a.Result.Hits)+i+1, printable(firstLine(h.Title, 80)))
		p.printf("   %s  %s  project %s  %s%s\n", h.ID, h.Agent, firstLine(h.Project, 60), shortDay(h.At), branch)
		if h.Ask != "" {
			p.printf("   > %s\n", printable(firstLine(h.Ask, 160)))
		}
		for _, line := range h.Lines {
			p.printf("   | %s\n", printable(line))
		}
		if reply := firstLine(strings.Join(strings.Fields(h.Reply), " "), 300); reply != "" {
			p.printf("   = %s\n", printable(reply))
		}
	}
}

func (p *program) search(cmd *cobra.Command, o searchOptions, text string) (err error) {
	if o.Text, err = p.question("search", text); err == nil {
		err = cmp.Or(o.check(p), o.Configure(p.cfg))
	}
	if err != nil {
		return err
	}
	return ask(p, cmd, "search", func(ctx context.Context, r *app.Rooms) (app.SearchAnswer, error) {
		o.Cost = func(h *recall.Hit) int {
			if !p.json {
				return recall.Tokens(p.hitText(0, h, o.format, o.Fields))
			}
			data, err := json.Marshal(app.ViewHit(r.Store, h, &o.SearchOptions))
			if err != nil {
				return 0 // unreachable: scores are finite
			}
			return recall.Tokens(string(data))
		}
		a, err := app.Search(ctx, r, o.SearchOptions)
		if p.json && app.Answers(err) {
			err = errors.Join(err, fitJSON(&a, o.MaxTokens))
		}
		return a, err
	}, func(a app.SearchAnswer) {
		if a.Persona != nil && o.format == "markdown" {
			p.printf("%s: %s (persona, confidence %.2f)\n\n", firstLine(a.Persona.Field, 60), firstLine(a.Persona.Value, 200), a.Persona.Confidence)
		}
		for i, h := range a.Result.Hits {
			if i > 0 && o.format == "markdown" {
				p.printf("\n")
			}
			p.printf("%s", p.paintHit(p.hitText(i, h, o.format, o.Fields)))
			if o.Explain {
				p.explainHit(h)
			}
		}
		if o.Explain && o.Only != app.OnlySessions {
			p.explain(a.Result)
		}
		p.printExchangeHits(&a)
		switch {
		case len(a.Sessions) > 0:
		case o.Only == app.OnlySessions:
			p.note("no exchange of a session matches")
		default:
			p.printNothing(a.Result)
		}
	})
}
