package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"anamnesis/internal/index"
)

// An arm is one way of finding notes. Its list is ordered, best first; the
// scores of two arms cannot be compared, their ranks can.
type arm struct {
	name   string
	on     func(Options, Query, *Result) bool
	weight func(Options) float64 // in the fusion
	after  bool                  // it begins where the others ended
	ask    func(*Engine, context.Context, Query, *Result, []list) ([]*Hit, error)
}

// arms lists the arms, in the order that breaks ties.
var arms = []arm{
	{
		name: "lexical", ask: (*Engine).lexical,
		on:     func(Options, Query, *Result) bool { return true },
		weight: func(o Options) float64 { return o.LexicalWeight },
	},
	{
		name: "semantic", ask: (*Engine).semantic,
		on:     func(o Options, _ Query, _ *Result) bool { return o.SemanticArm },
		weight: func(o Options) float64 { return o.SemanticWeight },
	},
	{
		name: "temporal", ask: (*Engine).temporal,
		on:     func(o Options, _ Query, r *Result) bool { return o.Temporal && r.Window != nil },
		weight: func(o Options) float64 { return o.TemporalWeight },
	},
	{
		name: "successor", ask: (*Engine).successor,
		on:     func(_ Options, q Query, _ *Result) bool { return !q.OwnWords },
		weight: func(o Options) float64 { return o.LexicalWeight },
	},
	{
		name: "graph", after: true, ask: (*Engine).graph,
		on:     func(o Options, _ Query, _ *Result) bool { return o.GraphArm },
		weight: func(o Options) float64 { return o.GraphWeight },
	},
}

// Arms lists the names of the arms.
func Arms() []string {
	var names []string
	for _, a := range arms {
		names = append(names, a.name)
	}
	return names
}

// Sources lists what Hit.Found and Query.Arms may name: the arms, and "company",
// which brings what was written in the same second of a session as a hit and finds nothing alone.
func Sources() []string { return append(Arms(), neighbourSource) }

// A list is what an arm found.
type list struct {
	arm
	hits []*Hit
}

// An ArmReport is how an arm did.
type ArmReport struct {
	Name       string        `json:"name"`
	Candidates int           `json:"candidates"`
	Took       time.Duration `json:"-"`
	Error      string        `json:"error,omitempty"`
}

// errIdle means that there is nothing in the store that an arm could find for any
// question: it counts as not asked.
var errIdle = errors.New("nothing to find")

// ask puts the query to all arms, and again to a new index when that one was lost.
func (e *Engine) ask(ctx context.Context, q Query, res *Result) ([]list, error) {
	lists, err := e.askArms(ctx, q, res)
	if errors.Is(err, index.ErrLost) {
		if _, err = e.index.Sync(ctx, index.SyncOptions{}); err == nil {
			res.Arms, res.Failed = nil, nil
			lists, err = e.askArms(ctx, q, res)
		}
	}
	return lists, err
}

// askArms puts the query to all arms at once, and then to those that begin where
// the others ended. An arm that fails is left out; that none is left is an error, and so is
// an index that was lost (index.ErrLost).
func (e *Engine) askArms(ctx context.Context, q Query, res *Result) ([]list, error) {
	var errs []error
	asked := 0
	lists := make([]list, 0, len(arms))
	for _, after := range []bool{false, true} {
		var now []arm
		for _, a := range arms {
			if a.after == after && a.on(e.opts, q, res) && (len(q.Arms) == 0 || slices.Contains(q.Arms, a.name)) {
				now = append(now, a)
			}
		}
		asked += len(now)
		got := make([]list, len(now))
		reports := make([]ArmReport, len(now))
		failed := make([]error, len(now))
		var wg sync.WaitGroup
		for i, a := range now {
			wg.Go(func() {
				began := time.Now()
				got[i].arm = a
				got[i].hits, failed[i] = a.ask(e, ctx, q, res, lists)
				reports[i] = ArmReport{Name: a.name, Candidates: len(got[i].hits), Took: time.Since(began)}
			})
		}
		wg.Wait()
		for i, err := range failed {
			if errors.Is(err, errIdle) {
				asked--
				continue
			}
			if errors.Is(err, index.ErrLost) { // the others may have asked the empty one
				return nil, fmt.Errorf("recall: %s: %w", now[i].name, err)
			}
			if errors.Is(err, index.ErrNoModel) { // not asked for, rather than failed
				asked--
				reports[i].Error = err.Error()
			} else if err != nil {
				reports[i].Error = err.Error()
				res.Failed = append(res.Failed, fmt.Sprintf("%s: %v", now[i].name, err))
				errs = append(errs, err)
			}
			res.Arms, lists = append(res.Arms, reports[i]), append(lists, got[i])
		}
	}
	if res.Searched == 0 { // the lexical arm, which counts them, was not asked or had no words
		if st, err := e.index.Statistics(ctx); err == nil {
			res.Searched = st.Notes
		}
	}
	if asked > 0 && len(errs) == asked {
		return nil, fmt.Errorf("recall: %w", errors.Join(errs...))
	}
	return lists, nil
}

// How many hits go on for each note that is asked for, and at least: the later
// stages choose among them, and files may be gone or too long.
const (
	rowsPerNote = 3
	leastRows   = 60
)

// pool is how many hits of an arm go on.
func (q Query) pool() int { return max(leastRows, rowsPerNote*q.K) }

// gather makes hits of passages: a note is as good as its best passage. It
// returns the n notes with the highest scores and those that equal the last of
// them, in no order, and without their rows.
func gather(passages []index.Candidate, n int, score func(*index.Candidate) float64) []*Hit {
	type found struct {
		key   int64
		score float64
		best  *index.Candidate
	}
	notes := make([]found, 0, len(passages))
	at := make(map[int64]int, len(passages)) // where a note stands in notes
	for i := range passages {
		c := &passages[i]
		s := score(c)
		if j, ok := at[c.Key]; !ok {
			at[c.Key] = len(notes)
			notes = append(notes, found{c.Key, s, c})
		} else if s > notes[j].score {
			notes[j].score, notes[j].best = s, c
		}
	}
	notes = notes[:leading(notes, n, func(f found) float64 { return f.score })]
	hits := make([]*Hit, len(notes))
	clear(at)
	for i, f := range notes {
		hits[i] = &Hit{Row: index.Row{Key: f.key}, score: f.score, Start: f.best.Start, End: f.best.End}
		at[f.key] = i
	}
	for i := range passages {
		if j, ok := at[passages[i].Key]; ok {
			hits[j].passages = append(hits[j].passages, passages[i])
		}
	}
	return hits
}
