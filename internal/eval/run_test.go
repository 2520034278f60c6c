package eval_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/eval"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"

	"github.com/google/go-cmp/cmp"
)

// fillers makes notes of which the i-th says a word i times less often than the first.
func fillers(word string, n int) (all []note.Note) {
	for i := range n {
		all = append(all, note.Note{
			ID: note.ID(fmt.Sprintf("%s%02d", word, i)), Title: fmt.Sprintf("Note %d of %s", i, word),
			Body: strings.Repeat(word+" ", n-i) + strings.Repeat(fmt.Sprintf("other%d words ", i), 3*i),
		})
	}
	return all
}

// EV-02: recall@k and MRR over the whole store.
func TestMeasure(t *testing.T) {
	w := newWorld(t)
	w.add(fillers("gateway", 12)...)
	w.add(note.Note{ID: "alone", Project: "q", Title: "Certificates", Body: "Renew certificates weekly."})
	none := w.measure()
	if d := cmp.Diff(map[int]float64{1: 0, 3: 0, 5: 0, 8: 0}, none.Recall.At); d != "" || none.Recall.MRR != 0 || none.Recall.Cases != 0 {
		t.Errorf("of no cases: %+v", none.Recall)
	}
	before := w.tree()
	rep := w.measure(ask("renew certificates", "alone"), ask("renew certificates", "gateway00"), ask("zzz", "alone"), ask("gateway", "gone"))
	if d := cmp.Diff(map[int]float64{1: 0.25, 3: 0.25, 5: 0.25, 8: 0.25}, rep.Recall.At); d != "" || rep.Recall.MRR != 0.25 || rep.Recall.Cases != 4 {
		t.Errorf("%+v", rep.Recall)
	}
	if w.tree() != before {
		t.Error("a measurement wrote into the store")
	}
	var cases []eval.Case
	for i := range 12 {
		cases = append(cases, ask("gateway", note.ID(fmt.Sprintf("gateway%02d", i))))
	}
	at := w.measure(cases...).Recall.At
	if !(at[1] < at[3] && at[3] < at[5] && at[5] < at[8]) || at[8] != 8.0/12 {
		t.Errorf("deeper is not more: %v", at)
	}
	rep, err := eval.Measure(t.Context(), w.Workbench, cases, eval.RunOptions{Ks: []int{recall.MaxK, 2, 2}})
	if err != nil || len(rep.Recall.At) != 2 || rep.Recall.At[recall.MaxK] != 1 {
		t.Error(rep, err)
	}
	_, err = eval.Measure(t.Context(), w.Workbench, cases, eval.RunOptions{Ks: []int{0, 5}})
	wantErr(t, err, "ranks are from 1 to 100")
}

// EV-03: a note that supersedes a right one is right, in however many steps.
func TestMeasureSuperseded(t *testing.T) {
	w := newWorld(t)
	w.add(
		note.Note{ID: "first", Body: "Deploy with the frobnicator script by hand."},
		note.Note{ID: "second", Body: "Deploy with the frobnicator on the bastion host instead.", Supersedes: []note.ID{"first"}},
		note.Note{ID: "third", Body: "The frobnicator is gone: the pipeline deploys.", Supersedes: []note.ID{"second"}},
		note.Note{ID: "round", Body: "Parsnips are orange in autumn.", Supersedes: []note.ID{"trip"}},
		note.Note{ID: "trip", Body: "Turnips are purple in winter.", Supersedes: []note.ID{"round"}},
	)
	for _, tt := range []struct {
		name string
		c    eval.Case
		want float64
	}{
		{"two steps", ask("frobnicator", "first"), 1},
		{"one step", ask("frobnicator", "second"), 1},
		{"itself", ask("frobnicator", "third"), 1},
		{"not found", ask("parsnips", "first"), 0},
		{"in a circle", ask("parsnips", "round"), 1}, // one of them holds, and stands for the other
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := w.measure(tt.c).Recall.At[1]; got != tt.want {
				t.Errorf("recall@1 %v, want %v", got, tt.want)
			}
		})
	}
}

// EV-04: what sessions are shown.
func TestWorkingSet(t *testing.T) {
	w := newWorld(t)
	if d := cmp.Diff(eval.WorkingSet{PerProject: map[string]int{}}, w.measure().WorkingSet); d != "" {
		t.Errorf("of an empty store (-want +got):\n%s", d)
	}
	w.add(
		note.Note{ID: "a", Project: "one", Title: "Twelve chars", Body: strings.Repeat("word ", 20)},
		note.Note{ID: "b", Project: "two", Type: note.Episodic, Title: "Session", Body: "It was distilled.", Tags: []string{"reflected"}},
		note.Note{ID: "c", Project: "three", Title: "T", Body: "Short."},
	)
	ws := w.measure().WorkingSet
	if ws.PerProject["two"] == 0 || ws.PerProject["one"] <= ws.PerProject["three"] || ws.PerProject["three"] == 0 {
		t.Errorf("%+v", ws)
	}
	sizes := []int{ws.PerProject["one"], ws.PerProject["two"], ws.PerProject["three"]}
	slices.Sort(sizes)
	if ws.MedianTokens != float64(sizes[1]) || ws.MeanTokens != float64(sizes[0]+sizes[1]+sizes[2])/3 {
		t.Errorf("%+v", ws)
	}
	if want := 3 + 25 + 2 + 5 + 1 + 2; ws.CorpusTokens != want {
		t.Errorf("corpus %d, want %d", ws.CorpusTokens, want)
	}
	w.add(note.Note{ID: "g", Project: note.Global, Title: "Global", Body: "For everybody."})
	was := ws.PerProject["two"]
	ws = w.measure().WorkingSet
	if _, ok := ws.PerProject[note.Global]; ok || len(ws.PerProject) != 3 || ws.PerProject["two"] <= was {
		t.Errorf("%+v", ws)
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "ääää": 1, "日本語です": 2} {
		if got := recall.Tokens(text); got != want {
			t.Errorf("tokens of %q: %d, want %d", text, got, want)
		}
	}
}

// EV-02, EV-10: the texts of a report.
func TestReport(t *testing.T) {
	rep := &eval.Report{
		Recall:     eval.Recall{Cases: 4, At: map[int]float64{1: 0.75, 3: 0.75, 5: 1, 10: 1}, MRR: 0.8125},
		WorkingSet: eval.WorkingSet{PerProject: map[string]int{"p": 100, "q": 201}, MeanTokens: 150.5, MedianTokens: 150.5, CorpusTokens: 3000},
	}
	want := `recall: 4 case(s)
  recall@1: 0.750
  recall@3: 0.750
  recall@5: 1.000
  recall@10: 1.000
  mrr: 0.812
working set: mean=150 median=150 tok/project over 2 project(s); corpus=3000 tok (a session injects ~5.0% of the corpus)
`
	if d := cmp.Diff(want, rep.String()); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
	data, err := json.Marshal(rep)
	want = `{"recall":{"n_cases":4,"recall_at":{"1":0.75,"10":1,"3":0.75,"5":1},"mrr":0.8125},` +
		`"working_set":{"per_project":{"p":100,"q":201},"mean_tokens":150.5,"median_tokens":150.5,"corpus_tokens":3000}}`
	if d := cmp.Diff(want, string(data)); err != nil || d != "" {
		t.Errorf("JSON %v (-want +got):\n%s", err, d)
	}
}
