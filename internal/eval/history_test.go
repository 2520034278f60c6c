package eval_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"anamnesis/internal/eval"

	"github.com/google/go-cmp/cmp"
)

func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "eval", "history.jsonl")
	if all, warnings, err := eval.History(file); all != nil || warnings != nil || err != nil {
		t.Error(all, warnings, err)
	}
	rep := &eval.Report{
		Recall: eval.Recall{Cases: 3, At: map[int]float64{1: 0.5}, MRR: 0.6}, Notes: 7,
		WorkingSet: eval.WorkingSet{MeanTokens: 10, CorpusTokens: 100},
	}
	p := rep.Past(time.Date(2026, 11, 20, 12, 0, 0, 0, time.FixedZone("", 7200)), "v1", "abc")
	if err := eval.Remember(file, p); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString("{\"at\": 3}\n{\"at\":\"yesterday\"}\n\n{\"v\":1,\"at\":\"20") // a crash tore the last line
	f.Close()
	if err := eval.Remember(file, p); err != nil {
		t.Fatal(err)
	}
	all, warnings, err := eval.History(file)
	if d := cmp.Diff([]eval.Past{p, p}, all); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if len(warnings) != 3 || warnings[0] != file+": line 2 is no measurement and was skipped" {
		t.Error(warnings)
	}
	if p.At != "2026-11-20T10:00:00Z" || p.Notes != 7 {
		t.Errorf("%+v", p)
	}
}

func TestFingerprint(t *testing.T) {
	a, err := eval.Fingerprint(map[string]int{"x": 1, "y": 2}, "s")
	b, _ := eval.Fingerprint(map[string]int{"y": 2, "x": 1}, "s")
	c, _ := eval.Fingerprint(map[string]int{"y": 2, "x": 2}, "s")
	if err != nil || a != b || a == c || len(a) != 12 {
		t.Error(a, b, c, err)
	}
}

func TestChart(t *testing.T) {
	if got, want := eval.Chart(nil, 80), "no measurements yet; `anamnesis eval run` makes one\n"; got != want {
		t.Errorf("got %q", got)
	}
	var rows []eval.Past
	for i := range 40 {
		p := eval.Past{At: time.Date(2026, 10, 1+i, 0, 0, 0, 0, time.UTC).Format(time.RFC3339), Cases: 5, MRR: 0.5, MeanTokens: float64(900 - i), Notes: i, Settings: "a"}
		p.RecallAt = map[int]float64{1: float64(i%10) / 10, 8: 1}
		if i == 35 {
			p.RecallAt = map[int]float64{8: 1}
		}
		if i >= 38 {
			p.Settings = "b"
		}
		rows = append(rows, p)
	}
	want := `recall@1    ▁▁▂▃▄ ▆▇██  first 0.000  last 0.900  min 0.000  max 0.900
recall@8    ▄▄▄▄▄▄▄▄▄▄  first 1.000  last 1.000  min 1.000  max 1.000
mrr         ▄▄▄▄▄▄▄▄▄▄  first 0.500  last 0.500  min 0.500  max 0.500
inject tok  ██▇▆▅▄▃▂▁▁  first 870  last 861  min 861  max 870
notes       ▁▁▂▃▄▅▆▇██  first 30  last 39  min 30  max 39
changed             ^   ^ other settings, version or number of cases
10 measurement(s), 2026-10-31 to 2026-11-09
`
	if d := cmp.Diff(want, eval.Chart(rows, 70)); d != "" {
		t.Errorf("chart (-want +got):\n%s", d)
	}
	if got := eval.Spark([]float64{0, math.NaN(), 0.5, 1}, 0, 1); got != "▁ ▅█" {
		t.Errorf("%q", got)
	}
}
