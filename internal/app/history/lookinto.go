package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/config"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

// A Stage is a stage of recall that can be left out, by the id of its feature.
type Stage struct {
	ID, Name, Doc string
}

// Stages lists the stages of recall that can be left out.
func Stages() (all []Stage) {
	for _, f := range config.Features() {
		if len(OffSettings(recall.Tuned(), f)) > 0 {
			all = append(all, Stage{f.ID, f.Name, f.Doc})
		}
	}
	return all
}

// Without returns the rooms with an engine that leaves stages of recall out, by the ids
// of their features. Closing them closes the rooms.
func Without(r *app.Rooms, stages []string) (*app.Rooms, error) {
	left := slices.DeleteFunc(config.Features(), func(f config.Feature) bool { return !slices.Contains(stages, f.ID) })
	set := OffSettings(r.Config.Recall.Tuning, left...)
	if len(set) == 0 || r.Host.Environ == nil {
		return r, nil
	}
	models, _, err := app.OpenModels(r)
	if err != nil {
		return nil, err
	}
	c := *r
	cfg := *r.Config
	cfg.Recall = config.Load(r.Host.Environ(slices.Concat(r.Host.Flags, set))).Recall
	cfg.Recall.GapLog, cfg.Recall.CacheTTL = false, 0
	c.Config, c.Engine = &cfg, recall.New(r.Index, r.Store, cfg.Recall, models)
	c.Injector = inject.New(c.Engine, r.Store, cfg.Inject)
	return &c, nil
}

// A Verdict is one thing that has to hold for a note to be shown, and whether it does.
type Verdict struct {
	OK   bool   `json:"ok"`
	What string `json:"what"`
	Why  string `json:"why"`
}

// WhyNot says why a question is, or is not, answered with the note that name names, one
// thing after the other; it ends at the first that does not hold.
func WhyNot(ctx context.Context, r *app.Rooms, o app.SearchOptions, name string) (all []Verdict, err error) {
	row, err := app.Resolve(ctx, r, name)
	if err != nil {
		return nil, err
	}
	say := func(ok bool, what, why string, args ...any) bool {
		all = append(all, Verdict{ok, what, fmt.Sprintf(why, args...)})
		return ok
	}
	if row.Dead {
		say(false, "it is recalled", "no: %s", app.EndOf(r.Index.Content(ctx, row).Note, &row))
		return all, nil
	}
	say(true, "it is recalled", "it is live")
	find := func(change func(*app.Question)) (int, *recall.Result, error) {
		q := o.Question
		change(&q)
		query, _, err := q.NewQuery(ctx, r, o.Text)
		if err != nil {
			return 0, nil, err
		}
		query.K, query.Synthetic, query.NoCache = recall.MaxK, true, true
		res, err := r.Engine.Recall(ctx, query)
		if err != nil {
			return 0, nil, err
		}
		return 1 + slices.IndexFunc(res.Hits, func(h *recall.Hit) bool { return h.Row.ID == row.ID }), res, nil
	}
	rank, res, err := find(func(q *app.Question) { q.Gate, q.MinOverlap = false, 0 })
	if err != nil {
		return all, err
	}
	if rank == 0 {
		wide, _, err := find(func(q *app.Question) { q.Gate, q.Global, q.AllBranches, q.Project = false, true, true, "" })
		if err != nil {
			return all, err
		}
		where := row.Project
		if row.Branch != "" {
			where += " on branch " + row.Branch
		}
		if !say(wide == 0 || len(o.Arms) > 0, "it is asked for", "it belongs to %s", note.Line(where, 80)) {
			all[len(all)-1].Why = "no: it belongs to " + note.Line(where, 80) + ", and the question is about another project or branch"
			return all, nil
		}
		say(false, "an arm finds it", "no: no word and no meaning of the question is near enough among the best %d", recall.MaxK)
		return all, nil
	}
	h := res.Hits[rank-1]
	var arms []string
	for arm, f := range h.Found {
		arms = append(arms, fmt.Sprintf("%s (%d.)", arm, f.Rank))
	}
	slices.Sort(arms)
	say(true, "an arm finds it", "%s", strings.Join(arms, ", "))
	k := max(o.K, 1)
	if !say(rank <= k, "it is among the first", "it has place %d of %d, with score %.2f; %d are shown", rank, len(res.Hits), h.Score(), k) {
		return all, nil
	}
	_, gated, err := find(func(q *app.Question) { q.Gate = true })
	if err == nil && gated.Gate != nil {
		g := gated.Gate
		say(g.Open, "the gate is open", "%s (signal %.2f, threshold %.2f)", g.Reason, g.Signal, g.Threshold)
	}
	return all, err
}

