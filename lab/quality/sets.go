package quality

import (
	"cmp"
	"context"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/config"
	"anamnesis/internal/recall"
)

// SetOptions name the files of a set of questions, and how they are asked.
type SetOptions struct {
	Corpus, Queries string
	K               int // notes a question
	Gate            bool
}

// read reads the files of a set.
func (o *SetOptions) read(command string) (r Retrieval, err error) {
	switch {
	case o.Corpus == "" || o.Queries == "":
		return r, app.Errorf(app.Usage, "%s: --corpus and --queries are needed", command)
	case o.K < 1 || o.K > recall.MaxK:
		return r, app.Errorf(app.Usage, "%s: --k %d is not from 1 to %d", command, o.K, recall.MaxK)
	}
	r.K, r.Gate = o.K, o.Gate
	if r.Corpus, err = ReadCorpus(o.Corpus); err != nil {
		return r, err
	}
	r.Queries, err = ReadQuestions(o.Queries)
	return r, err
}

// RunSet asks the questions of a set in a throw-away store.
func RunSet(ctx context.Context, h app.Host, o SetOptions) (Retrieval, *Run, error) {
	r, err := o.read("retrieval")
	if err != nil {
		return r, nil, err
	}
	step, end := progress(&h, "asking questions")
	r.Progress = step
	run, err := r.Run(ctx, sandbox(&h))
	end()
	if err != nil {
		return r, nil, err
	}
	for _, f := range run.Failed[:min(len(run.Failed), 5)] {
		notify(&h, "left out: "+f)
	}
	return r, run, nil
}

// RunGate measures what the gate holds back: questions of a set, and strangers
// in a file of questions that none of the notes answers.
func RunGate(ctx context.Context, h app.Host, o SetOptions, strangers string) (g Gate, err error) {
	r, err := o.read("gate")
	if err != nil {
		return g, err
	}
	others, err := ReadQuestions(strangers)
	if err != nil {
		return g, err
	}
	step, end := progress(&h, "asking questions")
	done := 0
	r.Progress = func(int, int) { done++; step(done, len(r.Queries)+len(others)) }
	g, err = r.MeasureGate(ctx, sandbox(&h), others)
	end()
	return g, err
}

// AblationAnswer compares ways of asking.
type AblationAnswer struct {
	Questions int        `json:"questions"`
	Rows      []Ablation `json:"results"`
}

// An Ablation is one way of asking, compared with the first.
type Ablation struct {
	Name    string   `json:"name"`
	Set     []string `json:"set"`
	Arms    []string `json:"arms,omitempty"`
	Differs int      `json:"differs"` // questions with another answer
	MS      float64  `json:"p50_ms"`
	Score   *Score   `json:"score,omitempty"`
	Recall5 *Pairing `json:"recall@5,omitempty"`
	MRR     *Pairing `json:"mrr,omitempty"`
}

// RunAblation asks the questions of a set as the settings are, then with each arm
// and each feature of recall off. qrels names a file of judgements, "" for none.
func RunAblation(ctx context.Context, h app.Host, o SetOptions, qrels string) (a AblationAnswer, err error) {
	r, err := o.read("ablate")
	if err != nil {
		return a, err
	}
	var judged Judgements
	if qrels != "" {
		if judged, err = ReadJudgements(qrels); err != nil {
			return a, err
		}
	}
	variants := ablations(h.Config.Recall.Tuning)
	step, end := progress(&h, "asking questions")
	done := 0
	r.Progress = func(int, int) { done++; step(done, len(variants)*len(r.Queries)) }
	runs, err := r.Runs(ctx, sandbox(&h), variants)
	end()
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
			mean := Mean(each)
			recall5 := Pair(shipped, each, func(s Score) float64 { return s.Recall5 })
			mrr := Pair(shipped, each, func(s Score) float64 { return s.MRR })
			row.Score, row.Recall5, row.MRR = &mean, &recall5, &mrr
		}
		a.Rows = append(a.Rows, row)
	}
	return a, nil
}

// ablations lists the ways of asking: as it is, without each arm, and without
// each feature of recall that has a switch.
func ablations(now recall.Tuning) []Variant {
	all := []Variant{{Name: "as set"}}
	for _, arm := range recall.Arms() {
		rest := slices.DeleteFunc(recall.Sources(), func(a string) bool { return a == arm })
		all = append(all, Variant{Name: "without arm " + arm, Arms: rest})
	}
	for _, f := range config.Features() {
		if off := history.OffSettings(now, f); len(off) > 0 {
			all = append(all, Variant{Name: "without " + f.ID + " " + f.Name, Set: off})
		}
	}
	return append(all, Variant{
		Name: "words alone", Arms: []string{"lexical"},
		Set: []string{"recall.rerank.on=false", "recall.mmr.on=false", history.WithoutBoosts(now, []string{"recency", "confidence"})},
	})
}

// differ counts the questions whose first five documents are not the same.
func differ(a, b *Run) (n int) {
	first := func(r *Run) map[string]string {
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
	median := slices.SortedFunc(slices.Values(all), cmp.Compare[time.Duration])[len(all)/2]
	return float64(median.Microseconds()) / 1000
}
