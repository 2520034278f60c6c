package embed

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// static.bin is made by lab/biencoder from the word vectors of lab/wordvec and the
// pairs of lab/pairs. The layout, in little-endian numbers, everything at a multiple
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
//go:embed static.bin
var staticTable string

// errTable says that data is not a table of word vectors that we can read.
var errTable = errors.New("not a table of word vectors of version 2")

// Static is an Embedder made of static word vectors: nothing is downloaded,
// nothing is parsed, and a word costs one look into the program's own bytes.
//
// The vector of a text is the sum of its words' rows, which were learned so that a
// question is near the passage that answers it; how long a row is says what the word
// is worth. The first half of the dimensions holds what words mean, the second began
// as their letters: a word that the table does not know adds its character n-grams
// there (ngram.go). So names and other languages are like themselves, and a word is
// more like itself than like its synonyms.
type Static struct {
	analyze                                         Analysis
	name                                            string
	dim, meaning, words, slots                      int
	directory, hashes, scales, units, weights, rows string
}

var _ Embedder = (*Static)(nil)

// A Word is the vector of a word: Values times Scale is a unit vector.
type Word struct {
	Values []int8 // must not be changed
	Scale  float32
	Weight float32 // between 0 and 1: how much of a text's meaning a word of this frequency carries
}

// OpenStatic returns the table that is part of the program.
func OpenStatic(analyze Analysis) (*Static, error) {
	return ReadStatic(staticTable, analyze)
}

const (
	tableHeader  = 32 + sha256.Size
	tableVersion = 2
	scaleBits    = 21
	maxDim       = 512
)

// ReadStatic opens a table. It checks the header and the sizes; a test compares the checksum.
func ReadStatic(data string, analyze Analysis) (*Static, error) {
	if len(data) < tableHeader || data[:4] != "anwv" || number(data, 1) != tableVersion {
		return nil, errTable
	}
	dim, words, meaning, bits := number(data, 2), number(data, 3), number(data, 4), number(data, 5)
	if dim <= gramDim || dim > maxDim || dim%8 != 0 || words == 0 || words > math.MaxUint16 ||
		meaning == 0 || meaning > dim || bits == 0 || bits > 16 {
		return nil, fmt.Errorf("%w: %d words of %d dimensions, %d of meaning, %d bits", errTable, words, dim, meaning, bits)
	}
	if got, want := len(data)-tableHeader, int(number(data, 6)); got != want {
		return nil, fmt.Errorf("%w: %d bytes where its header says %d", errTable, got, want)
	}
	s := &Static{analyze: analyze, dim: int(dim), meaning: int(meaning), words: int(words), slots: 32 - int(bits)}
	s.name = "anamnesis-static-2-" + hex.EncodeToString([]byte(data[32:36]))
	rest := data[tableHeader:]
	for _, part := range []struct {
		field *string
		size  int
	}{
		{&s.directory, (1<<bits + 1) * 2},
		{&s.hashes, s.words * 4},
		{&s.scales, s.words * 2},
		{&s.units, s.words * 4},
		{&s.weights, s.words},
		{&s.rows, s.words * s.dim},
	} {
		size := (part.size + 3) &^ 3
		if size > len(rest) {
			return nil, fmt.Errorf("%w: %d bytes do not hold %d words of %d dimensions", errTable, len(data), words, dim)
		}
		*part.field, rest = rest[:size], rest[size:]
	}
	if rest != "" {
		return nil, fmt.Errorf("%w: %d bytes are more than %d words of %d dimensions", errTable, len(data), words, dim)
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

// gramDim is the length of the block of n-grams, a power of two. It stands at the end.
const gramDim = 128

// Traits implements Embedder: a word costs one look into memory.
func (s *Static) Traits() Traits { return Traits{} }

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
	row := s.rows[i*s.dim:][:s.meaning]
	return Word{
		// A string cannot be read as signed bytes without a copy otherwise.
		Values: unsafe.Slice((*int8)(unsafe.Pointer(unsafe.StringData(row))), len(row)),
		Scale:  math.Float32frombits(number(s.units, i)),
		Weight: float32(s.weights[i]) / 255,
	}, true
}

// Tokens returns the vector of a text that is cut into tokens already: of
// length 1, or zero when no token says anything.
func (s *Static) Tokens(tokens []string) []float32 {
	v := make([]float32, s.dim)
	var sum rowSum
	for _, t := range tokens {
		i, ok := s.find(TokenHash(t))
		switch {
		case ok && s.weights[i] != 0:
			s.addRow(&sum, i, v)
		case !ok && strings.IndexByte(t, '_') < 0: // the parts of a compound stand beside it
			AddGrams(v[s.dim-gramDim:], t, 1)
		}
	}
	sum.flush(v)
	normalize(v)
	return v
}

// A rowSum adds up rows of bytes, each times a whole number: two values in the halves
// of a uint64 at a time, which takes a third of the time of doing it in floating point.
// Every passage of every note goes through here. Bytes are made positive for that, by
// adding 128 to each.
type rowSum struct {
	lanes  [maxDim / 2]uint64
	scales uint64 // their sum
	rows   int
}

// mostRows is how many rows fit into the lanes: 2^8 × 255 × 65535 < 2^32.
const mostRows = 256

// addRow adds a row times its scale. A sum that is full goes into v.
func (s *Static) addRow(sum *rowSum, i int, v []float32) {
	if sum.rows == mostRows {
		sum.flush(v)
	}
	sum.rows++
	scale := uint64(s.scales[2*i]) | uint64(s.scales[2*i+1])<<8
	sum.scales += scale
	at := s.rows[i*s.dim:][:s.dim]
	row := unsafe.Slice(unsafe.StringData(at), len(at))
	const two, signs = 0x000000ff000000ff, 0x8080808080808080
	for l := sum.lanes[:s.dim/2]; len(row) >= 8 && len(l) >= 4; row, l = row[8:], l[4:] {
		x := binary.LittleEndian.Uint64(row) ^ signs
		l[0] += (x & two) * scale
		l[1] += (x >> 8 & two) * scale
		l[2] += (x >> 16 & two) * scale
		l[3] += (x >> 24 & two) * scale
	}
}

// flush adds the sum to v and empties it.
func (sum *rowSum) flush(v []float32) {
	const unit = 1.0 / (1 << scaleBits)
	offset := int64(sum.scales * 128)
	for i, l := range sum.lanes[:len(v)/2] {
		at := i&^3*2 + i&3
		v[at] += float32(int64(l&math.MaxUint32)-offset) * unit
		v[at+4] += float32(int64(l>>32)-offset) * unit
	}
	clear(sum.lanes[:])
	sum.scales, sum.rows = 0, 0
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
