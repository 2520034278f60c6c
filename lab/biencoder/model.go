package main

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"anamnesis/internal/embed"
)

// header is the length of what stands before a table of either version.
const header = 32 + sha256.Size

// The dimensions: what words mean stands in the first half, their letters in the
// second when training begins.
const (
	dim  = 256
	half = dim / 2
)

// A model is the rows of words.
type model struct {
	hashes    []uint32 // of the words, ascending
	frequency []uint8  // 255·a/(a+p), as the word vectors have it
	number    map[uint32]int32
	rows      []float32

	strangers [][]float32      // words without a row: their letters, which are not learned
	known     map[string]int32 // of strangers
}

func (m *model) row(i int32) []float32 { return m.rows[int(i)*dim:][:dim] }

// begin makes the model whose vectors are those of the table of word vectors: rows
// of a word's vector without the common directions, times its weight, and its letters.
func begin(data []byte, words []string) (*model, error) {
	t, err := readTable(data)
	if err != nil {
		return nil, err
	}
	if len(words) != len(t.hashes) {
		return nil, fmt.Errorf("%d words are named, the table has %d", len(words), len(t.hashes))
	}
	for i, w := range words {
		if embed.TokenHash(w) != t.hashes[i] {
			return nil, fmt.Errorf("word %d is not %s", i, w)
		}
	}
	m := &model{
		hashes: t.hashes, frequency: t.weights, number: make(map[uint32]int32), known: make(map[string]int32),
		rows: make([]float32, len(t.hashes)*dim),
	}
	for i, h := range t.hashes {
		m.number[h] = int32(i)
		row := m.row(int32(i))
		for d := range half {
			row[d] = float32(t.weights[i]) / 255 * t.scales[i] * float32(t.rows[i*half+d])
		}
		for _, u := range t.common {
			var dot float32
			for d, e := range u {
				dot += e * row[d]
			}
			for d, e := range u {
				row[d] -= dot * e
			}
		}
		embed.AddGrams(row[half:], words[i], lettersWeight*float32(t.weights[i])/255)
	}
	return m, nil
}

// lettersWeight is what the letters of a word count at the start against its meaning.
const lettersWeight = 0.8

// A tableOfWords is what lab/wordvec writes (version 1 of the layout).
type tableOfWords struct {
	hashes  []uint32
	scales  []float32
	common  [][]float32
	weights []uint8
	rows    []int8
}

var errTable = errors.New("not a table of word vectors of 128 dimensions")

func readTable(data []byte) (*tableOfWords, error) {
	le := binary.LittleEndian
	if len(data) < header || string(data[:4]) != "anwv" || le.Uint32(data[4:]) != 1 || le.Uint32(data[8:]) != half {
		return nil, errTable
	}
	n, common, bits := int(le.Uint32(data[12:])), int(le.Uint32(data[16:])), le.Uint32(data[20:])
	rest := data[header:]
	cut := func(n int) []byte {
		n = (n + 3) &^ 3
		part := rest[:n]
		rest = rest[n:]
		return part
	}
	if bits > 16 || common > 16 || len(rest) < 2<<bits+n*(9+half)+common*half*4 {
		return nil, errTable
	}
	cut((1<<bits + 1) * 2)
	t := &tableOfWords{}
	floats := func(n int) (all []float32) {
		for b := cut(4 * n); len(b) > 0; b = b[4:] {
			all = append(all, math.Float32frombits(le.Uint32(b)))
		}
		return all
	}
	for b := cut(4 * n); len(b) > 0; b = b[4:] {
		t.hashes = append(t.hashes, le.Uint32(b))
	}
	t.scales = floats(n)
	for range common {
		t.common = append(t.common, floats(half))
	}
	t.weights = cut(n)[:n]
	for _, b := range cut(n * half) {
		t.rows = append(t.rows, int8(b))
	}
	return t, nil
}

// ids returns tokens as numbers: rows of words, and below zero strangers. Words that
// mean nothing here are left out.
func (m *model) ids(tokens []string) (ids []int32) {
	for _, t := range tokens {
		if i, ok := m.number[embed.TokenHash(t)]; ok {
			if m.frequency[i] != 0 {
				ids = append(ids, i)
			}
			continue
		}
		if strings.IndexByte(t, '_') >= 0 {
			continue
		}
		i, ok := m.known[t]
		if !ok {
			t = strings.Clone(t)
			letters := make([]float32, half)
			embed.AddGrams(letters, t, 1)
			i = int32(len(m.strangers))
			m.strangers = append(m.strangers, letters)
			m.known[t] = i
		}
		ids = append(ids, ^i)
	}
	return ids
}

// vector adds up the rows of a text.
func (m *model) vector(v []float32, ids []int32) {
	clear(v)
	for _, i := range ids {
		if i >= 0 {
			add(v, m.row(i))
			continue
		}
		add(v[half:], m.strangers[^i])
	}
}
