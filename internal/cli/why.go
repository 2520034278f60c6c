package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newWhy(p *program) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "why ID",
		Short: "Tell where a note came from, and when and why it was shown",
		Long: `Tell where a note came from: who wrote it, from which session, out of which other
notes, back to the sentences they were made from. Then what changed it, what
replaces it, and when it was told to a session or found by a question.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usage("why: --limit %d: give 0 for all, or a number", limit)
			}
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			row, err := app.Resolve(cmd.Context(), m.Rooms, args[0])
			if err != nil {
				return err
			}
			return p.why(cmd.Context(), m, row, limit)
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 10, "showings at most, newest first; 0 means all")
	return cmd
}

// An origin is where a note came from; From are the origins of the notes it was
// made of.
type origin struct {
	ID       note.ID    `json:"id"`
	Type     note.Type  `json:"type,omitempty"`
	Title    string     `json:"title"`
	Source   string     `json:"source,omitempty"`
	Model    string     `json:"model,omitempty"`
	Session  string     `json:"session,omitempty"`
	Machine  string     `json:"machine,omitempty"`
	Created  string     `json:"created_at,omitempty"`
	Evidence []quoteRow `json:"evidence"`
	From     []origin   `json:"derived_from"`
	Gone     bool       `json:"gone,omitempty"`
}

type quoteRow struct {
	Session string `json:"session"`
	Quote   string `json:"quote"`
}

// A showing is one time at which a note was shown.
type showing struct {
	At      string `json:"at"`
	Kind    string `json:"kind"`
	Session string `json:"session,omitempty"`
	Project string `json:"project,omitempty"`
	Query   string `json:"query,omitempty"`
	Via     string `json:"via,omitempty"`
	Rank    int    `json:"rank,omitempty"` // of the answer to a question, from 1
	Why     string `json:"why"`
}

// depth is how far derived notes are followed.
const depth = 8

func (p *program) why(ctx context.Context, m *memory, row index.Row, limit int) error {
	n, _, _, err := m.Store.Read(row.Ref.Path)
	if err != nil {
		return err
	}
	if err := m.Index.Fold(ctx); err != nil && !m.Store.ReadOnly() {
		p.note("%v", err)
	}
	from := m.origin(n, map[note.ID]bool{}, depth)
	var shown []showing
	err = app.Records(m.Rooms, time.Time{}, func(r store.Record, _ time.Time) {
		if i := slices.Index(r.Notes, row.ID); i >= 0 && (r.Kind == store.Injected || r.Kind == store.Recalled) {
			shown = append(shown, newShowing(r, i, n))
		}
	})
	if err != nil {
		return err
	}
	slices.Reverse(shown)
	total := len(shown)
	if limit > 0 {
		shown = shown[:min(len(shown), limit)]
	}
	tallies, err := m.Index.Counters(ctx, []note.ID{row.ID})
	if err != nil {
		return err
	}
	revs, err := m.Store.History(row.ID)
	if err != nil {
		return err
	}
	tally := tallies[row.ID]
	if p.json {
		return p.emit(struct {
			header
			ID           note.ID   `json:"id"`
			Origin       origin    `json:"origin"`
			Live         bool      `json:"live"`
			Supersedes   []note.ID `json:"supersedes"`
			SupersededBy note.ID   `json:"superseded_by,omitempty"`
			Changes      int       `json:"changes"`
			Injected     int       `json:"injected"`
			Recalled     int       `json:"recalled"`
			Showings     []showing `json:"showings"`
		}{
			head("why"), row.ID, from, !row.Dead, append([]note.ID{}, n.Supersedes...), row.SupersededBy, len(revs),
			tally.Injected, tally.Recalled, append([]showing{}, shown...),
		})
	}
	p.printf("# %s\n%s\n\n", firstLine(n.Title, note.MaxTitle), m.Store.Path(row.Ref.Path))
	p.printf("where it came from\n")
	p.printOrigin(from, 1)
	p.printState(n, row, len(revs))
	p.printf("\nshown: told at session start %d×, found by a question %d×\n", tally.Injected, tally.Recalled)
	for _, s := range shown {
		at, _ := time.Parse(time.RFC3339, s.At)
		p.printf("  %s  %s\n", clock(at), s.Why)
	}
	if total > len(shown) {
		p.printf("  … %d more; --limit 0 shows all\n", total-len(shown))
	}
	return nil
}

// origin follows a note back to what it was made of.
func (m *memory) origin(n *note.Note, seen map[note.ID]bool, left int) origin {
	seen[n.ID] = true
	o := origin{
		ID: n.ID, Type: n.Type, Title: n.Title, Source: n.Provenance.Source, Model: n.Provenance.Model, Session: n.Provenance.Session,
		Machine: n.MachineID, Created: string(n.CreatedAt), Evidence: []quoteRow{}, From: []origin{},
	}
	for _, e := range n.Evidence {
		o.Evidence = append(o.Evidence, quoteRow{e.Session, e.Quote})
	}
	for _, id := range n.DerivedFrom {
		if seen[id] || left == 0 {
			continue
		}
		ref, err := m.Store.Find(id)
		if err == nil {
			if from, _, _, rerr := m.Store.Read(ref.Path); rerr == nil {
				o.From = append(o.From, m.origin(from, seen, left-1))
				continue
			}
		}
		o.From = append(o.From, origin{ID: id, Gone: true, Evidence: []quoteRow{}, From: []origin{}})
	}
	return o
}

// written says who wrote a note, in words.
func written(source, model string) string {
	who := map[string]string{
		note.Human: "you wrote it", note.SessionEnd: "captured from a session", note.Reflection: "distilled from other notes",
		note.Import: "imported from another memory", note.Merge: "made of notes that said the same", note.Agent: "an agent wrote it",
		note.Learning: "learned from a correction",
	}[source]
	if who == "" {
		who = "source " + printable(source)
	}
	if model != "" {
		who += " by " + printable(model)
	}
	return who
}

func (p *program) printOrigin(o origin, level int) {
	indent := strings.Repeat("  ", level)
	if o.Gone {
		p.printf("%s%s (gone; `anamnesis history %s` may know it)\n", indent, o.ID, o.ID)
		return
	}
	if level > 1 {
		p.printf("%s%s %q\n", indent, o.ID, firstLine(o.Title, 70))
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

func (p *program) printState(n *note.Note, row index.Row, changes int) {
	if changes > 0 {
		p.printf("\nchanged %d×; `anamnesis history %s` lists how\n", changes, row.ID)
	}
	for _, id := range n.Supersedes {
		p.printf("it replaces %s\n", id)
	}
	switch {
	case row.SupersededBy != "":
		p.printf("it is not recalled: %s replaces it\n", row.SupersededBy)
	case n.Status != "" && row.Dead:
		p.printf("it is not recalled: %s%s\n", printable(n.Status), because(printable(n.StatusReason)))
	case row.Dead:
		p.printf("it is not recalled: expired or waiting for review\n")
	}
}

// newShowing says why a note was shown. i is its place in the answer.
func newShowing(r store.Record, i int, n *note.Note) showing {
	s := showing{At: r.At, Kind: r.Kind, Session: r.Session, Project: r.Project, Query: r.Query, Via: r.Text}
	session := ""
	if r.Session != "" {
		session = " of session " + firstLine(r.Session, 40)
	}
	switch {
	case r.Kind == store.Recalled:
		s.Rank = i + 1
		s.Why = fmt.Sprintf("answer %d to a question", s.Rank)
		if r.Query != "" {
			s.Why = fmt.Sprintf("answer %d to %q", s.Rank, firstLine(r.Query, 80))
		}
		if r.Text != "" {
			s.Why += " (" + printable(r.Text) + ")"
		}
	case n.Kind == note.Handoff:
		s.Why = "told at the start" + session + ": it was handed over"
	case n.Project == note.Global:
		s.Why = "told at the start" + session + ": a global note is told to every session"
	default:
		s.Why = "told at the start" + session + ": one of the notes of its project"
	}
	return s
}
