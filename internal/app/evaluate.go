package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/eval"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

// CaseOptions say which cases are measured.
type CaseOptions struct {
	File       string // "" for eval/eval.jsonl in the store
	Unreviewed bool   // candidates that nobody has looked at, too
}

// evalHistory keeps what runs measured.
const evalHistory = "eval/history.jsonl"

// cases reads the cases that are measured.
func (r *Rooms) cases(ctx context.Context, command string, o CaseOptions) ([]eval.Case, error) {
	file := r.evalSet(o.File)
	cases, warnings, err := eval.Load(file, o.Unreviewed, eval.Titles(ctx, r.Index))
	if err != nil {
		return nil, missingSet(command, file, err)
	}
	for _, w := range warnings {
		r.Notify("%s: warning: %s", command, w)
	}
	return cases, nil
}

// missingSet makes wrong usage of a set that is not there.
func missingSet(command, file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return usage("%s: no eval set at %s (run `anamnesis eval build` first)", command, file)
	}
	return fmt.Errorf("%s: %w", command, err)
}

// EvalBuilt is what proposing questions wrote.
type EvalBuilt struct {
	eval.Built
	File string `json:"file"`
}

// EvalBuild lets a model propose questions to n notes of some types. The error is
// reflection.ErrNotConfigured when there is no model.
func EvalBuild(ctx context.Context, r *Rooms, file string, n int, types []string) (a EvalBuilt, err error) {
	b := eval.Build{N: n}
	for _, t := range types {
		if !slices.Contains(note.Types, note.Type(t)) {
			return a, usage("eval build: --types %q: use procedural, semantic or episodic", t)
		}
		b.Types = append(b.Types, note.Type(t))
	}
	g, err := r.Generator("eval")
	if err != nil {
		return a, reflection.ErrNotConfigured
	}
	bar := r.stages()
	b.Bench, b.Model, b.Redactor, b.File, b.Progress = r.workbench(), g, r.Redactor, r.evalSet(file), bar.step
	a.Built, err = b.Run(ctx)
	bar.done()
	a.File = b.File
	switch {
	case err != nil && a.Wrote == 0:
		err = fmt.Errorf("eval build: %w", err)
	case err != nil:
		err = &Error{Explain(err).Code, err, true}
	}
	return a, err
}

// EvalRun measures recall and the working set of the user's own store, and keeps
// the figures. version is the one of this program. When recall@8 is below a share
// the error comes with the answer.
func EvalRun(ctx context.Context, r *Rooms, o CaseOptions, below float64, version string) (*eval.Report, error) {
	cases, err := r.cases(ctx, "eval run", o)
	if err != nil {
		return nil, err
	}
	bar := r.stages()
	rep, err := eval.Measure(ctx, r.workbench(), cases, eval.RunOptions{Progress: bar.step})
	bar.done()
	if err != nil {
		return nil, err
	}
	for _, f := range rep.Failed {
		r.Notify("left out: %s", f)
	}
	settings, ferr := eval.Fingerprint(r.Config.Recall, r.Config.Inject)
	if ferr == nil && !r.Store.ReadOnly() && len(cases) > 0 {
		if err := eval.Remember(r.Store.Path(evalHistory), rep.Past(r.Store.Now(), version, settings)); err != nil {
			r.Notify("%v", err)
		}
	}
	if rep.Recall.At[8] < below {
		err = answered("eval run: recall@8 is %.3f, below %.3f", rep.Recall.At[8], below)
	}
	return rep, err
}

// EvalExperiment tries reflection, or a merge, on a copy of the store. The error
// is reflection.ErrNotConfigured when there is no model; when recall fell it comes
// with the answer.
func EvalExperiment(ctx context.Context, r *Rooms, o CaseOptions, merge bool) (*eval.Experiment, error) {
	if _, err := r.Generator("experiment"); err != nil {
		return nil, reflection.ErrNotConfigured
	}
	cases, err := r.cases(ctx, "eval experiment", o)
	if err != nil {
		return nil, err
	}
	bar := r.stages()
	lab, opts := r.lab("experiment"), eval.RunOptions{Progress: bar.step}
	try := lab.Reflect
	if merge {
		try = lab.Merge
	}
	x, err := try(ctx, cases, opts)
	bar.done()
	if err != nil {
		return nil, err
	}
	for _, f := range x.After.Failed {
		r.Notify("left out: %s", f)
	}
	if x.Regressed {
		err = answered("eval experiment: recall fell; the figures say where")
	}
	return x, err
}

