package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newLog(p *program) *cobra.Command {
	var o app.LogOptions
	var follow bool
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List what sessions were shown and asked; history, counts, costs",
		Long: `List what was injected on this machine, by session, newest first: the notes shown at a
session's start, at prompts and before tools, and the answers to searches. It is read from the event
log; ` + "`anamnesis config explain events.queries`" + ` says how to keep questions out of it.`,
		Example: `  anamnesis log
  anamnesis log --since 7d --project .`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Limit < 0 {
				return usage("log: --limit %d: give 0 for all, or a number", o.Limit)
			}
			if follow {
				return p.followLog(cmd)
			}
			return ask(p, cmd, "log", func(ctx context.Context, r *app.Rooms) (app.LogAnswer, error) {
				return app.Log(ctx, r, o)
			}, p.printLog)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Session, "session", "", "of one session: its `ID` or the beginning of it")
	f.StringVar(&o.Project, "project", "", "of one project: its `KEY`, or . for the one of this folder")
	f.StringVar(&o.Since, "since", "30d", "from `TIME` on: 2026-03-31, 12h, 7d")
	f.IntVar(&o.Limit, "limit", 10, "sessions at most; 0 means all")
	f.BoolVarP(&follow, "follow", "f", false, "show what is injected from now on and what nearly was, until interrupted")
	return cmd
}

func (p *program) printLog(a app.LogAnswer) {
	for i, s := range a.Sessions {
		if i > 0 {
			p.printf("\n")
		}
		p.printSaid(s)
	}
	if len(a.Sessions) == 0 {
		p.note("nothing was shown or asked since %s", clock(a.Since))
	}
}

func (p *program) printSaid(s *app.SessionLog) {
	who := "session " + firstLine(s.Session, 60)
	if s.Session == "" {
		who = "outside of a session"
	}
	if s.Project != "" {
		who += " · " + firstLine(s.Project, 60)
	}
	p.printf("%s\n", who)
	for _, t := range s.Answers {
		at, _ := time.Parse(time.RFC3339, t.At)
		what := "shown at its start"
		switch t.Kind {
		case store.Prompted:
			what = "shown at a prompt"
			if t.Query != "" {
				what += fmt.Sprintf(" %q", firstLine(t.Query, 80))
			}
		case store.ToolShown:
			what = fmt.Sprintf("shown before %q", firstLine(t.Query, 80))
		case store.SubagentShown:
			what = "shown to a sub-agent"
		case store.Recalled:
			what = "asked"
			if t.Via != "" {
				what += " (" + printable(t.Via) + ")"
			}
			if t.Query != "" {
				what += fmt.Sprintf(" %q", firstLine(t.Query, 80))
			}
		}
		p.printf("  %s  %s: %s\n", clock(at), what, plural(t.Count, "note"))
		for _, n := range t.Notes {
			title := n.Title
			if title == "" {
				title = "(gone)"
			}
			before := fmt.Sprintf("    %s  ", p.short(n.ID))
			p.printf("%s%s\n", before, p.rest(before, title, 70))
		}
	}
}

// followLog prints what sessions are shown, as it happens.
func (p *program) followLog(cmd *cobra.Command) error {
	r, err := app.Open(cmd.Context(), p.host(), 0)
	if err != nil {
		return err
	}
	defer r.Close()
	p.ids = app.ShortIDs(cmd.Context(), r)
	_, err = app.Tail(cmd.Context(), r.Store, 0, true, func(rec store.Record) {
		if t, ok := app.InjectionOf(cmd.Context(), r, rec); ok {
			p.printFollowed(t, rec)
		}
	})
	return err
}

func (p *program) printFollowed(t app.Injection, rec store.Record) {
	if p.json {
		p.printRecord(rec)
		return
	}
	p.printSaid(&app.SessionLog{Session: rec.Session, Project: rec.Project, Answers: []app.Injection{t}})
	if rec.Text != "" && len(rec.Notes) == 0 && rec.Kind != store.Recalled {
		p.printf("    nothing: %s\n", firstLine(rec.Text, 100))
	}
	for _, n := range rec.Near {
		p.printf("    not %s: %s\n", p.short(n.ID), firstLine(n.Why, 100))
	}
}

func newTail(p *program) *cobra.Command {
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show what hooks and background runs did last",
		Long: `Show the end of the event log: what sessions were shown, what was captured, drained
and synced, and what failed. With --json each record is one line of JSON.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 {
				return usage("tail: --lines %d: give a number", lines)
			}
			s, err := p.openStore()
			if err != nil {
				return err
			}
			found, err := app.Tail(cmd.Context(), s, lines, follow, p.printRecord)
			if found == 0 && !follow && err == nil {
				p.note("the event log is empty")
			}
			return err
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "records")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what comes, until interrupted")
	return cmd
}

// printRecord prints one record of the event log as a line.
func (p *program) printRecord(r store.Record) {
	if p.json {
		enc := json.NewEncoder(p.stdout)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(r)
		return
	}
	at, _ := time.Parse(time.RFC3339, r.At)
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	add(p.rest("", r.Text, 120))
	if r.Query != "" {
		add(strconv.Quote(firstLine(r.Query, 80)))
	}
	switch {
	case len(r.Notes) == 1:
		add(string(r.Notes[0]))
	case len(r.Notes) > 1:
		add(plural(len(r.Notes), "note"))
	case r.Count != 0:
		add(plainInt(r.Count))
	}
	add(firstLine(r.Project, 60))
	if r.Session != "" {
		add("session " + firstLine(r.Session, 12))
	}
	if r.MS > 0 {
		add(took(time.Duration(r.MS * float64(time.Millisecond))))
	}
	if r.Error != "" {
		add("FAILED: " + firstLine(r.Error, 200))
	}
	p.printf("%s  %-10s %s\n", clock(at), firstLine(r.Kind, 20), strings.Join(parts, " · "))
}
