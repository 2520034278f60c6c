package main

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"anamnesis/internal/index"
)

// A corpus is the text of all sources as numbers.
type corpus struct {
	number  map[string]uint32
	tokens  []string
	count   []int
	sources []uint64 // bit set of the sources a token occurs in
	stream  []uint32 // tokens in their order, pause between paragraphs
	seen    map[uint64]bool
	stop    map[string]bool // stop words that occurred
}

const pause = math.MaxUint32

func newCorpus() *corpus {
	return &corpus{number: make(map[string]uint32), seen: make(map[uint64]bool), stop: make(map[string]bool)}
}

// add takes in a paragraph. A paragraph that was there before teaches nothing
// new: licences and generated text repeat.
func (c *corpus) add(text string, source, times int) (tokens int) {
	h := fnv.New64a()
	h.Write([]byte(strings.Join(strings.Fields(text), " ")))
	if sum := h.Sum64(); c.seen[sum] {
		return 0
	} else {
		c.seen[sum] = true
	}
	start := len(c.stream)
	for _, t := range index.Words(text) {
		if index.Stopword(t) {
			c.stop[t] = true
		}
		if !worthy(t) {
			continue
		}
		id, ok := c.number[t]
		if !ok {
			id = uint32(len(c.tokens))
			t = strings.Clone(t)
			c.number[t] = id
			c.tokens = append(c.tokens, t)
			c.count = append(c.count, 0)
			c.sources = append(c.sources, 0)
		}
		c.count[id]++
		c.sources[id] |= 1 << (source % 64)
		c.stream = append(c.stream, id)
	}
	tokens = len(c.stream) - start
	if tokens < 2 {
		c.stream = c.stream[:start]
		return 0
	}
	c.stream = append(c.stream, pause)
	for range times - 1 {
		c.stream = append(c.stream, c.stream[start:start+tokens+1]...)
		for _, id := range c.stream[start : start+tokens] {
			c.count[id]++
		}
	}
	return tokens
}

// worthy reports whether a token may have a vector. Compounds say nothing that
// their parts, which stand beside them, do not say; numbers are alike for us.
func worthy(t string) bool {
	if len(t) < 2 || index.Stopword(t) || strings.ContainsRune(t, '_') {
		return false
	}
	letters := 0
	for i := range len(t) {
		if c := t[i]; c >= 'a' && c <= 'z' {
			letters++
		} else if c >= 0x80 {
			return false // the sources are English
		}
	}
	return letters*2 > len(t) && len(t) <= 24
}

// A vocabulary is the words that get vectors, the most frequent first.
type vocabulary struct {
	words  []string
	number map[string]int
	count  []int
	total  int // tokens of all words
}

// vocabulary chooses at most size words that occur often enough: in two
// sources, or in one and in a dictionary.
func (c *corpus) vocabulary(size, least int, dictionary map[string]bool) *vocabulary {
	var ids []uint32
	for id, n := range c.count {
		if n >= least && (c.sources[id]&(c.sources[id]-1) != 0 || dictionary[c.tokens[id]]) {
			ids = append(ids, uint32(id))
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(c.count[b], c.count[a]), cmp.Compare(c.tokens[a], c.tokens[b]))
	})
	v := &vocabulary{number: make(map[string]int)}
	hashes := make(map[uint32]bool)
	for _, id := range ids {
		if len(v.words) == size {
			break
		}
		h := index.TokenHash(c.tokens[id])
		if hashes[h] {
			continue // two names in one: the more frequent word has it
		}
		hashes[h] = true
		v.number[c.tokens[id]] = len(v.words)
		v.words = append(v.words, c.tokens[id])
		v.count = append(v.count, c.count[id])
		v.total += c.count[id]
	}
	return v
}

// ids returns the stream in the numbers of a vocabulary, without other words.
func (c *corpus) ids(v *vocabulary) []uint16 {
	to := make([]uint16, len(c.tokens))
	for id, t := range c.tokens {
		to[id] = noWord
		if n, ok := v.number[t]; ok {
			to[id] = uint16(n)
		}
	}
	out := make([]uint16, 0, len(c.stream))
	for _, id := range c.stream {
		if id == pause {
			out = append(out, noWord)
		} else if to[id] != noWord {
			out = append(out, to[id])
		}
	}
	return out
}

// noWord stands between paragraphs; it bounds the vocabulary.
const noWord = math.MaxUint16

// pmi counts the neighbours within window words on either side, nearer ones
// more, and returns the matrix of positive pointwise mutual information,
// log(p(w,c)/(p(w)·p(c)^smooth)) − log(shift), contexts smoothed as Levy,
// Goldberg and Dagan (2015) do. Pairs counted less than least are left out.
func pmi(ids []uint16, words, window int, least uint32, smooth, shift float64) *sparse {
	places := make([][]uint32, words)
	counts := make([]int, words)
	for _, id := range ids {
		if id != noWord {
			counts[id]++
		}
	}
	for w, n := range counts {
		places[w] = make([]uint32, 0, n)
	}
	for i, id := range ids {
		if id != noWord {
			places[id] = append(places[id], uint32(i))
		}
	}
	s := &sparse{cols: make([][]uint16, words), values: make([][]float32, words)}
	sums := make([]float64, words)
	free := make(chan []uint32, 4)
	parallel(words, func(w int) {
		var row []uint32
		select {
		case row = <-free:
		default:
			row = make([]uint32, words)
		}
		for _, p := range places[w] {
			for d := 1; d <= window && int(p)-d >= 0 && ids[int(p)-d] != noWord; d++ {
				row[ids[int(p)-d]] += uint32(window - d + 1)
			}
			for d := 1; d <= window && int(p)+d < len(ids) && ids[int(p)+d] != noWord; d++ {
				row[ids[int(p)+d]] += uint32(window - d + 1)
			}
		}
		row[w] = 0 // a word beside itself says that a list repeats it
		for c, n := range row {
			sums[w] += float64(n)
			if n >= least {
				s.cols[w] = append(s.cols[w], uint16(c))
				s.values[w] = append(s.values[w], float32(math.Log(float64(n))))
			}
			row[c] = 0
		}
		free <- row
	})
	var smoothed float64
	for _, n := range sums {
		smoothed += math.Pow(n, smooth)
	}
	s.left, s.right = make([]float32, words), make([]float32, words)
	for w, n := range sums {
		n = max(n, 1)
		s.left[w] = float32(-math.Log(n) - math.Log(shift))
		s.right[w] = float32(math.Log(smoothed) - smooth*math.Log(n))
	}
	return s
}
