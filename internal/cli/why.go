package cli

import (
	"context"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newWhy(p *program) *cobra.Command {
	var limit int
	var last bool
	cmd := &cobra.Command{
		Use:   "why ID",
		Short: "Show where a note came from, and when it was shown",
		Long: `Tell where a note came from: who wrote it, from which session, out of which other
notes, back to the sentences they were made from. Then what changed it, what
replaces it, and when it was shown to a session or found by a question.

With --last: what the last prompt, tool call or sub-agent was shown, what it was nearly
shown, and why not.`,
		Example: `  anamnesis why 9KQT
  anamnesis why --last`,
		Args: func(cmd *cobra.Command, args []string) error {
			if last {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if last {
				return ask(p, cmd, "why", hooks.Last, p.printLast)
			}
			if limit < 0 {
				return usage("why: --limit %d: give 0 for all, or a number", limit)
			}
			return ask(p, cmd, "why", func(ctx context.Context, r *app.Rooms) (history.WhyAnswer, error) {
				return history.Why(ctx, r, args[0], limit)
			}, p.printWhy)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 10, "showings at most, newest first; 0 means all")
	cmd.Flags().BoolVar(&last, "last", false, "show what was shown last instead of a note")
	return cmd
}

func (p *program) printLast(a hooks.LastPrompt) {
	at, _ := time.Parse(time.RFC3339, a.At)
	p.printf("%s  project %s, session %s\n", clock(at), firstLine(a.Project, 40), firstLine(a.Session, 40))
	if a.Kind != store.Prompted {
		p.printf("at: before a %s\n", map[string]string{store.ToolShown: "tool ran", store.SubagentShown: "sub-agent started"}[a.Kind])
	}
	if a.Query != "" {
		p.printf("asked: %s\n", firstLine(a.Query, 200))
	}
	if a.Silent != "" {
		p.printf("shown: nothing, %s\n", printable(a.Silent))
	} else {
		p.printf("shown: %s, about %d tokens, in %.0f ms\n", plural(len(a.Shown), "note"), a.Tokens, a.MS)
	}
	for _, n := range a.Shown {
		p.printf("  %s  %s\n", p.short(n.ID), firstLine(n.Title, 70))
	}
	if len(a.Near) > 0 {
		p.printf("held back:\n")
	}
	for _, n := range a.Near {
		p.printf("  %s\n", nearly(p.short(n.ID), firstLine(n.Title, 70), printable(n.Why)))
	}
}

func (p *program) printWhy(a history.WhyAnswer) {
	p.printf("# %s\n%s\n\n", firstLine(a.Note.Title, note.MaxTitle), a.Path)
	p.printf("where it came from\n")
	p.printOrigin(a.Origin, 1)
	p.printState(a)
	if len(a.When)+len(a.Proposed) > 0 {
		p.printf("\n")
	}
	p.printWhen(a.When, a.Proposed)
	p.printf("\nshown: unasked %d×, found by a question %d×\n", a.Injected, a.Recalled)
	if a.Used+a.Unused+a.Opposed > 0 {
		p.printf("what became of it: used in %s, not used in %d, contradicted in %d\n", plural(a.Used, "session"), a.Unused, a.Opposed)
	}
	for _, s := range a.Showings {
		at, _ := time.Parse(time.RFC3339, s.At)
		p.printf("  %s  %s\n", clock(at), s.Why)
	}
	if a.Total > len(a.Showings) {
		p.printf("  … %d more; --limit 0 shows all\n", a.Total-len(a.Showings))
	}
}

// written says who wrote a note, in words.
func written(source, model string) string {
	who := map[string]string{
		note.Human: "you wrote it", note.SessionEnd: "captured from a session", note.Reflection: "distilled from other notes",
		note.Import: "imported from another memory", note.Merge: "made of notes that said the same", note.Agent: "an agent wrote it",
		note.User: "said by the user in a session", note.Learning: "learned from a session",
	}[source]
	if who == "" {
		who = "source " + printable(source)
	}
	if model != "" {
		who += " by " + printable(model)
	}
	return who
}

func (p *program) printOrigin(o history.Origin, level int) {
	indent := strings.Repeat("  ", level)
	if o.Gone {
		p.printf("%s%s (gone; `anamnesis log history %s` may know it)\n", indent, o.ID, o.ID)
		return
	}
	if level > 1 {
		before := indent + p.short(o.ID) + " "
		p.printf("%s%q\n", before, p.rest(before+`""`, o.Title, 70))
		indent += "  "
	}
	p.printf("%s%s, on %s, %s\n", indent, written(o.Source, o.Model), firstLine(o.Machine, 60), dated(note.Stamp(o.Created)))
	if o.Session != "" {
		p.printf("%ssession %s\n", indent, firstLine(o.Session, 80))
	}
	for _, e := range o.Evidence {
		if e.Quote == "" {
			p.printf("%ssession %s\n", indent, firstLine(e.Session, 80))
			continue
		}
		p.printf("%s“%s” (%s)\n", indent, firstLine(e.Quote, note.MaxQuote), firstLine(e.Session, 80))
	}
	if len(o.From) > 0 {
		p.printf("%smade of\n", indent)
	}
	for _, from := range o.From {
		p.printOrigin(from, level+1)
	}
}

func (p *program) printState(a history.WhyAnswer) {
	if a.Changes > 0 {
		p.printf("\nchanged %d×; `anamnesis log history %s` lists how\n", a.Changes, a.ID)
	}
	for _, id := range a.Supersedes {
		p.printf("it replaces %s\n", id)
	}
	if !a.Live {
		p.printf("it is not recalled: %s\n", printable(a.End))
	}
}
