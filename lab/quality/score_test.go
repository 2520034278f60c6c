package quality_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"anamnesis/lab/quality"

	"github.com/google/go-cmp/cmp"
)

func TestScores(t *testing.T) {
	name := filepath.Join(t.TempDir(), "qrels.tsv")
	if err := os.WriteFile(name, []byte("# a comment\nq1\ta\t1\nq1\tb\t1\nq2\tc\t1\nq3\td\t0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := quality.ReadJudgements(name)
	if err != nil {
		t.Fatal(err)
	}
	queries := []quality.Question{{ID: "q1"}, {ID: "q2"}, {ID: "q3"}, {ID: "q4"}}
	run := &quality.Run{Found: []quality.Found{{"q1", "x", 1, 1}, {"q1", "a", 2, 1}, {"q3", "d", 1, 1}}}
	each := j.Scores(run, queries)
	if d := cmp.Diff([]quality.Score{{Hit5: 1, Hit8: 1, Recall5: 0.5, MRR: 0.5}, {}}, each); d != "" {
		t.Errorf("scores (-want +got):\n%s", d)
	}
	if d := cmp.Diff(quality.Score{Hit5: 0.5, Hit8: 0.5, Recall5: 0.25, MRR: 0.25}, quality.Mean(each)); d != "" {
		t.Errorf("mean (-want +got):\n%s", d)
	}
}

func TestPair(t *testing.T) {
	zero, one := quality.Score{}, quality.Score{MRR: 1}
	mrr := func(s quality.Score) float64 { return s.MRR }
	got := quality.Pair([]quality.Score{zero, zero, zero, zero, one}, []quality.Score{one, one, one, one, one}, mrr)
	if got.Better != 4 || got.Worse != 0 || math.Abs(got.Difference-0.8) > 1e-9 || math.Abs(got.P-0.125) > 1e-9 {
		t.Errorf("%+v", got)
	}
	if p := quality.Pair([]quality.Score{one}, []quality.Score{one}, mrr).P; p != 1 {
		t.Errorf("p of no difference: %v", p)
	}
	if low, high := quality.Interval(0.5, 100); math.Abs(low-0.4038) > 1e-3 || math.Abs(high-0.5962) > 1e-3 {
		t.Errorf("interval %v to %v", low, high)
	}
}
