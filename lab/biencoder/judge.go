package main

import (
	"fmt"
	"io"
	"slices"
)

// What judges a source and kind: questions asked, and passages to choose from.
const mostAsked, mostPassages = 500, 3000

// judge prints how well held-out questions find their passages among those of their
// source and kind, in all dimensions and in the first half.
func (m *model) judge(d *data, w io.Writer) {
	of := make([][]example, len(d.names))
	for _, e := range d.held {
		of[e.of] = append(of[e.of], e)
	}
	var total [5]float64
	sets := 0
	fmt.Fprintf(w, "| held-out source and kind | passages | MRR | hit@5 | MRR, 128 | hit@5, 128 |\n|---|---|---|---|---|---|\n")
	for i, all := range of {
		if len(all) < 50 {
			continue
		}
		step := max(1, len(all)/mostPassages)
		var some []example
		for j := 0; j < len(all) && len(some) < mostPassages; j += step {
			some = append(some, all[j])
		}
		f := m.rank(some)
		fmt.Fprintf(w, "| %s | %d | %.3f | %.3f | %.3f | %.3f |\n", d.names[i], len(some), f[0], f[1], f[2], f[3])
		for k := range f {
			total[k] += f[k]
		}
		sets++
	}
	n := max(1, float64(sets))
	fmt.Fprintf(w, "| mean of %d | | %.4f | %.4f | %.4f | %.4f |\n", sets, total[0]/n, total[1]/n, total[2]/n, total[3]/n)
}

// rank returns mean reciprocal rank and hit@5, twice.
func (m *model) rank(all []example) (f [4]float64) {
	var queries, passages [][]int32
	step := max(1, len(all)/mostAsked)
	var own []int
	for i, e := range all {
		passages = append(passages, e.passage)
		if i%step == 0 {
			queries = append(queries, e.query)
			own = append(own, i)
		}
	}
	q, p := newSide(queries), newSide(passages)
	q.forward(m)
	p.forward(m)
	places := make([][2]int, len(own))
	parallel(len(own), func(i int) {
		for k := range widths {
			mine := dot(q.at(k, i), p.at(k, own[i]))
			place := 1
			for j := range passages {
				if j != own[i] && dot(q.at(k, i), p.at(k, j)) >= mine && !slices.Equal(passages[j], passages[own[i]]) {
					place++
				}
			}
			places[i][k] = place
		}
	})
	for _, p := range places {
		for k, place := range p {
			f[2*k] += 1 / float64(place) / float64(len(places))
			if place <= 5 {
				f[2*k+1] += 1 / float64(len(places))
			}
		}
	}
	return f
}
