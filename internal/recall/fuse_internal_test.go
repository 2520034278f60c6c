package recall

import (
	"testing"

	"anamnesis/internal/index"
)

// What each arm finds counts by the weight of that arm: against the lexical one,
// whose weight is 1, its first hit wins with more and loses with less.
func TestArmWeights(t *testing.T) {
	weights := map[string]func(*Options) *float64{
		"semantic": func(o *Options) *float64 { return &o.SemanticWeight },
		"temporal": func(o *Options) *float64 { return &o.TemporalWeight },
		"graph":    func(o *Options) *float64 { return &o.GraphWeight },
	}
	found := func(key int64, arm string) []*Hit {
		return []*Hit{{Row: index.Row{Key: key}, Found: map[string]Found{arm: {Rank: 1, Norm: 1}}}}
	}
	for _, a := range arms[1:] {
		weight, ok := weights[a.name]
		if !ok {
			if a.name != "successor" { // it counts like the lexical one
				t.Errorf("the weight of %s is not tested", a.name)
			}
			continue
		}
		for w, want := range map[float64]int64{0.9: 1, 1.1: 2} {
			o := Options{Tuning: Tuning{LexicalWeight: 1}}
			*weight(&o) = w
			e := &Engine{opts: o}
			hits := e.fuse([]list{{arms[0], found(1, "lexical")}, {a, found(2, a.name)}})
			if got := hits[0].Row.Key; got != want {
				t.Errorf("%s of weight %v: hit %d is first, want %d", a.name, w, got, want)
			}
		}
	}
}
