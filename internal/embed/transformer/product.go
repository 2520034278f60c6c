package transformer

import (
	"errors"
	"math"
	"runtime"
	"sync"

	"anamnesis/internal/embed/mapped"
)

// linear is a table of weights with a row for each value that comes out.
type linear struct {
	weight, bias []float32
	in, out      int
}

// A split is work on one core or two. The zero value is one.
type split struct {
	cores chan struct{} // the second core, to be given back; nil when there is one
}

// split takes a second core, if it is free.
func (m *Model) split() split {
	select {
	case m.cores <- struct{}{}:
		return split{m.cores}
	default:
		return split{}
	}
}

func (c split) join() {
	if c.cores != nil {
		<-c.cores
	}
}

// halves calls work for 0 up to n, in two halves when there are two cores.
func (c split) halves(n, step int, work func(from, to int)) {
	middle := n / 2 / step * step
	if c.cores == nil || middle == 0 {
		work(0, n)
		return
	}
	var other sync.WaitGroup
	var cut error
	other.Go(func() { cut = mapped.Read(func() { work(0, middle) }) })
	func() {
		defer other.Wait() // it writes into what the caller reuses
		work(middle, n)
	}()
	if fault := runtime.Error(nil); errors.As(cut, &fault) {
		panic(fault) // to the Read around all of it
	}
}

// apply sets out to in × weight + bias for each of some rows. Both have room for a
// multiple of four rows.
func (c split) apply(l *linear, in, out []float32, rows int) {
	c.halves(l.out, tileColumns, func(from, to int) {
		product(in, l.in, l.weight[from*l.in:to*l.in], l.in, l.in, out[from:], l.out, rows, to-from)
		for i := range rows {
			row := out[i*l.out+from : i*l.out+to]
			for d, v := range l.bias[from:to] {
				row[d] += v
			}
		}
	})
}

// A tile is what product works out at once: so many rows of a, so many of b.
const (
	tileRows    = 4
	tileColumns = 2
	vector      = 8  // values that the assembly multiplies at once
	block       = 32 // rows of b that stay in the nearest cache
)

// product sets out[i, j] to the sum over k of a[i, k] × b[j, k], for rows of a and
// columns of out, which are rows of b. Each table has a distance between its rows.
// a and out have room for a multiple of tileRows rows.
func product(a []float32, da int, b []float32, db, k int, out []float32, dout, rows, columns int) {
	for j0 := 0; j0 < columns; j0 += block {
		end := min(j0+block, columns)
		for i := 0; i < rows; i += tileRows {
			j := j0
			for ; j+tileColumns <= end; j += tileColumns {
				t := tile(a[i*da:], da, b[j*db:], db, k)
				for r := range min(tileRows, rows-i) {
					at := (i+r)*dout + j
					out[at], out[at+1] = t[tileColumns*r], t[tileColumns*r+1]
				}
			}
			for ; j < end; j++ {
				for r := i; r < min(i+tileRows, rows); r++ {
					out[r*dout+j] = dot(a[r*da:r*da+k], b[j*db:j*db+k])
				}
			}
		}
	}
}

// tile returns the products of four rows of a with two of b.
func tile(a []float32, da int, b []float32, db, k int) (t [tileRows * tileColumns]float32) {
	_, _ = a[3*da+k-1], b[db+k-1] // the assembly checks nothing
	n := k &^ (vector - 1)
	if n == 0 || !dotTile(&a[0], da, &b[0], db, n, &t) {
		plainTile(a, da, b, db, k, &t)
		return t
	}
	for ; n < k; n++ {
		for r := range tileRows {
			t[2*r] += a[r*da+n] * b[n]
			t[2*r+1] += a[r*da+n] * b[db+n]
		}
	}
	return t
}

// plainTile is tile in Go.
func plainTile(a []float32, da int, b []float32, db, k int, t *[tileRows * tileColumns]float32) {
	a0, a1, a2, a3 := a[:k], a[da:][:k], a[2*da:][:k], a[3*da:][:k]
	b0, b1 := b[:k], b[db:][:k]
	var s00, s01, s10, s11, s20, s21, s30, s31 float32
	for i, x := range b0 {
		y := b1[i]
		s00 += a0[i] * x
		s01 += a0[i] * y
		s10 += a1[i] * x
		s11 += a1[i] * y
		s20 += a2[i] * x
		s21 += a2[i] * y
		s30 += a3[i] * x
		s31 += a3[i] * y
	}
	*t = [...]float32{s00, s01, s10, s11, s20, s21, s30, s31}
}

func dot(a, b []float32) float32 {
	var s float32
	b = b[:len(a)]
	for i, x := range a {
		s += x * b[i]
	}
	return s
}

// attention lets the tokens of each sequence look at each other: b.mixed becomes what
// they see.
func (c split) attention(s *shape, k pack, b *buffers) {
	size := s.hidden / s.heads
	factor := float32(1 / math.Sqrt(float64(size)))
	c.halves(s.heads, 1, func(from, to int) {
		most := 0
		for _, q := range k.all {
			most = max(most, len(q.ids))
		}
		most = (most + 7) &^ 7
		part := newHead(most, size)
		for head := from; head < to; head++ {
			row := 0
			for _, q := range k.all {
				part.attend(b, s.hidden, row, head*size, size, len(q.ids), factor)
				row += len(q.ids)
			}
		}
	})
}

// A head is the room that one core needs for one head of attention.
type head struct{ q, k, v, scores, seen []float32 }

func newHead(rows, size int) *head {
	return &head{
		q: make([]float32, rows*size), k: make([]float32, rows*size), v: make([]float32, (size+1)*rows),
		scores: make([]float32, rows*rows), seen: make([]float32, rows*size),
	}
}

// attend works out one head for n tokens from a row on, whose values begin at a column.
func (h *head) attend(b *buffers, hidden, row, column, size, n int, factor float32) {
	wide := (n + 7) &^ 7 // rows and columns of scores; those too many are zero
	clear(h.v)
	clear(h.scores)
	for i := range n {
		at := (row+i)*hidden + column
		for d, x := range b.q[at : at+size] {
			h.q[i*size+d] = x * factor
		}
		copy(h.k[i*size:(i+1)*size], b.k[at:at+size])
		for d, x := range b.v[at : at+size] {
			h.v[d*wide+i] = x // turned round, so that it is read along its rows
		}
	}
	product(h.q, size, h.k, size, size, h.scores, wide, n, n)
	for i := range n {
		softmax(h.scores[i*wide : i*wide+n])
	}
	product(h.scores, wide, h.v, wide, wide, h.seen, size, n, size)
	for i := range n {
		copy(b.mixed[(row+i)*hidden+column:][:size], h.seen[i*size:(i+1)*size])
	}
}
