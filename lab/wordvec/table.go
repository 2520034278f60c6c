package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"anamnesis/internal/index"
)

// unit gives all rows the length 1.
func unit(x *matrix) {
	parallel(x.rows, func(i int) {
		row := x.row(i)
		var sum float64
		for _, e := range row {
			sum += float64(e) * float64(e)
		}
		scale := float32(1 / math.Sqrt(max(sum, 1e-30)))
		for d := range row {
			row[d] *= scale
		}
	})
}

// plain removes the mean and the leading directions from all rows, which say
// how frequent a word is more than what it means (Mu and Viswanath 2018,
// "All-but-the-Top").
func plain(x *matrix, top int) {
	mean := make([]float64, x.cols)
	for i := range x.rows {
		for d, e := range x.row(i) {
			mean[d] += float64(e)
		}
	}
	parallel(x.rows, func(i int) {
		row := x.row(i)
		for d := range row {
			row[d] -= float32(mean[d] / float64(x.rows))
		}
	})
	remove(x, leading(x, top))
}

// leading returns the first principal directions of the rows of x.
func leading(x *matrix, n int) [][]float32 {
	_, vectors := eigen(gram(x))
	all := make([][]float32, n)
	for k := range all {
		for d := range x.cols {
			all[k] = append(all[k], float32(vectors[d][k]))
		}
	}
	return all
}

func remove(x *matrix, directions [][]float32) {
	parallel(x.rows, func(i int) {
		row := x.row(i)
		for _, u := range directions {
			var dot float32
			for d, e := range row {
				dot += e * u[d]
			}
			for d := range row {
				row[d] -= dot * u[d]
			}
		}
	})
}

// A table is what lab/biencoder begins with.
type table struct {
	dim     int
	words   []string
	hashes  []uint32
	scales  []float32
	weights []uint8
	rows    []int8
	common  [][]float32
}

// sif is the constant of smooth inverse frequency, a/(a+p(w)) (Arora, Liang
// and Ma 2017).
const sif = 1e-3

// newTable rounds unit vectors and finds what texts have in common: the
// leading direction of the weighted means of paragraphs.
// Stop words have no vector and the weight 0.
func newTable(x *matrix, v *vocabulary, stop []string, ids []uint16) *table {
	t := &table{dim: x.cols}
	var order []int
	var hashes []uint32
	seen := make(map[uint32]bool)
	names := slices.Concat(v.words, stop)
	for i, w := range names {
		h := index.TokenHash(w)
		hashes = append(hashes, h)
		if !seen[h] {
			order = append(order, i)
		}
		seen[h] = true
	}
	weights := make([]float32, len(v.words))
	for i := range v.words {
		weights[i] = float32(sif / (sif + float64(v.count[i])/float64(v.total)))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) })
	for _, i := range order {
		t.hashes = append(t.hashes, hashes[i])
		t.words = append(t.words, names[i])
		if i >= len(v.words) {
			t.rows = append(t.rows, make([]int8, x.cols)...)
			t.scales = append(t.scales, 0)
			t.weights = append(t.weights, 0)
			continue
		}
		row := x.row(i)
		var peak, squares float64
		for _, e := range row {
			peak = max(peak, math.Abs(float64(e)))
		}
		for _, e := range row {
			q := math.RoundToEven(float64(e) / max(peak, 1e-30) * 127)
			squares += q * q
			t.rows = append(t.rows, int8(q))
		}
		t.scales = append(t.scales, float32(1/math.Sqrt(max(squares, 1))))
		t.weights = append(t.weights, uint8(max(1, math.Round(float64(weights[i])*255))))
	}
	t.common = leading(means(x, weights, ids), 1)
	return t
}

// means returns the weighted means of some paragraphs, as unit vectors.
func means(x *matrix, weights []float32, ids []uint16) *matrix {
	const most, shortest = 50_000, 8
	var starts []int
	for i, start := 0, 0; i < len(ids); i++ {
		if ids[i] == noWord {
			if i-start >= shortest {
				starts = append(starts, start)
			}
			start = i + 1
		}
	}
	step := max(1, len(starts)/most)
	m := newMatrix((len(starts)+step-1)/step, x.cols)
	for k := range m.rows {
		row := m.row(k)
		for _, id := range ids[starts[k*step]:] {
			if id == noWord {
				break
			}
			for d, e := range x.row(int(id)) {
				row[d] += weights[id] * e
			}
		}
	}
	unit(m)
	return m
}

// directory is how many leading bits of a hash lead to its row.
const directory = 14

func (t *table) bytes() []byte {
	le := binary.LittleEndian
	var b []byte
	pad := func() {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	at := 0
	for slot := range 1<<directory + 1 {
		for at < len(t.hashes) && int(t.hashes[at]>>(32-directory)) < slot {
			at++
		}
		b = le.AppendUint16(b, uint16(at))
	}
	pad()
	for _, h := range t.hashes {
		b = le.AppendUint32(b, h)
	}
	for _, s := range t.scales {
		b = le.AppendUint32(b, math.Float32bits(s))
	}
	for _, u := range t.common {
		for _, e := range u {
			b = le.AppendUint32(b, math.Float32bits(e))
		}
	}
	b = append(b, t.weights...)
	pad()
	for _, q := range t.rows {
		b = append(b, byte(q))
	}
	sum := sha256.Sum256(b)
	head := append([]byte("anwv"), 1, 0, 0, 0)
	for _, n := range []int{t.dim, len(t.hashes), len(t.common), directory, len(b), 0} {
		head = le.AppendUint32(head, uint32(n))
	}
	return append(append(head, sum[:]...), b...)
}

// list prints SOURCES.md.
func list(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# What the word vectors are made of\n\n" +
		"Written by `go run -C lab ./wordvec -sources` from `sources.go`; a test compares the two. Nothing here is copied\n" +
		"into the program: the table holds numbers that were counted from these texts. `kin.txt` beside this file is ours.\n" +
		"A Debian package is read for its documentation only; where it has several licences, the one of the files that are\n" +
		"read is named. `deb` and `npm` sums are SHA-256, `module` sums are those of `go.sum`.\n\n" +
		"| source | kind | version | licence | checksum |\n|---|---|---|---|---|\n")
	for _, s := range sources {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.name, s.kind, s.version, s.licence, s.sum)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
