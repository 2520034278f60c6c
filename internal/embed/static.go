package embed

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// static.bin is made by tools/wordvec from the sources that its SOURCES.md
// lists. The layout, in little-endian numbers, everything at a multiple of four
// bytes:
//
//	"anwv", version (1), dimensions D, words N, common directions C, directory bits B, bytes that follow the header, 0
//	SHA-256 of what follows
//	directory: 2^B+1 × uint16, how many hashes are below each value of their B leading bits
//	hashes:    N × uint32, FNV-1a of the words, ascending
//	scales:    N × float32, which make a row a unit vector
//	common:    C × D × float32, unit vectors
//	weights:   N × uint8, 255 × a/(a+p) for a word of probability p; 0 for stop words, which have no meaning here
//	rows:      N × D × int8
//
//go:embed static.bin
var staticTable string

// ErrTable says that data is not a table of word vectors that we can read.
var ErrTable = errors.New("not a table of word vectors of version 1")

// Static is an Embedder made of static word vectors: nothing is downloaded,
// nothing is parsed, and a word costs one look into the program's own bytes.
//
// The vector of a text has two blocks. The first is the smooth inverse
// frequency mean of its words' vectors, without the direction that all texts
// share (Arora, Liang and Ma 2017, "A Simple but Tough-to-Beat Baseline for
// Sentence Embeddings"). The second holds the character n-grams of the same
// words and of those that the table does not know, so that names and other
// languages are like themselves, and a word is more like itself than like its
// synonyms.
type Static struct {
	analyze                                  Analysis
	name                                     string
	dim, words, slots                        int
	directory, hashes, scales, weights, rows string
	common                                   [][]float32
}

var _ TokenEmbedder = (*Static)(nil)

// A Word is the vector of a word: Values times Scale is a unit vector.
type Word struct {
	Values []int8 // must not be changed
	Scale  float32
	Weight float32 // between 0 and 1: how much of a text's meaning a word of this frequency carries
}

// OpenStatic returns the table that is part of the program.
func OpenStatic(analyze Analysis) (*Static, error) {
	return openTable(staticTable, analyze)
}

const tableHeader = 32 + sha256.Size

// openTable checks the header and the sizes. The checksum is compared by a test.
func openTable(data string, analyze Analysis) (*Static, error) {
	if len(data) < tableHeader || data[:4] != "anwv" || number(data, 1) != 1 {
		return nil, ErrTable
	}
	dim, words, common, bits := int(number(data, 2)), int(number(data, 3)), int(number(data, 4)), int(number(data, 5))
	if dim == 0 || dim > 4096 || words == 0 || words > math.MaxUint16 || common > 16 || bits == 0 || bits > 16 {
		return nil, fmt.Errorf("%w: %d words of %d dimensions, %d common ones, %d bits", ErrTable, words, dim, common, bits)
	}
	if got, want := len(data)-tableHeader, int(number(data, 6)); got != want {
		return nil, fmt.Errorf("%w: %d bytes where its header says %d", ErrTable, got, want)
	}
	s := &Static{analyze: analyze, dim: dim, words: words, slots: 32 - bits}
	s.name = "anamnesis-static-1-" + hex.EncodeToString([]byte(data[32:36]))
	rest := data[tableHeader:]
	cut := func(n int) (part string) {
		n = (n + 3) &^ 3
		if n > len(rest) {
			n = len(rest)
			s.words = 0
		}
		part, rest = rest[:n], rest[n:]
		return part
	}
	s.directory = cut((1<<bits + 1) * 2)
	s.hashes = cut(words * 4)
	s.scales = cut(words * 4)
	for range common {
		floats := cut(dim * 4)
		u := make([]float32, len(floats)/4)
		for i := range u {
			u[i] = math.Float32frombits(number(floats, i))
		}
		s.common = append(s.common, u)
	}
	s.weights = cut(words)
	s.rows = cut(words * dim)
	if s.words == 0 || rest != "" {
		return nil, fmt.Errorf("%w: %d bytes do not hold %d words of %d dimensions", ErrTable, len(data), words, dim)
	}
	return s, nil
}

