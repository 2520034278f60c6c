package flat

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
)

// A Near is a passage and its cosine with the question.
type Near struct {
	Key    int64
	Cosine float32
}

// rescored is how many rows with the fewest differing signs are compared by
// their values, for each row that is asked for, and at least. With the
// embedded model it loses none of the nearest hundred (TestNearest).
const (
	rescoredPerRow = 10
	rescoredLeast  = 2000
)

// Nearest returns the n rows nearest to a question, a unit vector of Dim
// elements, the nearest first, without those whose cosine is below least. With
// groups, only rows of these are looked at.
//
// The signs of two vectors differ in a share of dimensions that grows with the
// angle between them (Charikar: Similarity Estimation Techniques from Rounding
// Algorithms, STOC 2002), so a scan of the sign bits leaves few to be compared
// by value.
func (v *Vectors) Nearest(question []float32, groups []uint32, n int, least float32) []Near {
	if len(question) != v.Dim || n <= 0 || v.Rows == 0 {
		return nil
	}
	rough := v.scan(question, groups, max(rescoredLeast, rescoredPerRow*n))
	found := make([][]Near, processors())
	share(len(rough), rescoredShare, func(part, from, to int) {
		found[part] = v.compare(question, rough[from:to], n, least)
	})
	return foremost(slices.Concat(found...), n)
}

// How many rows are worth a processor of their own.
const (
	scannedShare  = 16384
	rescoredShare = 512
)

func processors() int { return max(1, runtime.GOMAXPROCS(0)) }

// share calls f for the parts of all things, each at least as large as is worth
// it, at once. There are no more parts than processors.
func share(all, least int, f func(part, from, to int)) {
	size := max(least, (all+processors()-1)/processors())
	var wg sync.WaitGroup
	for part, from := 0, 0; from < all; part, from = part+1, from+size {
		to := min(from+size, all)
		if to == all { // the last one is for whoever asks
			f(part, from, to)
			break
		}
		wg.Go(func() { f(part, from, to) })
	}
	wg.Wait()
}

// compare returns the n nearest of some rows, in no order that means anything.
func (v *Vectors) compare(question []float32, rows []uint32, n int, least float32) []Near {
	near := make([]Near, 0, min(2*n, len(rows)))
	for _, row := range rows {
		values := v.values[int(row)*v.Dim : (int(row)+1)*v.Dim]
		scale := math.Float32frombits(binary.LittleEndian.Uint32(v.scales[4*row:]))
		cosine := scale * dot(question, values)
		if cosine < least {
			continue
		}
		near = append(near, Near{int64(binary.LittleEndian.Uint64(v.keys[8*row:])), cosine})
		if len(near) == 2*n { // no more is sorted than must be
			near = foremost(near, n)
			least = near[n-1].Cosine
		}
	}
	return near
}

// foremost returns the n nearest, the nearest first.
func foremost(near []Near, n int) []Near {
	slices.SortFunc(near, func(a, b Near) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Key, b.Key)) })
	return near[:min(n, len(near))]
}

// scan returns the rows with the fewest differing signs, some n of them: all
// that differ in no more signs than the n-th does.
func (v *Vectors) scan(question []float32, groups []uint32, n int) []uint32 {
	asked := make([]uint64, v.Dim/64)
	for i, x := range question {
		if x < 0 {
			asked[i/64] |= 1 << (i % 64)
		}
	}
	distance := make([]uint16, v.Rows)
	histograms := make([][]int, processors())
	share(v.Rows, scannedShare, func(part, from, to int) {
		histograms[part] = v.differ(asked, groups, from, distance[from:to])
	})
	limit, seen := 0, 0
	for ; limit < v.Dim; limit++ {
		for _, h := range histograms {
			if h != nil {
				seen += h[limit]
			}
		}
		if seen >= n {
			break
		}
	}
	rows := make([]uint32, 0, min(v.Rows, seen+1))
	for row, d := range distance {
		if int(d) <= limit {
			rows = append(rows, uint32(row))
		}
	}
	return rows
}

// differ sets in how many signs rows differ from a question, the first of which
// is number from, and returns how many rows there are of each distance.
func (v *Vectors) differ(asked []uint64, groups []uint32, from int, distance []uint16) []int {
	size := 8 * len(asked)
	histogram := make([]int, v.Dim+1)
	for i := range distance {
		row := from + i
		if len(groups) > 0 && !slices.Contains(groups, binary.LittleEndian.Uint32(v.groups[4*row:])) {
			distance[i] = math.MaxUint16
			continue
		}
		signs := v.signs[row*size : (row+1)*size]
		d := 0
		for w, a := range asked {
			d += bits.OnesCount64(a ^ binary.LittleEndian.Uint64(signs[8*w:]))
		}
		distance[i] = uint16(d)
		histogram[d]++
	}
	return histogram
}

func dot(q []float32, values []byte) float32 {
	var a, b, c, d float32
	values = values[:len(q)]
	for i := 0; i+4 <= len(q); i += 4 {
		a += q[i] * float32(int8(values[i]))
		b += q[i+1] * float32(int8(values[i+1]))
		c += q[i+2] * float32(int8(values[i+2]))
		d += q[i+3] * float32(int8(values[i+3]))
	}
	return a + b + c + d
}