// EvalRuns lists what runs measured, oldest first.
type EvalRuns struct {
	Runs []eval.Past `json:"runs"`
}

// EvalHistory lists what runs measured, the newest limit of them (0: all).
func EvalHistory(h Host, s *store.Store, limit int) (a EvalRuns, err error) {
	rows, warnings, err := eval.History(s.Path(evalHistory))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	for _, w := range warnings {
		h.notify("eval history: warning: %s", w)
	}
	if limit > 0 {
		rows = rows[max(0, len(rows)-limit):]
	}
	return EvalRuns{rows}, nil
}

// CandidatesAnswer lists questions that wait to be looked at.
type CandidatesAnswer struct {
	Candidates []eval.Case `json:"candidates"`

	File string `json:"-"`
}

// EvalCandidates lists the questions of a set that nobody has looked at.
func EvalCandidates(ctx context.Context, r *Rooms, file string) (a CandidatesAnswer, err error) {
	var warnings []string
	a.File = r.evalSet(file)
	a.Candidates, warnings, err = eval.Candidates(a.File, eval.Titles(ctx, r.Index))
	if err != nil {
		return a, missingSet("eval curate", a.File, err)
	}
	for _, w := range warnings {
		r.Notify("eval curate: warning: %s", w)
	}
	return a, nil
}

// Decide makes decisions of the questions that are confirmed and rejected. The
// error is of kind NotFound for one that is no candidate.
func (a *CandidatesAnswer) Decide(confirm, reject []string) (all []eval.Decision, err error) {
	for _, d := range []struct {
		queries []string
		verdict eval.Verdict
	}{{confirm, eval.Confirm}, {reject, eval.Reject}} {
		for _, q := range d.queries {
			if !slices.ContainsFunc(a.Candidates, func(c eval.Case) bool { return c.Query == q }) {
				return nil, Errorf(NotFound, "eval curate: there is no candidate %q in %s", q, a.File)
			}
			all = append(all, eval.Decision{Query: q, Verdict: d.verdict})
		}
	}
	return all, nil
}

// SetOptions name the files of a set of questions, and how they are asked.
type SetOptions struct {
	Corpus, Queries string
	K               int // notes a question
	Gate            bool
}

// read reads the files of a set.
func (o *SetOptions) read(command string) (r eval.Retrieval, err error) {
	switch {
	case o.Corpus == "" || o.Queries == "":
		return r, usage("%s: --corpus and --queries are needed", command)
	case o.K < 1 || o.K > recall.MaxK:
		return r, usage("%s: --k %d is not from 1 to %d", command, o.K, recall.MaxK)
	}
	r.K, r.Gate = o.K, o.Gate
	if r.Corpus, err = eval.ReadCorpus(o.Corpus); err != nil {
		return r, err
	}
	r.Queries, err = eval.ReadQuestions(o.Queries)
	return r, err
}

// EvalRetrieval asks the questions of a set in a throw-away store.
func EvalRetrieval(ctx context.Context, h Host, o SetOptions) (eval.Retrieval, *eval.Run, error) {
	r, err := o.read("eval retrieval")
	if err != nil {
		return r, nil, err
	}
	bar := h.progress("asking questions")
	r.Progress = bar.Step
	run, err := r.Run(ctx, h.sandbox)
	bar.Done()
	if err != nil {
		return r, nil, err
	}
	for _, f := range run.Failed[:min(len(run.Failed), 5)] {
		h.notify("left out: %s", f)
	}
	return r, run, nil
}

// EvalGate measures what the gate holds back: questions of a set, and strangers
// in a file of questions that none of the notes answers.
func EvalGate(ctx context.Context, h Host, o SetOptions, strangers string) (g eval.Gate, err error) {
	r, err := o.read("eval gate")
	if err != nil {
		return g, err
	}
	others, err := eval.ReadQuestions(strangers)
	if err != nil {
		return g, err
	}
	bar := h.progress("asking questions")
	done := 0
	r.Progress = func(int, int) { done++; bar.Step(done, len(r.Queries)+len(others)) }
	g, err = r.MeasureGate(ctx, h.sandbox, others)
	bar.Done()
	return g, err
}

// AblationAnswer compares ways of asking.
type AblationAnswer struct {
	Questions int        `json:"questions"`
	Rows      []Ablation `json:"results"`
}

