package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

type logOptions struct {
	session, project, since string
	limit                   int
}

func newLog(p *program) *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List what sessions were told, and what was asked",
		Long: `List what memory said on this machine, by session, newest first: the notes that were
told at a session's start, and the answers to searches. It is read from the event
log; ` + "`anamnesis config explain events.queries`" + ` says how to keep questions out of it.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.limit < 0 {
				return usage("log: --limit %d: give 0 for all, or a number", o.limit)
			}
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			return p.log(cmd.Context(), m, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.session, "session", "", "of one session: its `ID` or the beginning of it")
	f.StringVar(&o.project, "project", "", "of one project: its `KEY`, or . for the one of this folder")
	f.StringVar(&o.since, "since", "30d", "from `TIME` on: 2026-03-31, 12h, 7d")
	f.IntVar(&o.limit, "limit", 10, "sessions at most; 0 means all")
	return cmd
}

// A told is one answer of memory.
type told struct {
	At    string    `json:"at"`
	Kind  string    `json:"kind"` // inject or recall
	Query string    `json:"query,omitempty"`
	Via   string    `json:"via,omitempty"`
	Count int       `json:"count"`
	MS    float64   `json:"ms"`
	Notes []namedID `json:"notes"`
}

type namedID struct {
	ID    note.ID `json:"id"`
	Title string  `json:"title"` // empty when the note is gone
}

// A saidTo is what one session was told.
type saidTo struct {
	Session string `json:"session"` // empty: asked by hand, or the agent did not say in which
	Project string `json:"project"`
	First   string `json:"first"`
	Last    string `json:"last"`
	Answers []told `json:"answers"`
}

func (p *program) log(ctx context.Context, m *memory, o logOptions) error {
	since, err := moment("--since", o.since, m.Store.Now())
	if err != nil {
		return err
	}
	project := ""
	if o.project != "" {
		project = p.project(m.Store, o.project).Key
	}
	names := app.NewTitles(m.Rooms)
	by := map[string]*saidTo{}
	err = app.Records(m.Rooms, since, func(r store.Record, _ time.Time) {
		if r.Kind != store.Injected && r.Kind != store.Recalled || !strings.HasPrefix(r.Session, o.session) || project != "" && r.Project != project {
			return
		}
		key := r.Session + "\x00" + r.Project
		if r.Session == "" {
			key += "\x00" + string(r.ID) // nothing says that these belong together
		}
		s := by[key]
		if s == nil {
			s = &saidTo{Session: r.Session, Project: r.Project, First: r.At, Answers: []told{}}
			by[key] = s
		}
		s.Last = r.At
		t := told{At: r.At, Kind: r.Kind, Query: r.Query, Via: r.Text, Count: max(r.Count, len(r.Notes)), MS: r.MS, Notes: []namedID{}}
		for _, id := range r.Notes {
			t.Notes = append(t.Notes, namedID{id, names.Of(ctx, id)})
		}
		s.Answers = append(s.Answers, t)
	})
	if err != nil {
		return err
	}
	list := make([]*saidTo, 0, len(by))
	for _, s := range by {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *saidTo) int { return strings.Compare(b.Last+b.Session, a.Last+a.Session) })
	if o.limit > 0 {
		list = list[:min(len(list), o.limit)]
	}
	if p.json {
		return p.emit(struct {
			header
			Sessions []*saidTo `json:"sessions"`
		}{head("log"), list})
	}
	for i, s := range list {
		if i > 0 {
			p.printf("\n")
		}
		p.printSaid(s)
	}
	if len(list) == 0 {
		p.note("nothing was told or asked since %s", clock(since))
	}
	return nil
}

func (p *program) printSaid(s *saidTo) {
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
		what := "told at its start"
		if t.Kind == store.Recalled {
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
			title := firstLine(n.Title, 70)
			if n.Title == "" {
				title = "(gone)"
			}
			p.printf("    %s  %s\n", n.ID, title)
		}
	}
}

func newTail(p *program) *cobra.Command {
	var follow bool
	var lines int
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show what hooks and background runs did last",
		Long: `Show the end of the event log: what sessions were told, what was captured, drained
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
			return p.tail(cmd.Context(), s, lines, follow)
		},
	}
	cmd.Flags().IntVarP(&lines, "lines", "n", 20, "records")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what comes, until interrupted")
	return cmd
}

func (p *program) tail(ctx context.Context, s *store.Store, lines int, follow bool) error {
	var last []store.Record
	places := map[string]int64{}
	files, err := s.EventFiles()
	if err != nil {
		return err
	}
	for _, file := range files {
		places[file], err = s.Records(file, 0, func(r store.Record) {
			if last = append(last, r); len(last) > 2*lines+1000 {
				last = slices.Delete(last, 0, len(last)-lines)
			}
		})
		if err != nil {
			return err
		}
	}
	for _, r := range last[max(0, len(last)-lines):] {
		p.printRecord(r)
	}
	if len(last) == 0 && !follow {
		p.note("the event log is empty")
	}
	for follow {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(250 * time.Millisecond):
		}
		if files, err = s.EventFiles(); err != nil {
			return err
		}
		for _, file := range files {
			if places[file], err = s.Records(file, places[file], p.printRecord); err != nil {
				return err
			}
		}
	}
	return nil
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
	add(firstLine(r.Text, 120))
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
