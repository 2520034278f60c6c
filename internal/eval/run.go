package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// A Report is how good the memory is: whether questions find their notes, and
// what a session pays for what it is shown.
type Report struct {
	Recall     Recall     `json:"recall"`
	WorkingSet WorkingSet `json:"working_set"`

	Failed []string `json:"-"` // arms, models and notes that did not answer, and why
}

// A Recall is how cases were answered, each share from 0 to 1.
type Recall struct {
	Cases int             `json:"n_cases"`
	At    map[int]float64 `json:"recall_at"` // by k: the share of cases with a right note among the first k
	MRR   float64         `json:"mrr"`       // mean of 1/rank of the first right note, 0 where none is found
}

// defaultKs are the ranks that a report counts to.
func defaultKs() []int { return []int{1, 3, 5, 8} }

// RunOptions say how a measurement runs. The zero value is the usual way.
type RunOptions struct {
	Ks       []int // ranks to count to, 1 to recall.MaxK; none means defaultKs
	Progress Progress

	// ownWords asks so that a note counts for what it says itself: what a change
	// of the store loses would else be found by the words of what it replaced.
	ownWords bool
}

// ks returns the ranks in order, each once, and the last of them.
func (o RunOptions) ks() (ks []int, deepest int, err error) {
	if ks = slices.Clone(o.Ks); len(ks) == 0 {
		ks = defaultKs()
	}
	slices.Sort(ks)
	ks = slices.Compact(ks)
	if ks[0] < 1 || ks[len(ks)-1] > recall.MaxK {
		return nil, 0, fmt.Errorf("count to rank %v: ranks are from 1 to %d", ks, recall.MaxK)
	}
	return ks, ks[len(ks)-1], nil
}

// Measure asks each case once, as a search over the whole store does, and weighs
// what a session of each project is shown. Nothing is logged and no note is
// written. The index must be in step with the files.
func Measure(ctx context.Context, w *Workbench, cases []Case, o RunOptions) (*Report, error) {
	s, err := look(ctx, w.Store)
	if err != nil {
		return nil, err
	}
	rep := new(Report)
	if rep.Recall, rep.Failed, err = s.standing.measure(ctx, w.Engine, cases, o); err != nil {
		return nil, err
	}
	ws, missing, err := w.workingSet(ctx, s, o.Progress)
	if err != nil {
		return nil, err
	}
	rep.WorkingSet, rep.Failed = ws, append(rep.Failed, missing...)
	return rep, nil
}

// A standing says which notes stand for a note: those that supersede it.
type standing map[note.ID][]note.ID

// answers returns the notes that count as a right answer: ids, and whatever
// supersedes one of them, in however many steps.
func (s standing) answers(ids []note.ID) map[note.ID]bool {
	all := make(map[note.ID]bool, len(ids))
	for todo := slices.Clone(ids); len(todo) > 0; todo = todo[1:] {
		if !all[todo[0]] {
			all[todo[0]] = true
			todo = append(todo, s[todo[0]]...)
		}
	}
	return all
}

// measure asks all cases and counts.
func (s standing) measure(ctx context.Context, e *recall.Engine, cases []Case, o RunOptions) (r Recall, failed []string, err error) {
	ks, deepest, err := o.ks()
	if err != nil {
		return r, nil, err
	}
	r = Recall{Cases: len(cases), At: make(map[int]float64, len(ks))}
	found := make([]int, len(ks)) // counted whole, so that equal shares are equal
	for i, c := range cases {
		hits, bad, err := ask(ctx, e, c.Query, deepest, o.ownWords)
		if err != nil {
			return r, nil, err
		}
		failed = append(failed, bad...)
		if rank := first(hits, s.answers(c.RelevantIDs)); rank > 0 {
			r.MRR += 1 / float64(rank)
			for j, k := range ks {
				if rank <= k {
					found[j]++
				}
			}
		}
		o.Progress.step("asking questions", i+1, len(cases))
	}
	n := float64(max(1, len(cases)))
	for j, k := range ks {
		r.At[k] = float64(found[j]) / n
	}
	r.MRR /= n
	slices.Sort(failed)
	return r, slices.Compact(failed), nil
}

// ask puts a question to the whole store, and to nobody's memory of questions.
// With ownWords a note is not found by what the note said that it replaced.
func ask(ctx context.Context, e *recall.Engine, query string, k int, ownWords bool) (ids []note.ID, failed []string, err error) {
	res, err := e.Recall(ctx, recall.Query{Text: query, K: k, NoCache: true, Synthetic: true, OwnWords: ownWords})
	if err := errors.Join(err, ctx.Err()); err != nil {
		return nil, nil, fmt.Errorf("ask %.60q: %w", query, err)
	}
	for _, h := range res.Hits {
		ids = append(ids, h.Row.ID)
	}
	return ids, append(res.Failed, res.Missing...), nil
}

// first returns the rank of the first hit among the right ones, from 1, or 0.
func first(hits []note.ID, right map[note.ID]bool) int {
	return 1 + slices.IndexFunc(hits, func(id note.ID) bool { return right[id] })
}
