package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"anamnesis/internal/recall"
)

const folds = 3

// frozen are the features that keep their weight: the sets have no graph, no
// dates, and no notes that were written together.
var frozen = []string{"graph", "time", "company"}

func run(ctx context.Context, out io.Writer, fit, check, settings []string, l2 float64) error {
	var sets [][]judged
	for _, dir := range fit {
		set, err := load(ctx, dir, settings)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		sets = append(sets, set)
	}
	var w []float64
	if len(sets) > 0 {
		for i, set := range sets {
			var ranked []judged
			var cross [][]float64
			for fold := range folds {
				others := make([][]judged, len(sets))
				for j, s := range sets {
					for n, q := range s {
						if j != i || n%folds != fold {
							others[j] = append(others[j], q)
						}
					}
				}
				weights := descend(others, l2)
				for n, q := range set {
					if n%folds == fold {
						ranked, cross = append(ranked, q), append(cross, weights)
					}
				}
			}
			report(out, filepath.Base(fit[i])+" (cross-validated)", ranked, func(n int) []float64 { return cross[n] })
		}
		w = descend(sets, l2)
		fmt.Fprintln(out, "\nfitted weights:")
		for i, name := range recall.FeatureNames() {
			fmt.Fprintf(out, "  %-24s %8.3f\n", name, w[i])
		}
	}
	for i, dir := range fit {
		report(out, filepath.Base(dir)+" (present weights)", sets[i], nil)
	}
	for _, dir := range check {
		set, err := load(ctx, dir, settings)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		report(out, filepath.Base(dir)+" (present weights)", set, nil)
		if w != nil {
			report(out, filepath.Base(dir)+" (fitted weights)", set, func(int) []float64 { return w })
		}
	}
	return nil
}

// descend finds the weights that put a relevant hit into the first places.
func descend(sets [][]judged, l2 float64) []float64 {
	n := len(recall.FeatureNames())
	w := recall.FeatureWeights()
	prior := slices.Clone(w)
	free := make([]bool, n)
	for i, name := range recall.FeatureNames() {
		free[i] = !slices.Contains(frozen, name)
	}
	m, v := make([]float64, n), make([]float64, n)
	const beta1, beta2 = 0.9, 0.999 // Adam (Kingma, Ba: Adam, 2015)
	for step := 1; step <= 150; step++ {
		gradient := make([]float64, n)
		for _, set := range sets {
			share := 1 / float64(len(set)) // every set counts alike
			for i := range set {
				slope(&set[i], w, share, gradient)
			}
		}
		for i := range w {
			if !free[i] {
				continue
			}
			g := gradient[i] + l2*(w[i]-prior[i])
			m[i] = beta1*m[i] + (1-beta1)*g
			v[i] = beta2*v[i] + (1-beta2)*g*g
			w[i] -= 0.1 * (m[i] / (1 - math.Pow(beta1, float64(step)))) / (math.Sqrt(v[i]/(1-math.Pow(beta2, float64(step)))) + 1e-8)
		}
	}
	return w
}

// places are those that a relevant hit should take: for each, it is compared
// with the hit that keeps it out. That is closer to what is measured than the
// likelihood of the whole list, in which one hit that cannot be told apart from
// the answer counts for more than ten that could be.
var places = []int{2, 5, 10}

// slope adds the gradient of the losses of one question: of the best relevant
// hit against the second, the fifth and the tenth best of the others, logistic.
func slope(q *judged, w []float64, share float64, gradient []float64) {
	scores := make([]float64, len(q.features))
	good := -1
	var others []int
	for i, f := range q.features {
		scores[i] = dot(w, f)
		switch {
		case !q.relevant[i]:
			others = append(others, i)
		case good < 0 || scores[i] > scores[good]:
			good = i
		}
	}
	if good < 0 {
		return
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, place := range places {
		if place > len(others) {
			continue
		}
		rival := others[place-1]
		p := share / float64(len(places)) / (1 + math.Exp(scores[good]-scores[rival]))
		for j := range gradient {
			gradient[j] -= p * (q.features[good][j] - q.features[rival][j])
		}
	}
}

func dot(w, f []float64) (sum float64) {
	for i, x := range f {
		sum += w[i] * x
	}
	return sum
}

// report prints how a set is ranked; weights nil means as it came.
func report(out io.Writer, name string, set []judged, weights func(int) []float64) {
	var hit1, hit5, recall5, recall10, mrr, pool float64
	for n := range set {
		q := &set[n]
		order := make([]int, len(q.features))
		for i := range order {
			order[i] = i
		}
		if weights != nil {
			w := weights(n)
			slices.SortStableFunc(order, func(a, b int) int {
				x, y := dot(w, q.features[a]), dot(w, q.features[b])
				if x > y {
					return -1
				} else if x < y {
					return 1
				}
				return 0
			})
		}
		found5, found10, first, all := 0, 0, 0, 0
		for rank, i := range order {
			if !q.relevant[i] {
				continue
			}
			all++
			if first == 0 {
				first = rank + 1
			}
			if rank < 5 {
				found5++
			}
			if rank < 10 {
				found10++
			}
		}
		if first > 0 {
			mrr += 1 / float64(first)
		}
		if first == 1 {
			hit1++
		}
		if found5 > 0 {
			hit5++
		}
		recall5 += float64(found5) / float64(q.all)
		recall10 += float64(found10) / float64(q.all)
		pool += float64(all) / float64(q.all)
	}
	n := float64(len(set))
	fmt.Fprintf(out, "%-40s n %4d  hit@1 %.3f  hit@5 %.3f  recall@5 %.3f  recall@10 %.3f  mrr %.3f  in the pool %.3f\n",
		name, len(set), hit1/n, hit5/n, recall5/n, recall10/n, mrr/n, pool/n)
}
