package flat

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sort"
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
// groups, only rows of these are looked at. The error is ErrUnusable.
//
// The signs of two vectors differ in a share of dimensions that grows with the
// angle between them (Charikar: Similarity Estimation Techniques from Rounding
// Algorithms, STOC 2002), so a scan of the sign bits leaves few to be compared
// by value.
func (v *Vectors) Nearest(question []float32, groups []uint32, n int, least float32) ([]Near, error) {
	if len(question) != v.Dim || n <= 0 || v.Rows == 0 {
		return nil, nil
	}
	rough, err := v.scan(question, groups, max(rescoredLeast, rescoredPerRow*n))
	if err != nil {
		return nil, err
	}
	found := make([][]Near, processors())
	err = inParts(len(rough), rescoredShare, func(part, from, to int) {
		found[part] = v.compare(question, rough[from:to], n, least)
	})
	if err != nil {
		return nil, err
	}
	return nearestFirst(slices.Concat(found...), n), nil
}

// How many rows are worth a processor of their own.
const (
	scannedShare  = 16384
	rescoredShare = 512
)

func processors() int { return max(1, runtime.GOMAXPROCS(0)) }

// inParts calls f, which reads what was mapped, for the parts of all things, each at least
// as large as is worth it, at once. There are no more parts than processors.
func inParts(all, least int, f func(part, from, to int)) error {
	size := max(least, (all+processors()-1)/processors())
	var wg sync.WaitGroup
	errs := make([]error, processors())
	for part, from := 0, 0; from < all; part, from = part+1, from+size {
		to := min(from+size, all)
		read := func() { errs[part] = reading(func() { f(part, from, to) }) }
		if to == all { // the last one is for whoever asks
			read()
			break
		}
		wg.Go(read)
	}
	wg.Wait()
	return errors.Join(errs...)
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
			near = nearestFirst(near, n)
			least = near[n-1].Cosine
		}
	}
	return near
}

// nearestFirst returns the n nearest, the nearest first.
func nearestFirst(near []Near, n int) []Near {
	slices.SortFunc(near, func(a, b Near) int { return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Key, b.Key)) })
	return near[:min(n, len(near))]
}

// scan returns the rows with the fewest differing signs, some n of them: all
// that differ in no more signs than the n-th does.
func (v *Vectors) scan(question []float32, groups []uint32, n int) ([]uint32, error) {
	asked := make([]uint64, v.Dim/64)
	for i, x := range question {
		if x < 0 {
			asked[i/64] |= 1 << (i % 64)
		}
	}
	var spans []span
	if err := reading(func() { spans = v.spans(groups) }); err != nil {
		return nil, err
	}
	all := 0
	for _, s := range spans {
		all += s.to - s.from
	}
	distances := make([]uint16, all)
	histograms := make([][]int, processors())
	rest := distances
	for _, s := range spans {
		err := inParts(s.to-s.from, scannedShare, func(part, from, to int) {
			if histograms[part] == nil {
				histograms[part] = make([]int, v.Dim+1)
			}
			v.differ(asked, s.from+from, rest[from:to], histograms[part])
		})
		if err != nil {
			return nil, err
		}
		rest = rest[s.to-s.from:]
	}
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
	rows := make([]uint32, 0, min(all, seen+1))
	rest = distances
	for _, s := range spans {
		for row := s.from; row < s.to; row++ {
			if int(rest[row-s.from]) <= limit {
				rows = append(rows, uint32(row))
			}
		}
		rest = rest[s.to-s.from:]
	}
	return rows, nil
}

// A span is the rows of a group, or all.
type span struct{ from, to int }

// spans returns where the rows of some groups stand, or all rows without groups.
func (v *Vectors) spans(groups []uint32) []span {
	if len(groups) == 0 {
		return []span{{0, v.Rows}}
	}
	var all []span
	before := func(group uint64) int { // how many rows are of groups below one
		return sort.Search(v.Rows, func(row int) bool { return uint64(binary.LittleEndian.Uint32(v.groups[4*row:])) >= group })
	}
	for _, g := range slices.Compact(slices.Sorted(slices.Values(groups))) {
		if s := (span{before(uint64(g)), before(uint64(g) + 1)}); s.from < s.to { // in a damaged file it may not be
			all = append(all, s)
		}
	}
	return all
}

// differ sets in how many signs rows differ from a question, the first of which
// is number from, and counts the rows of each distance.
func (v *Vectors) differ(asked []uint64, from int, distances []uint16, histogram []int) {
	size := 8 * len(asked)
	for i := range distances {
		signs := v.signs[(from+i)*size : (from+i+1)*size]
		d := 0
		for w, a := range asked {
			d += bits.OnesCount64(a ^ binary.LittleEndian.Uint64(signs[8*w:]))
		}
		distances[i] = uint16(d)
		histogram[d]++
	}
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
