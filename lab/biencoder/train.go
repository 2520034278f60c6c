package main

import (
	"math"
	"slices"
	"sync"
)

// workers divide the work; what comes out does not depend on how many they are.
const workers = 2

// parallel calls f for 0 … n-1. What f makes of i must depend on i alone.
func parallel(n int, f func(i int)) {
	const step = 8
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for from := w * step; from < n; from += workers * step {
				for i := from; i < min(n, from+step); i++ {
					f(i)
				}
			}
		})
	}
	wg.Wait()
}

func length(v []float32) float32 {
	return float32(math.Sqrt(float64(max(dot(v, v), 1e-20))))
}

// A side is the vectors of one side of a batch, and the gradients of the loss.
type side struct {
	texts [][]int32
	v     []float32    // sums
	n     [2][]float32 // of length 1: all dimensions, the first half
	size  [2][]float32 // lengths
	g     []float32    // gradients of v
}

func newSide(texts [][]int32) *side {
	s := &side{texts: texts, v: make([]float32, len(texts)*dim), g: make([]float32, len(texts)*dim)}
	for k, w := range widths {
		s.n[k], s.size[k] = make([]float32, len(texts)*w), make([]float32, len(texts))
	}
	return s
}

var widths = [2]int{dim, half}

func (s *side) at(k, i int) []float32 { return s.n[k][i*widths[k]:][:widths[k]] }

func (s *side) forward(m *model) {
	parallel(len(s.texts), func(i int) {
		v := s.v[i*dim:][:dim]
		m.vector(v, s.texts[i])
		for k, w := range widths {
			s.size[k][i] = length(v[:w])
			n := s.at(k, i)
			for d := range n {
				n[d] = v[d] / s.size[k][i]
			}
		}
	})
}

// backward turns the gradient g of a vector of length 1 into that of the sum.
func (s *side) backward(k, i int, g []float32) {
	n := s.at(k, i)
	along := dot(g, n)
	to := s.g[i*dim:][:len(n)]
	for d := range to {
		to[d] += (g[d] - along*n[d]) / s.size[k][i]
	}
}

// train reads the pairs in batches and moves the rows.
func train(m *model, d *data, s settings, say func(string, ...any)) {
	began := slices.Clone(m.rows)
	o := newOptimiser(m)
	done, all := 0, 0
	for epoch := range s.epochs {
		batches := d.batches(s, epoch)
		all = len(batches) * s.epochs
		sum := 0.0
		for _, b := range batches {
			q, p := newSide(d.texts(b, true)), newSide(d.texts(b, false))
			q.forward(m)
			p.forward(m)
			masks := d.alike(b, len(p.texts))
			for k, weight := range []float64{1, s.half} {
				if weight > 0 {
					sum += contrast(q, p, k, s.scale, weight, masks)
				}
			}
			rate := s.rate * (1 - float64(done)/float64(all))
			o.step(m, []*side{q, p}, float32(rate))
			done++
		}
		say("epoch %d: loss %.4f", epoch+1, sum/float64(max(1, len(batches))))
	}
	for i, e := range m.rows {
		m.rows[i] = began[i] + float32(s.way)*(e-began[i])
	}
}

// texts returns one side of a batch; hard negatives stand behind the passages.
func (d *data) texts(batch []int32, queries bool) [][]int32 {
	var all [][]int32
	for _, i := range batch {
		if queries {
			all = append(all, d.learn[i].query)
		} else {
			all = append(all, d.learn[i].passage)
		}
	}
	if !queries {
		for _, i := range batch {
			for _, h := range d.learn[i].hard {
				all = append(all, d.learn[h].passage)
			}
		}
	}
	return all
}

// alike says which passages answer a question though they are not its own: the same
// text, or the passage of a question that is asked in the same words.
func (d *data) alike(batch []int32, passages int) func(i, j int) bool {
	asked, answer := make([]uint64, passages), make([]uint64, passages)
	for i, b := range batch {
		asked[i], answer[i] = d.learn[b].askedHash, d.learn[b].passageHash
	}
	at := len(batch)
	for _, b := range batch {
		for _, h := range d.learn[b].hard {
			asked[at], answer[at] = d.learn[h].askedHash, d.learn[h].passageHash
			at++
		}
	}
	return func(i, j int) bool { return i != j && (asked[i] == asked[j] || answer[i] == answer[j]) }
}