// number returns the i-th uint32 of a string.
func number(s string, i int) uint32 {
	s = s[4*i : 4*i+4]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// Name implements Embedder: a version, and the beginning of the table's checksum.
func (s *Static) Name() string { return s.name }

// gramDim is the length of the block of n-grams, a power of two.
const gramDim = 128

// Dim implements Embedder.
func (s *Static) Dim() int { return s.dim + gramDim }

// Traits implements Embedder: a word costs one look into memory.
func (s *Static) Traits() Traits { return Traits{InProcess: true} }

// find returns the row of a hash.
func (s *Static) find(hash uint32) (row int, ok bool) {
	slot := int(hash>>s.slots) * 2
	d := s.directory[slot : slot+4]
	from, to := int(d[0])|int(d[1])<<8, int(d[2])|int(d[3])<<8
	for i := from; i < min(to, s.words); i++ {
		if h := number(s.hashes, i); h >= hash {
			return i, h == hash
		}
	}
	return 0, false
}

// Word returns the vector of the token with a hash (TokenHash). A stop
// word has none.
func (s *Static) Word(hash uint32) (w Word, ok bool) {
	i, ok := s.find(hash)
	if !ok || s.weights[i] == 0 {
		return Word{}, false
	}
	row := s.rows[i*s.dim : (i+1)*s.dim]
	return Word{
		// A string cannot be read as signed bytes without a copy otherwise.
		Values: unsafe.Slice((*int8)(unsafe.Pointer(unsafe.StringData(row))), len(row)),
		Scale:  math.Float32frombits(number(s.scales, i)),
		Weight: float32(s.weights[i]) / 255,
	}, true
}

// Cosine returns the likeness of two words, between -1 and 1.
func (w Word) Cosine(x Word) float32 {
	if len(w.Values) != len(x.Values) {
		return 0
	}
	var sum int32
	other := x.Values[:len(w.Values)]
	for i, e := range w.Values {
		sum += int32(e) * int32(other[i])
	}
	return float32(sum) * w.Scale * x.Scale
}

// gramWeight is what the n-grams of a word count against its meaning. It was
// chosen on questions and notes that were set apart for that, as was that a
// word the table does not know weighs as much as a rare one that it knows.
const gramWeight = 0.8

// Tokens returns the vector of a text that is cut into tokens already: of
// length 1, or zero when no token says anything.
func (s *Static) Tokens(tokens []string) []float32 { return s.Weighted(tokens, nil) }

// Weighted is Tokens for somebody who knows what a token is worth besides its
// general frequency, such as its inverse document frequency.
func (s *Static) Weighted(tokens []string, weight func(token string) float32) []float32 {
	v := make([]float32, s.Dim())
	known, grams := v[:s.dim], v[s.dim:]
	for _, t := range tokens {
		i, ok := s.find(TokenHash(t))
		worth := float32(1)
		if weight != nil {
			worth = weight(t)
		}
		switch {
		case ok && s.weights[i] != 0:
			worth *= float32(s.weights[i]) / 255
			AddGrams(grams, t, gramWeight*worth)
			worth *= math.Float32frombits(number(s.scales, i))
			row := s.rows[i*s.dim:][:len(known)]
			for d := range known {
				known[d] += worth * float32(int8(row[d]))
			}
		case !ok && strings.IndexByte(t, '_') < 0: // the parts of a compound stand beside it
			AddGrams(grams, t, worth)
		}
	}
	for _, u := range s.common {
		var dot float32
		for d, e := range known {
			dot += e * u[d]
		}
		for d := range known {
			known[d] -= dot * u[d]
		}
	}
	normalize(v)
	return v
}

// TokenHash is the number by which a token is known in tables and in the index:
// FNV-1a, 32 bits.
func TokenHash(token string) uint32 {
	h := uint32(2166136261)
	for i := range len(token) {
		h = (h ^ uint32(token[i])) * 16777619
	}
	return h
}

// Embed implements Embedder.
func (s *Static) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	all := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all[i] = s.Tokens(s.analyze(t))
	}
	return all, nil
}
