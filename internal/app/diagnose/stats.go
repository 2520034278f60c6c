package diagnose

import (
	"cmp"
	"context"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/capture"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// StatsAnswer says what memory holds and what it was good for.
type StatsAnswer struct {
	Notes struct {
		Total      int        `json:"total"`
		Live       int        `json:"live"`
		Superseded int        `json:"superseded"`
		ByType     app.Counts `json:"by_type"`
		ByProject  app.Counts `json:"by_project"`
		ByMachine  app.Counts `json:"by_machine"`
		BySource   app.Counts `json:"by_source"`
		ByMonth    app.Counts `json:"by_month"` // of creation
		Never      int        `json:"never_shown"`
	} `json:"notes"`
	Since    string      `json:"since"`
	Learning []Learning  `json:"learning"` // what agents made of unread turns, by month
	Activity Activity    `json:"activity"`
	Most     []ShownNote `json:"most_shown"`
	Bytes    struct {
		Index  int64 `json:"index"`
		Events int64 `json:"events"`
	} `json:"bytes"`

	From time.Time `json:"-"`
}

// Activity is what memory did on this machine, as the event log says.
type Activity struct {
	Sessions     int     `json:"sessions_told"`
	Captured     int     `json:"sessions_captured"`
	Trivial      int     `json:"sessions_trivial"`
	Written      int     `json:"notes_written"`
	Questions    int     `json:"questions"`
	Answered     int     `json:"questions_answered"`
	Prompts      int     `json:"prompts"`
	Reminded     int     `json:"prompts_told"`   // of these something was shown at
	Unasked      int     `json:"unasked_tokens"` // all that sessions were shown without asking, their starts too
	Reminders    int     `json:"prompt_tokens"`  // shown at them
	Tools        int     `json:"tools_told"`     // calls of tools before which rules were shown
	ToolTokens   int     `json:"tool_tokens"`
	Agents       int     `json:"subagents_told"` // sub-agents that were shown notes
	AgentTokens  int     `json:"subagent_tokens"`
	Denied       int     `json:"tools_denied"` // by the policy
	Gaps         int     `json:"gaps"`
	Syncs        int     `json:"syncs"`
	HookFailures int     `json:"hook_failures"`
	QuestionMS   float64 `json:"question_ms_median"`
	StartMS      float64 `json:"session_start_ms_median"`
}

// A ShownNote is a note and how often it was shown.
type ShownNote struct {
	app.NamedID
	Injected int `json:"injected"`
	Recalled int `json:"recalled"`
}

// mostShown is how many of the notes that were shown most are listed.
const mostShown = 5

// Stats counts the notes, and what memory did from since on.
func Stats(ctx context.Context, r *app.Rooms, since string) (s StatsAnswer, err error) {
	if s.From, err = app.Moment("--since", since, r.Store.Now()); err != nil {
		return s, err
	}
	if s.From, err = logged(r, s.From); err != nil {
		return s, err
	}
	s.Since = s.From.UTC().Format(time.RFC3339)
	n := &s.Notes
	n.ByType, n.ByProject, n.ByMachine, n.BySource, n.ByMonth = app.Counts{}, app.Counts{}, app.Counts{}, app.Counts{}, app.Counts{}
	rows, err := r.Index.Select(ctx, index.Filter{Dead: true}, 0)
	if err != nil {
		return s, err
	}
	ids := make([]note.ID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
		n.ByType[string(row.Type)]++
		n.ByProject[row.Project]++
		n.ByMachine[row.MachineID]++
		n.BySource[row.Source]++
		if !row.Created.IsZero() {
			n.ByMonth[row.Created.UTC().Format("2006-01")]++
		}
		switch {
		case row.SupersededBy != "":
			n.Superseded++
		case !row.Dead:
			n.Live++
		}
	}
	n.Total = len(rows)
	app.FoldEvents(ctx, r)
	tallies, err := r.Index.Counters(ctx, ids)
	if err != nil {
		return s, err
	}
	for _, row := range rows {
		t := tallies[row.ID]
		if t.Injected+t.Recalled == 0 {
			n.Never++
			continue
		}
		s.Most = append(s.Most, ShownNote{app.NamedID{ID: row.ID, Title: row.Title}, t.Injected, t.Recalled})
	}
	slices.SortFunc(s.Most, func(a, b ShownNote) int {
		return cmp.Or(cmp.Compare(b.Injected+b.Recalled, a.Injected+a.Recalled), cmp.Compare(a.ID, b.ID))
	})
	s.Most = s.Most[:min(len(s.Most), mostShown)]
	s.Bytes.Events, s.Bytes.Index = r.Store.Events().Size(), app.SizeOf(r.Store.Path("index.db"))
	if s.Learning, err = learning(r, s.From, rows); err != nil {
		return s, err
	}
	s.Activity, err = activity(r, s.From)
	return s, err
}

// logged returns a time, or when the event log began if that is later: before
// that nobody counted. Without any record it is now.
func logged(r *app.Rooms, from time.Time) (time.Time, error) {
	began := r.Store.Now()
	err := app.LoggedRecords(r, from, func(_ store.Record, at time.Time) {
		if at.Before(began) {
			began = at
		}
	})
	if err != nil {
		return from, err
	}
	if c, err := r.Store.Events().Checkpoint(); err == nil {
		for month := range c.Months {
			if at, err := time.Parse("2006-01", month); err == nil && at.Before(began) {
				began = at
			}
		}
	}
	if began.Before(from) {
		return from, nil
	}
	return began, nil
}

// speak counts what tools and sub-agents were shown.
func (a *Activity) speak(rec store.Record) {
	switch {
	case rec.Kind == store.Policed:
		if rec.Text == "deny" {
			a.Denied++
		}
	case len(rec.Notes) == 0:
	case rec.Kind == store.ToolShown:
		a.Tools++
		a.ToolTokens += rec.Out
	default:
		a.Agents++
		a.AgentTokens += rec.Out
	}
}

// activity counts what the event log says happened.
func activity(r *app.Rooms, since time.Time) (a Activity, err error) {
	var starts, questions []float64
	shown := map[string]bool{}
	err = app.LoggedRecords(r, since, func(rec store.Record, _ time.Time) {
		if rec.Shows() {
			a.Unasked += rec.Out
		}
		switch rec.Kind {
		case store.Injected:
			shown[cmp.Or(rec.Session, string(rec.ID))] = true
			starts = append(starts, rec.MS)
		case store.Prompted:
			a.Prompts++
			if len(rec.Notes) > 0 {
				a.Reminded++
				a.Reminders += rec.Out
			}
		case store.ToolShown, store.SubagentShown, store.Policed:
			a.speak(rec)
		case store.Recalled:
			a.Questions++
			if rec.Count > 0 || len(rec.Notes) > 0 {
				a.Answered++
			}
			questions = append(questions, rec.MS)
		case store.Captured:
			if rec.Text == "trivial" || rec.Text == capture.NoTranscript {
				a.Trivial++
			} else {
				a.Captured++
			}
		case store.Written:
			if rec.Text == "created" || rec.Text == "updated" {
				a.Written++
			}
		case store.Gap:
			if rec.Count >= 0 {
				a.Gaps++
			}
		case store.Synced:
			a.Syncs++
		case store.HookFailure:
			a.HookFailures++
		}
	})
	a.Sessions, a.StartMS, a.QuestionMS = len(shown), median(starts), median(questions)
	return a, err
}

// median is the upper median of some figures, 0 of none.
func median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Did counts what the event log says happened since a time.
func Did(r *app.Rooms, since string) (Activity, error) {
	from, err := app.Moment("--since", since, r.Store.Now())
	if err != nil {
		return Activity{}, err
	}
	return activity(r, from)
}
