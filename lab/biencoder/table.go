package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

// The layout of a table (version 2), in little-endian numbers, everything at a multiple
// of four bytes:
//
//	"anwv", version (2), dimensions D, words N, dimensions of meaning M, directory bits B, bytes that follow the header, 0
//	SHA-256 of what follows
//	directory:  2^B+1 × uint16, how many hashes are below each value of their B leading bits
//	hashes:     N × uint32, FNV-1a of the words, ascending
//	scales:     N × uint16, 2^21 × what a row is multiplied with in a text
//	units:      N × float32, which make the first M values of a row a unit vector
//	weights:    N × uint8, 255 × a/(a+p) for a word of probability p; 0 for stop words, which have no meaning here
//	rows:       N × D × int8
//
// Scales are whole numbers so that a text can be added up in integers, two values of a
// row at a time. Package embed reads version 1, which lab/wordvec writes.

// directory is how many leading bits of a hash lead to its row.
const directory = 14

// scaleUnit is what scales are divided by.
const scaleUnit = 1 << 21

// bytes returns the table: rows rounded to eight bits, each with a separate scale.
func (m *model) bytes() []byte {
	le := binary.LittleEndian
	var b []byte
	pad := func() {
		for len(b)%4 != 0 {
			b = append(b, 0)
		}
	}
	at := 0
	for slot := range 1<<directory + 1 {
		for at < len(m.hashes) && int(m.hashes[at]>>(32-directory)) < slot {
			at++
		}
		b = le.AppendUint16(b, uint16(at))
	}
	pad()
	for _, h := range m.hashes {
		b = le.AppendUint32(b, h)
	}
	var rows []byte
	var units []float32
	for i := range len(m.hashes) {
		row := m.row(int32(i))
		var peak, squares float64
		for _, e := range row {
			peak = max(peak, math.Abs(float64(e)))
		}
		scale := uint16(min(math.MaxUint16, math.Ceil(max(peak, 1e-9)/127*scaleUnit)))
		for d, e := range row {
			q := min(127, max(-127, math.RoundToEven(float64(e)*scaleUnit/float64(scale))))
			rows = append(rows, byte(int8(q)))
			if d < half {
				squares += q * q
			}
		}
		b = le.AppendUint16(b, scale)
		units = append(units, float32(1/math.Sqrt(max(squares, 1))))
	}
	pad()
	for _, u := range units {
		b = le.AppendUint32(b, math.Float32bits(u))
	}
	b = append(b, m.frequency...)
	pad()
	b = append(b, rows...)
	pad()
	sum := sha256.Sum256(b)
	head := append([]byte("anwv"), 2, 0, 0, 0)
	for _, n := range []int{dim, len(m.hashes), half, directory, len(b), 0} {
		head = le.AppendUint32(head, uint32(n))
	}
	return append(append(head, sum[:]...), b...)
}

// reread replaces the rows of a model by those of a table that was made of the same words.
func (m *model) reread(table []byte) error {
	le := binary.LittleEndian
	n := len(m.hashes)
	if len(table) < header || string(table[:4]) != "anwv" || le.Uint32(table[4:]) != 2 || le.Uint32(table[8:]) != dim ||
		int(le.Uint32(table[12:])) != n || le.Uint32(table[20:]) != directory || int(le.Uint32(table[24:])) != len(table)-header {
		return fmt.Errorf("not a table of version 2 with %d words of %d dimensions", n, dim)
	}
	body := table[header:]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:], table[32:header]) {
		return fmt.Errorf("its checksum is %x", sum)
	}
	even := func(n int) int { return (n + 3) &^ 3 }
	hashes := even((1<<directory + 1) * 2)
	scales := hashes + 4*n
	rows := scales + even(2*n) + 4*n + even(n)
	if len(body) != rows+even(n*dim) {
		return fmt.Errorf("%d bytes do not hold %d words of %d dimensions", len(body), n, dim)
	}
	for i, h := range m.hashes {
		if le.Uint32(body[hashes+4*i:]) != h {
			return fmt.Errorf("its word %d is another", i)
		}
		scale := float32(le.Uint16(body[scales+2*i:])) / scaleUnit
		for d := range dim {
			m.rows[i*dim+d] = scale * float32(int8(body[rows+i*dim+d]))
		}
	}
	return nil
}
