package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/diagnose"

	"github.com/spf13/cobra"
)

func newStats(p *program) *cobra.Command {
	var since string
	var economics bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count what memory holds and what it was good for",
		Long: `Count the notes by what they are and where they came from, and what memory did on
this machine in the last time: sessions shown and captured, questions asked and
answered, the notes that were shown most, and those that never were. For each month:
what agents kept of what you typed, how often you had to say again what a note says
already, how much of it was removed, and the tokens that it cost.

With --economics: the tokens that agents were shown, and what it would have cost them to
read the sessions that the notes come from. Both are counted, none is guessed; notes of
which no session was counted are left out of the comparison.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if economics {
				return ask(p, cmd, "stats", func(ctx context.Context, r *app.Rooms) (diagnose.EconomicsAnswer, error) {
					return diagnose.Economics(ctx, r, since)
				}, p.printEconomics)
			}
			return ask(p, cmd, "stats", func(ctx context.Context, r *app.Rooms) (diagnose.StatsAnswer, error) {
				return diagnose.Stats(ctx, r, since)
			}, p.printStats)
		},
	}
	cmd.Flags().StringVar(&since, "since", "30d", "what memory did from `TIME` on: 2026-03-31, 12h, 7d")
	cmd.Flags().BoolVar(&economics, "economics", false, "tokens injected versus tokens saved")
	return cmd
}

func (p *program) printEconomics(a diagnose.EconomicsAnswer) {
	if len(a.Surfaces) == 0 {
		p.note("agents were shown nothing since %s", clock(a.From))
		return
	}
	p.printf("since %s, in tokens:\n", clock(a.From))
	p.printf("  %-9s %7s %7s %9s %12s %9s\n", "where", "times", "notes", "shown", "sessions", "saved")
	for _, s := range append(a.Surfaces, a.All) {
		read, saved := "unknown", ""
		if s.Percent != nil {
			read, saved = plainInt(s.Sources), fmt.Sprintf("%d %%", *s.Percent)
		}
		p.printf("  %-9s %7d %7d %9d %12s %9s\n", s.Name, s.Times, s.Notes, s.Tokens, read, saved)
	}
	p.printf("  sessions: what the sessions behind the notes would take, read whole, which few agents would do\n")
	if a.All.Known < a.All.Times {
		p.printf("  of %d times the cost of reading is known for %d: these alone are compared\n", a.All.Times, a.All.Known)
	}
}

func (p *program) printStats(s diagnose.StatsAnswer) {
	n := s.Notes
	p.printf("notes: %d, %d live, %d superseded, %d archived or expired, %d never shown yet\n",
		n.Total, n.Live, n.Superseded, n.Total-n.Live-n.Superseded, n.Never)
	for _, row := range []struct {
		name string
		c    app.Counts
	}{{"type", n.ByType}, {"source", n.BySource}, {"machine", n.ByMachine}, {"project", n.ByProject}} {
		if len(row.c) > 0 {
			p.printf("  by %-8s %s\n", row.name, top(row.c, 8))
		}
	}
	if len(n.ByMonth) > 0 {
		p.printf("  by month    %s\n", bars(n.ByMonth, 12))
	}
	a := s.Activity
	p.printf("since %s: %s shown, %s captured (%d without content), %s written\n", clock(s.From),
		plural(a.Sessions, "session"), plural(a.Captured, "session"), a.Trivial, plural(a.Written, "note"))
	p.printf("  %s asked, %d answered; %d without a result; %s; %s\n",
		plural(a.Questions, "question"), a.Answered, a.Gaps, plural(a.Syncs, "sync"), plural(a.HookFailures, "hook failure"))
	if a.Tools+a.Agents+a.Denied > 0 {
		p.printf("  rules shown before %s (about %d tokens), %s denied; %s shown something (about %d tokens)\n",
			plural(a.Tools, "tool call"), a.ToolTokens, plural(a.Denied, "tool call"), plural(a.Agents, "sub-agent"), a.AgentTokens)
	}
	if a.Prompts > 0 {
		p.printf("  %s seen, %d shown something, about %d tokens in all\n", plural(a.Prompts, "prompt"), a.Reminded, a.Reminders)
	}
	if a.StartMS > 0 {
		p.printf("  half of the session starts took less than %s\n", millis(a.StartMS))
	}
	if a.QuestionMS > 0 {
		p.printf("  half of the questions took less than %s\n", millis(a.QuestionMS))
	}
	for _, m := range s.Learning {
		p.printf("learnt from what you typed, %s: %s shown to agents, %d answered (%d empty), about %d tokens\n",
			m.Month, plural(m.Shown, "record"), m.Answers, m.Empty, m.Tokens)
		p.printf("  %s filed, %d kept, %d removed since; %s repeated that a note had already\n",
			plural(m.Items, "item"), m.Kept, m.Removed, plural(m.Repeated, "correction"))
	}
	if len(s.Most) > 0 {
		p.printf("shown most:\n")
	}
	for _, h := range s.Most {
		p.printf("  %s  shown %d×, found %d×  %s\n", p.short(h.ID), h.Injected, h.Recalled, firstLine(h.Title, 60))
	}
	p.printf("on disk: index %s, event log %s\n", size(s.Bytes.Index), size(s.Bytes.Events))
}

func millis(ms float64) string { return took(time.Duration(ms * float64(time.Millisecond))) }

// top writes the n greatest counts, greatest first.
func top(c app.Counts, n int) string {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b string) int { return cmp.Or(cmp.Compare(c[b], c[a]), strings.Compare(a, b)) })
	var parts []string
	for _, k := range keys[:min(len(keys), n)] {
		parts = append(parts, firstLine(k, 50)+" "+plainInt(c[k]))
	}
	if len(keys) > n {
		parts = append(parts, plainInt(len(keys)-n)+" more")
	}
	return strings.Join(parts, ", ")
}

// bars draws the last n keys, in their order, as one bar each.
func bars(c app.Counts, n int) string {
	keys := slices.Sorted(maps.Keys(c))
	keys = keys[max(0, len(keys)-n):]
	highest := 0
	for _, k := range keys {
		highest = max(highest, c[k])
	}
	steps := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, k := range keys {
		b.WriteRune(steps[(len(steps)-1)*c[k]/highest])
	}
	return b.String() + " " + keys[0] + " to " + keys[len(keys)-1]
}