// An Ablation is one way of asking, compared with the first.
type Ablation struct {
	Name    string        `json:"name"`
	Set     []string      `json:"set"`
	Arms    []string      `json:"arms,omitempty"`
	Differs int           `json:"differs"` // questions with another answer
	MS      float64       `json:"p50_ms"`
	Score   *eval.Score   `json:"score,omitempty"`
	Recall5 *eval.Pairing `json:"recall@5,omitempty"`
	MRR     *eval.Pairing `json:"mrr,omitempty"`
}

// EvalAblate asks the questions of a set as the settings are, then with each arm
// and each feature of recall off. qrels names a file of judgements, "" for none.
func EvalAblate(ctx context.Context, h Host, o SetOptions, qrels string) (a AblationAnswer, err error) {
	r, err := o.read("eval ablate")
	if err != nil {
		return a, err
	}
	var judged eval.Judgements
	if qrels != "" {
		if judged, err = eval.ReadJudgements(qrels); err != nil {
			return a, err
		}
	}
	variants := ablations(h.Config.Recall.Tuning)
	bar := h.progress("asking questions")
	done := 0
	r.Progress = func(int, int) { done++; bar.Step(done, len(variants)*len(r.Queries)) }
	runs, err := r.Runs(ctx, h.sandbox, variants)
	bar.Done()
	if err != nil {
		return a, err
	}
	shipped := judged.Scores(runs[0], r.Queries)
	a.Questions = len(r.Queries)
	for i, run := range runs {
		row := Ablation{
			Name: variants[i].Name, Set: variants[i].Set, Arms: variants[i].Arms, Differs: differ(runs[0], run),
			MS: medianLatency(run.Latency),
		}
		if judged != nil {
			each := judged.Scores(run, r.Queries)
			mean := eval.Mean(each)
			recall5 := eval.Pair(shipped, each, func(s eval.Score) float64 { return s.Recall5 })
			mrr := eval.Pair(shipped, each, func(s eval.Score) float64 { return s.MRR })
			row.Score, row.Recall5, row.MRR = &mean, &recall5, &mrr
		}
		a.Rows = append(a.Rows, row)
	}
	return a, nil
}

// ablations lists the ways of asking: as it is, without each arm, and without
// each feature of recall that has a switch.
func ablations(now recall.Tuning) []eval.Variant {
	all := []eval.Variant{{Name: "as set"}}
	for _, arm := range recall.Arms() {
		rest := slices.DeleteFunc(recall.Sources(), func(a string) bool { return a == arm })
		all = append(all, eval.Variant{Name: "without arm " + arm, Arms: rest})
	}
	for _, f := range config.Features() {
		if off := offSettings(now, f); len(off) > 0 {
			all = append(all, eval.Variant{Name: "without " + f.ID + " " + f.Name, Set: off})
		}
	}
	return append(all, eval.Variant{
		Name: "words alone", Arms: []string{"lexical"},
		Set: []string{"recall.rerank.on=false", "recall.mmr.on=false", withoutBoosts(now, []string{"recency", "confidence"})},
	})
}

// offSettings are the settings that switch features of recall off, where now is the ranking
// that is in force; none when they have no switch.
func offSettings(now recall.Tuning, features ...config.Feature) (off []string) {
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
		off = append(off, withoutBoosts(now, boosts))
	}
	return off
}

// withoutBoosts is the setting that leaves some boosts out of those that count now.
func withoutBoosts(now recall.Tuning, boosts []string) string {
	rest := slices.DeleteFunc(now.Boosting(), func(b string) bool { return slices.Contains(boosts, b) })
	return "recall.boosts=" + cmp.Or(strings.Join(rest, ","), config.NoBoost)
}

// differ counts the questions whose first five documents are not the same.
func differ(a, b *eval.Run) (n int) {
	first := func(r *eval.Run) map[string]string {
		got := make(map[string]string)
		for _, f := range r.Found {
			if f.Rank <= 5 {
				got[f.Query] += f.Document + "\n"
			}
		}
		return got
	}
	x, y := first(a), first(b)
	for q, docs := range x {
		if y[q] != docs {
			n++
		}
	}
	for q := range y {
		if _, ok := x[q]; !ok {
			n++
		}
	}
	return n
}

// medianLatency is the upper median in milliseconds, 0 of none.
func medianLatency(all []time.Duration) float64 {
	if len(all) == 0 {
		return 0
	}
	return milliseconds(slices.SortedFunc(slices.Values(all), cmp.Compare[time.Duration])[len(all)/2])
}
