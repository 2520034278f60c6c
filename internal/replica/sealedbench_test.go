package replica_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"anamnesis/internal/replica"
)

// BenchmarkSealed compares syncs with a remote that cannot read with those with one
// that can, in turns, and reports the medians of what each takes and what they are to each
// other: ANAMNESIS_BENCH_NOTES notes (10,000) pushed at first, pulled into an empty machine,
// and one note sent and taken.
func BenchmarkSealed(b *testing.B) {
	notes := 10000
	if n, err := strconv.Atoi(os.Getenv("ANAMNESIS_BENCH_NOTES")); err == nil {
		notes = n
	}
	c := newCircle(b)
	took := make(map[string][]time.Duration)
	measure := func(name string, s replica.Backend) {
		start := time.Now()
		syncOnce(b, s)
		took[name] = append(took[name], time.Since(start))
	}
	const one = 10 // syncs of one note in each round
	for b.Loop() {
		for _, kind := range []string{"plain", "sealed"} {
			dir := b.TempDir()
			remote := filepath.Join(dir, "remote.git")
			command(b, dir, "init", "-q", "--bare", "--initial-branch=main", remote)
			machine := func(name string) (string, replica.Backend) {
				o := replica.Options{Dir: filepath.Join(dir, name), MachineID: name, Remote: remote, Env: os.Environ()}
				if kind == "sealed" {
					o.Seal = c.fresh(b, name)
				}
				s, err := replica.Open(o)
				if err != nil {
					b.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Join(o.Dir, "semantic"), 0o700); err != nil {
					b.Fatal(err)
				}
				return o.Dir, s
			}
			at, first := machine("a")
			_, second := machine("b")
			edit(b, at, 0, notes, 0)
			measure("first push, "+kind, first)
			measure("first pull, "+kind, second)
			syncOnce(b, first)
			for n := range one {
				edit(b, at, n, 1, n+1)
				measure("send one, "+kind, first)
				measure("take one, "+kind, second)
				measure("nothing, "+kind, first)
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, what := range []string{"first push", "first pull", "send one", "take one", "nothing"} {
		var median [2]time.Duration
		for i, kind := range []string{"plain", "sealed"} {
			all := took[what+", "+kind]
			slices.Sort(all)
			median[i] = all[len(all)/2]
		}
		b.Logf("%s: plain %d ms, sealed %d ms, ratio %.2f", what, median[0].Milliseconds(), median[1].Milliseconds(),
			float64(median[1])/float64(median[0]))
	}
}