// TryCall answers as Tool would before a call of a tool; nothing is remembered of it.
func TryCall(ctx context.Context, r *app.Rooms, call agent.Call, o hooks.PromptOptions) (hooks.PromptAnswer, error) {
	o.Try = true
	return hooks.Tool(ctx, r, agent.Event{}, call, o)
}

// TitlesOf returns the titles of notes; one that is gone has none.
func TitlesOf(ctx context.Context, r *app.Rooms, ids ...note.ID) (all []app.NamedID) {
	titles := map[note.ID]string{}
	for _, id := range ids {
		all = append(all, app.NamedID{ID: id, Title: app.TitleOf(ctx, r, titles, id)})
	}
	return all
}

// A WaitingJob is work that waits for a background run.
type WaitingJob struct {
	ID       note.ID   `json:"id"`
	Kind     string    `json:"kind"`
	Since    time.Time `json:"queued_at"`
	Due      time.Time `json:"due"`
	Attempts int       `json:"attempts"`
	Reason   string    `json:"reason,omitempty"`
}

// QueueAnswer lists the work that waits, and the work that was given up.
type QueueAnswer struct {
	Jobs     []WaitingJob    `json:"jobs"`
	Poisoned []queue.Problem `json:"poisoned"`
	Runs     []store.Record  `json:"runs"` // the last ones over the queue, newest first
}

// Queue lists the work that waits for a background run.
func Queue(r *app.Rooms) (a QueueAnswer, err error) {
	q := queue.Of(r.Store)
	for _, kind := range []queue.Kind{queue.Capture, queue.Summary, queue.Read, queue.Batch} {
		jobs, _, err := q.Look(kind)
		if err != nil {
			return a, err
		}
		for _, j := range jobs {
			a.Jobs = append(a.Jobs, WaitingJob{j.ID, j.Kind, j.Created, j.Due(), j.Attempts, j.Reason})
		}
	}
	a.Poisoned = q.Poisoned()
	err = app.LoggedRecords(r, r.Store.Now().AddDate(0, 0, -7), func(rec store.Record, _ time.Time) {
		if rec.Kind == store.Drained {
			a.Runs = append(a.Runs, rec)
		}
	})
	slices.Reverse(a.Runs)
	a.Runs = a.Runs[:min(len(a.Runs), 10)]
	return a, err
}

// Gone lists the notes that are not recalled: superseded, archived, expired or in
// quarantine, newest first, at most limit.
func Gone(ctx context.Context, r *app.Rooms, limit int) (rows []app.NoteView, err error) {
	s := app.Selection{All: true}
	f, err := s.Filter(r)
	if err != nil {
		return nil, err
	}
	live := f
	live.Dead = false
	all, err := r.Index.PerProject(ctx, f)
	if err != nil {
		return nil, err
	}
	left, err := r.Index.PerProject(ctx, live)
	if err != nil {
		return nil, err
	}
	for project, n := range all { // only projects that have such notes are looked through
		if n == left[project] {
			continue
		}
		f.Projects = []string{project}
		some, err := r.Index.Select(ctx, f, 0)
		if err != nil {
			return nil, err
		}
		for _, row := range some {
			if row.Dead {
				rows = append(rows, app.ViewRow(r, row))
			}
		}
	}
	slices.SortFunc(rows, func(a, b app.NoteView) int {
		return strings.Compare(b.UpdatedAt+string(b.ID), a.UpdatedAt+string(a.ID))
	})
	return rows[:min(len(rows), limit)], nil
}

// OffSettings are the settings that switch features of recall off, where now is the ranking
// that is in force; none when they have no switch.
func OffSettings(now recall.Tuning, features ...config.Feature) (off []string) {
	var boosts []string
	for _, f := range features {
		if !strings.HasPrefix(f.Home, "recall/") {
			continue
		}
		boosts = append(boosts, recall.Boosts(f.ID)...)
		for _, s := range f.Settings {
			if s.Default == "true" {
				off = append(off, s.Key+"=false")
			}
		}
	}
	if len(boosts) > 0 {
		off = append(off, WithoutBoosts(now, boosts))
	}
	return off
}

// WithoutBoosts is the setting that leaves some boosts out of those that count now.
func WithoutBoosts(now recall.Tuning, boosts []string) string {
	rest := slices.DeleteFunc(now.Boosting(), func(b string) bool { return slices.Contains(boosts, b) })
	return "recall.boosts=" + cmp.Or(strings.Join(rest, ","), config.NoBoost)
}
