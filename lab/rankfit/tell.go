package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// signals are what the questions of one store come to, in ascending order.
type signals struct{ own, strange []float64 }

// signals returns the signals of a set's stores, by name.
func (s *set) signals(of func(*trial) float64) map[string]*signals {
	stores := make(map[string]*signals)
	for i := range s.trials {
		t := &s.trials[i]
		at := stores[t.store]
		if at == nil {
			at = &signals{}
			stores[t.store] = at
		}
		sum := 0.0
		if t.seen != nil {
			sum = of(t)
		}
		if t.own {
			at.own = append(at.own, sum)
		} else {
			at.strange = append(at.strange, sum)
		}
	}
	for _, at := range stores {
		slices.Sort(at.own)
		slices.Sort(at.strange)
	}
	return stores
}

// auroc is the chance that an own question comes to more than a stranger's.
func (s *signals) auroc() float64 {
	above := 0.0
	for _, x := range s.own {
		lower, _ := slices.BinarySearch(s.strange, x)
		upper := lower
		for upper < len(s.strange) && s.strange[upper] == x {
			upper++
		}
		above += float64(lower+upper) / 2
	}
	return above / float64(max(1, len(s.own)*len(s.strange)))
}

// above is the share of sorted values from a threshold on.
func above(sorted []float64, threshold float64) float64 {
	at, _ := slices.BinarySearch(sorted, threshold)
	return float64(len(sorted)-at) / float64(max(1, len(sorted)))
}

// answered is the mean share of strangers that is answered in some stores, with the
// greatest threshold, one for all of them, that keeps so much of the own on average.
func answered(stores []*signals, keep float64) float64 {
	var values []float64
	for _, s := range stores {
		values = append(values, s.own...)
	}
	slices.Sort(values)
	mean := func(share func(*signals) float64) (sum float64) {
		for _, s := range stores {
			sum += share(s) / float64(len(stores))
		}
		return sum
	}
	least := 0
	for lo, hi := 0, len(values)-1; lo <= hi; {
		at := (lo + hi) / 2
		if mean(func(s *signals) float64 { return above(s.own, values[at]) }) >= keep {
			least, lo = at, at+1
		} else {
			hi = at - 1
		}
	}
	return mean(func(s *signals) float64 { return above(s.strange, values[least]) })
}

// reportScores prints how well the score tells own questions from strangers': with the
// weights that are shipped, and with those fitted without what is looked at. Within a
// store, and over stores by one threshold, which the middle of each has a say in.
func reportScores(w io.Writer, sets []*set, fitted [][]float64) {
	shipped := func(t *trial) float64 { return scoreSignal(t.seen) - t.middle }
	kinds := []string{"sources", "held-out sources", "judged sets"}
	for kind, name := range kinds {
		var stores, updated []*signals
		for _, s := range sets {
			if kindOf(s) != kind {
				continue
			}
			weights := fitted[s.left]
			if s.held {
				weights = fitted[0]
			}
			refit := s.signals(func(t *trial) (sum float64) {
				for i, v := range t.seen {
					sum += weights[i] * v
				}
				return sum
			})
			own := s.signals(shipped)
			for _, store := range slices.Sorted(maps.Keys(own)) {
				at := own[store]
				if len(at.own) == 0 || len(at.strange) == 0 {
					continue
				}
				stores, updated = append(stores, at), append(updated, refit[store])
				if s.people {
					fmt.Fprintf(w, "%-36s score: AUROC %.4f, fitted again without it %.4f\n", s.name+" "+store, at.auroc(), refit[store].auroc())
				}
			}
		}
		if len(stores) == 0 {
			continue
		}
		a, b := 0.0, 0.0
		for i := range stores {
			a += stores[i].auroc() / float64(len(stores))
			b += updated[i].auroc() / float64(len(stores))
		}
		fmt.Fprintf(w, "%-36s score: AUROC %.4f, fitted again without it %.4f; one threshold for all %d stores answers %.3f of strangers with "+
			".975 kept, %.3f with .95\n", name, a, b, len(stores), answered(stores, 0.975), answered(stores, 0.95))
	}
}

// kindOf is 0 for a source, 1 for one that is held out, 2 for a judged set.
func kindOf(s *set) int {
	switch {
	case s.people:
		return 2
	case s.held:
		return 1
	}
	return 0
}
