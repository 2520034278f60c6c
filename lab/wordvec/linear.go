package main

import (
	"math"
	"math/rand/v2"
	"sync"
)

// A matrix is dense, row by row.
type matrix struct {
	rows, cols int
	data       []float32
}

func newMatrix(rows, cols int) *matrix {
	return &matrix{rows, cols, make([]float32, rows*cols)}
}

func (m *matrix) row(i int) []float32 { return m.data[i*m.cols : (i+1)*m.cols] }

// sparse is a square matrix with positive entries max(0, value+left[row]+right[column]).
type sparse struct {
	cols        [][]uint16
	values      [][]float32
	left, right []float32
}

// times returns s·x, or its transpose times x; the pattern of s is symmetric,
// and so are its values, so that the transpose only swaps left and right.
func (s *sparse) times(x *matrix, transposed bool) *matrix {
	left, right := s.left, s.right
	if transposed {
		left, right = right, left
	}
	y := newMatrix(len(s.cols), x.cols)
	parallel(len(s.cols), func(i int) {
		out := y.row(i)
		for k, c := range s.cols[i] {
			v := s.values[i][k] + left[i] + right[c]
			if v <= 0 {
				continue
			}
			for d, e := range x.row(int(c)) {
				out[d] += v * e
			}
		}
	})
	return y
}

// parallel calls f for 0 … n-1 on two goroutines. What f makes of i must depend on i alone.
func parallel(n int, f func(i int)) {
	const workers, step = 2, 16
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

// gram returns xᵀx in double precision.
func gram(x *matrix) [][]float64 {
	n := x.cols
	g := square(n)
	parallel(n, func(i int) {
		for r := range x.rows {
			row := x.row(r)
			v := float64(row[i])
			for j := i; j < n; j++ {
				g[i][j] += v * float64(row[j])
			}
		}
	})
	for i := range n {
		for j := range i {
			g[i][j] = g[j][i]
		}
	}
	return g
}

func square(n int) [][]float64 {
	g := make([][]float64, n)
	for i := range g {
		g[i] = make([]float64, n)
	}
	return g
}

// orthonormal makes the columns of x orthonormal: Cholesky QR, twice for
// accuracy (Yamamoto et al. 2015).
func orthonormal(x *matrix) {
	for range 2 {
		g := gram(x)
		n := x.cols
		for i := range n { // g becomes the lower factor L, g = L·Lᵀ
			for j := range i + 1 {
				sum := g[i][j]
				for k := range j {
					sum -= g[i][k] * g[j][k]
				}
				if i == j {
					g[i][i] = math.Sqrt(max(sum, 1e-12))
				} else {
					g[i][j] = sum / g[j][j]
				}
			}
		}
		parallel(x.rows, func(r int) { // row ← row·L⁻ᵀ
			row := x.row(r)
			for i := range n {
				sum := float64(row[i])
				for k := range i {
					sum -= float64(row[k]) * g[i][k]
				}
				row[i] = float32(sum / g[i][i])
			}
		})
	}
}

// eigen returns the eigenvalues of a symmetric matrix, greatest first, and
// their vectors as columns: cyclic Jacobi (Golub and Van Loan, 8.5).
func eigen(a [][]float64) (values []float64, vectors [][]float64) {
	n := len(a)
	v := square(n)
	for i := range n {
		v[i][i] = 1
	}
	for range 60 {
		var off, all float64
		for i := range n {
			for j := range n {
				if i != j {
					off += a[i][j] * a[i][j]
				}
				all += a[i][j] * a[i][j]
			}
		}
		if off <= 1e-22*all {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(a, v, p, q)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
		for j := i; j > 0 && a[order[j]][order[j]] > a[order[j-1]][order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	vectors = square(n)
	for k, c := range order {
		values = append(values, a[c][c])
		for i := range n {
			vectors[i][k] = v[i][c]
		}
	}
	return values, vectors
}

func rotate(a, v [][]float64, p, q int) {
	if a[p][q] == 0 {
		return
	}
	theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
	t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	for k := range a {
		a[k][p], a[k][q] = c*a[k][p]-s*a[k][q], s*a[k][p]+c*a[k][q]
	}
	for k := range a {
		a[p][k], a[q][k] = c*a[p][k]-s*a[q][k], s*a[p][k]+c*a[q][k]
	}
	for k := range v {
		v[k][p], v[k][q] = c*v[k][p]-s*v[k][q], s*v[k][p]+c*v[k][q]
	}
}

// svd returns the left singular vectors of s scaled by a power of their
// singular values: randomised subspace iteration (Halko, Martinsson and Tropp
// 2011, algorithm 4.4). A power of 0.5 or less makes better word vectors than
// 1 (Levy, Goldberg and Dagan 2015).
func svd(s *sparse, dim int, power float64, seed uint64) (*matrix, []float64) {
	const spare, rounds = 24, 4
	n := len(s.cols)
	width := min(dim+spare, n)
	dim = min(dim, width)
	random := rand.New(rand.NewPCG(seed, 0))
	q := newMatrix(n, width)
	for i := range q.data {
		q.data[i] = float32(random.NormFloat64())
	}
	q = s.times(q, false)
	orthonormal(q)
	for range rounds {
		z := s.times(q, true)
		orthonormal(z)
		q = s.times(z, false)
		orthonormal(q)
	}
	values, w := eigen(gram(s.times(q, true)))
	out := newMatrix(n, dim)
	scale := make([]float64, dim)
	for k := range scale {
		values[k] = math.Sqrt(max(values[k], 0))
		scale[k] = math.Pow(values[k], power)
	}
	parallel(n, func(i int) {
		from, to := q.row(i), out.row(i)
		for k := range to {
			var sum float64
			for j, v := range from {
				sum += float64(v) * w[j][k]
			}
			to[k] = float32(sum * scale[k])
		}
	})
	return out, values[:dim]
}