// contrast adds the gradients of the loss of a batch to both sides and returns it:
// the mean of the cross entropies of each question over the passages, and of each
// passage over the questions.
func contrast(q, p *side, k int, scale, weight float64, same func(i, j int) bool) float64 {
	n, all := len(q.texts), len(p.texts)
	w := widths[k]
	logits := make([]float32, n*all)
	parallel(n, func(i int) {
		row := logits[i*all:][:all]
		for j := 0; j+4 <= all; j += 4 {
			for l, x := range dots(q.at(k, i), p.n[k][j*w:][:4*w]) {
				row[j+l] = float32(scale) * x
			}
		}
		for j := all &^ 3; j < all; j++ {
			row[j] = float32(scale) * dot(q.at(k, i), p.at(k, j))
		}
		for j := range row {
			if same(i, j) {
				row[j] = never
			}
		}
	})
	rows, columns := make([]float32, n), make([]float32, n) // logarithms of the sums
	parallel(n, func(i int) {
		rows[i] = logSum(logits[i*all:][:all], 1, all)
		columns[i] = logSum(logits[i:], all, n)
	})
	loss := 0.0
	for i := range n {
		own := logits[i*all+i]
		loss += float64(rows[i]-own+columns[i]-own) / 2
	}
	factor := float32(scale * weight / 2)
	parallel(n, func(i int) { // logits become their gradients
		for j := range all {
			l := &logits[i*all+j]
			g := exp(*l - rows[i])
			if j < n {
				g += exp(*l - columns[j])
			}
			if i == j {
				g -= 2
			}
			*l = factor * g
		}
	})
	parallel(n, func(i int) {
		g := make([]float32, w)
		for j := range all {
			if e := logits[i*all+j]; e > 1e-5 || e < -1e-5 {
				addTimes(g, p.at(k, j), e)
			}
		}
		q.backward(k, i, g)
	})
	parallel(all, func(j int) {
		g := make([]float32, w)
		for i := range n {
			if e := logits[i*all+j]; e > 1e-5 || e < -1e-5 {
				addTimes(g, q.at(k, i), e)
			}
		}
		p.backward(k, j, g)
	})
	return weight * loss / float64(n)
}

// never is the logit of a passage that cannot be distinguished.
const never = -1e9

func exp(x float32) float32 {
	if x < -30 {
		return 0
	}
	return float32(math.Exp(float64(x)))
}

func logSum(l []float32, step, n int) float32 {
	peak := float32(math.Inf(-1))
	for i := range n {
		peak = max(peak, l[i*step])
	}
	var sum float64
	for i := range n {
		sum += float64(exp(l[i*step] - peak))
	}
	return peak + float32(math.Log(sum))
}

// tiny keeps Adagrad from dividing by zero.
const tiny = 1e-6

// An optimiser is what Adagrad (Duchi et al. 2011) knows of each number, and the
// gradients of a batch, for each worker apart.
type optimiser struct {
	squares []float32
	slot    [workers][]int32 // where the gradient of a row is, plus one
	order   [workers][]int32 // rows that have one
	sums    [workers][]float32
}

func newOptimiser(m *model) *optimiser {
	o := &optimiser{squares: make([]float32, len(m.rows))}
	for w := range o.slot {
		o.slot[w] = make([]int32, len(m.rows)/dim)
	}
	return o
}

// step moves the rows of a batch's words against their gradients. Each worker moves
// its own rows, and meets the texts in their order.
func (o *optimiser) step(m *model, sides []*side, rate float32) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			o.gather(w, sides)
			for i, r := range o.order[w] {
				at := int(r) * dim
				adagrad(m.row(r), o.squares[at:][:dim], o.sums[w][i*dim:][:dim], rate)
				o.slot[w][r] = 0
			}
		})
	}
	wg.Wait()
}

// gather adds up the gradients of a worker's rows.
func (o *optimiser) gather(w int, sides []*side) {
	order, sums, slot := o.order[w][:0], o.sums[w][:0], o.slot[w]
	zeros := make([]float32, dim)
	put := func(row int32, g []float32) {
		if int(row)%workers != w {
			return
		}
		if slot[row] == 0 {
			order = append(order, row)
			sums = append(sums, zeros...)
			slot[row] = int32(len(order))
		}
		add(sums[int(slot[row]-1)*dim:][:dim], g)
	}
	for _, s := range sides {
		for i, ids := range s.texts {
			g := s.g[i*dim:][:dim]
			for _, id := range ids {
				if id >= 0 {
					put(id, g)
				}
			}
		}
	}
	o.order[w], o.sums[w] = order, sums
}
