package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newStats(p *program) *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count what memory holds and what it was good for",
		Long: `Count the notes by what they are and where they came from, and what memory did on
this machine in the last time: sessions told and captured, questions asked and
answered, the notes that were shown most, and those that never were.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			from, err := moment("--since", since, m.Store.Now())
			if err != nil {
				return err
			}
			s, err := m.stats(cmd.Context(), from)
			if err != nil {
				return err
			}
			if p.json {
				return p.emit(s)
			}
			p.printStats(s, from)
			return nil
		},
	}
	cmd.Flags().StringVar(&since, "since", "30d", "what memory did from `TIME` on: 2026-03-31, 12h, 7d")
	return cmd
}

type statsJSON struct {
	header
	Notes struct {
		Total      int    `json:"total"`
		Live       int    `json:"live"`
		Superseded int    `json:"superseded"`
		ByType     counts `json:"by_type"`
		ByProject  counts `json:"by_project"`
		ByMachine  counts `json:"by_machine"`
		BySource   counts `json:"by_source"`
		ByMonth    counts `json:"by_month"` // of creation
		Never      int    `json:"never_shown"`
	} `json:"notes"`
	Since    string       `json:"since"`
	Activity activityJSON `json:"activity"`
	Most     []shownNote  `json:"most_shown"`
	Bytes    struct {
		Index  int64 `json:"index"`
		Events int64 `json:"events"`
	} `json:"bytes"`
}

type activityJSON struct {
	Told         int     `json:"sessions_told"`
	Captured     int     `json:"sessions_captured"`
	Trivial      int     `json:"sessions_trivial"`
	Written      int     `json:"notes_written"`
	Questions    int     `json:"questions"`
	Answered     int     `json:"questions_answered"`
	Gaps         int     `json:"gaps"`
	Syncs        int     `json:"syncs"`
	HookFailures int     `json:"hook_failures"`
	QuestionMS   float64 `json:"question_ms_median"`
	StartMS      float64 `json:"session_start_ms_median"`
}

type shownNote struct {
	namedID
	Injected int `json:"injected"`
	Recalled int `json:"recalled"`
}

// mostShown is how many of the notes that were shown most are listed.
const mostShown = 5

func (m *memory) stats(ctx context.Context, since time.Time) (statsJSON, error) {
	s := statsJSON{header: head("stats"), Since: since.UTC().Format(time.RFC3339), Most: []shownNote{}}
	n := &s.Notes
	n.ByType, n.ByProject, n.ByMachine, n.BySource, n.ByMonth = counts{}, counts{}, counts{}, counts{}, counts{}
	rows, err := m.Index.Select(ctx, index.Filter{Dead: true}, 0)
	if err != nil {
		return s, err
	}
	ids := make([]note.ID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
		n.ByType[string(r.Type)]++
		n.ByProject[r.Project]++
		n.ByMachine[r.MachineID]++
		n.BySource[r.Source]++
		if !r.Created.IsZero() {
			n.ByMonth[r.Created.UTC().Format("2006-01")]++
		}
		switch {
		case r.SupersededBy != "":
			n.Superseded++
		case !r.Dead:
			n.Live++
		}
	}
	n.Total = len(rows)
	if err := m.Index.Fold(ctx); err != nil && !m.Store.ReadOnly() {
		m.p.note("%v", err)
	}
	tallies, err := m.Index.Counters(ctx, ids)
	if err != nil {
		return s, err
	}
	for _, r := range rows {
		t := tallies[r.ID]
		if t.Injected+t.Recalled == 0 {
			n.Never++
			continue
		}
		s.Most = append(s.Most, shownNote{namedID{r.ID, r.Title}, t.Injected, t.Recalled})
	}
	slices.SortFunc(s.Most, func(a, b shownNote) int {
		return cmp.Or(cmp.Compare(b.Injected+b.Recalled, a.Injected+a.Recalled), cmp.Compare(a.ID, b.ID))
	})
	s.Most = s.Most[:min(len(s.Most), mostShown)]
	if s.Activity, err = m.activity(since); err != nil {
		return s, err
	}
	s.Bytes.Events = m.Store.EventSize()
	s.Bytes.Index = sizeOf(m.Store.Path("index.db"))
	return s, nil
}

// activity counts what the event log says happened.
func (m *memory) activity(since time.Time) (a activityJSON, err error) {
	var starts, questions []float64
	told := map[string]bool{}
	err = app.Records(m.Rooms, since, func(r store.Record, _ time.Time) {
		switch r.Kind {
		case store.Injected:
			told[cmp.Or(r.Session, string(r.ID))] = true
			starts = append(starts, r.MS)
		case store.Recalled:
			a.Questions++
			if r.Count > 0 || len(r.Notes) > 0 {
				a.Answered++
			}
			questions = append(questions, r.MS)
		case store.Captured:
			if r.Text == "trivial" {
				a.Trivial++
			} else {
				a.Captured++
			}
		case store.Written:
			if r.Text == "created" || r.Text == "updated" {
				a.Written++
			}
		case store.Gap:
			if r.Count >= 0 {
				a.Gaps++
			}
		case store.Synced:
			a.Syncs++
		case store.HookFailure:
			a.HookFailures++
		}
	})
	a.Told, a.StartMS, a.QuestionMS = len(told), middle(starts), middle(questions)
	return a, err
}

func middle(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func (p *program) printStats(s statsJSON, since time.Time) {
	n := s.Notes
	p.printf("notes: %d, %d live, %d superseded, %d archived or expired, %d never shown yet\n",
		n.Total, n.Live, n.Superseded, n.Total-n.Live-n.Superseded, n.Never)
	for _, row := range []struct {
		name string
		c    counts
	}{{"type", n.ByType}, {"source", n.BySource}, {"machine", n.ByMachine}, {"project", n.ByProject}} {
		p.printf("  by %-8s %s\n", row.name, row.c.top(8))
	}
	if len(n.ByMonth) > 0 {
		p.printf("  by month    %s\n", n.ByMonth.bars(12))
	}
	a := s.Activity
	p.printf("since %s: %s told, %s captured (%d without content), %s written\n", clock(since),
		plural(a.Told, "session"), plural(a.Captured, "session"), a.Trivial, plural(a.Written, "note"))
	p.printf("  %s asked, %d answered; %s; %s; %s\n",
		plural(a.Questions, "question"), a.Answered, plural(a.Gaps, "gap"), plural(a.Syncs, "sync"), plural(a.HookFailures, "hook failure"))
	if a.StartMS > 0 {
		p.printf("  half of the session starts took less than %s\n", millis(a.StartMS))
	}
	if a.QuestionMS > 0 {
		p.printf("  half of the questions took less than %s\n", millis(a.QuestionMS))
	}
	if len(s.Most) > 0 {
		p.printf("shown most:\n")
	}
	for _, h := range s.Most {
		p.printf("  %s  told %d×, found %d×  %s\n", h.ID, h.Injected, h.Recalled, firstLine(h.Title, 60))
	}
	p.printf("on disk: index %s, event log %s\n", size(s.Bytes.Index), size(s.Bytes.Events))
}

func millis(ms float64) string { return took(time.Duration(ms * float64(time.Millisecond))) }

// top writes the n greatest counts, greatest first.
func (c counts) top(n int) string {
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
func (c counts) bars(n int) string {
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
