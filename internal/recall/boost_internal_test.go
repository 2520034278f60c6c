package recall

import (
	"math"
	"testing"
	"time"

	"anamnesis/internal/index"
)

// The formulas of the boosts, each pinned at its ends and between.
func TestBoostFormulas(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	at := func(days int) index.Row {
		return index.Row{Updated: now.Add(-time.Duration(days) * 24 * time.Hour)}
	}
	for _, c := range []struct {
		boost string
		row   index.Row
		query Query
		want  float64
	}{
		{"confidence", index.Row{Confidence: 0.3}, Query{}, 0},
		{"confidence", index.Row{Confidence: 0.6}, Query{}, 0.5},
		{"confidence", index.Row{Confidence: 0.9}, Query{}, 1},
		{"confidence", index.Row{Confidence: 1}, Query{}, 1},
		{"recency", at(0), Query{}, 1},
		{"recency", at(73), Query{}, 0.8},
		{"recency", at(3650), Query{}, 0.1},
		{"proof", index.Row{}, Query{}, 0.5},
		{"proof", index.Row{Proofs: 1}, Query{}, 0.5},
		{"proof", index.Row{Proofs: 10}, Query{}, 0.5 + math.Ln10/10},
		{"proof", index.Row{Proofs: 1000}, Query{}, 1},
		{"project", index.Row{Project: "mine"}, Query{Project: "mine"}, 1},
		{"project", index.Row{Project: "foreign"}, Query{Project: "mine"}, 0.5},
		{"project", index.Row{}, Query{}, 0.5},
		{"speculative", index.Row{Speculative: true}, Query{}, 0},
		{"speculative", index.Row{}, Query{}, 0.5},
	} {
		for _, b := range boosts {
			if b.name != c.boost {
				continue
			}
			if got := b.norm(&Hit{Row: c.row}, c.query, boostInput{now: now}); math.Abs(got-c.want) > 1e-9 {
				t.Errorf("%s of %+v is %v, want %v", b.name, c.row, got, c.want)
			}
		}
	}
}
