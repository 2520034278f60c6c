package recall

import (
	"encoding/binary"
	"math"

	"anamnesis/internal/index"
)

// A cachedAnswer is what the arms found, as it is kept.
type cachedAnswer struct {
	text     [8]byte
	searched int
	terms    []term
	arms     []cachedArm
}

type term struct {
	hash      uint32
	frequency int
	weight    float64
}

type cachedArm struct {
	name string
	hits []cachedHit
}

type cachedHit struct {
	note             int64
	start, end       int
	coverage, cosine float64
	found            Found
	passages, before []int64
}

// cacheForm is the first byte of a written cache; another layout has another one.
const cacheForm = 2

// encodeAnswer writes the answer of arms.
func encodeAnswer(p cacheKey, res *Result, lists []list) []byte {
	b := append([]byte{cacheForm}, p.text[:]...)
	whole := func(n int) { b = binary.AppendVarint(b, int64(n)) }
	key := func(k int64) { b = binary.AppendVarint(b, k) }
	number := func(x float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x)) }
	text := func(s string) { whole(len(s)); b = append(b, s...) }
	whole(res.Searched)
	whole(len(res.Terms))
	for _, t := range res.Terms {
		b = binary.LittleEndian.AppendUint32(b, index.TokenHash(t.Token))
		whole(t.Frequency)
		number(t.Weight)
	}
	whole(len(lists))
	for _, l := range lists {
		text(l.name)
		whole(len(l.hits))
		for _, h := range l.hits {
			f := h.Found[l.name]
			key(h.Row.Key)
			whole(h.Start)
			whole(h.End)
			number(h.Coverage)
			number(h.Cosine)
			whole(f.Rank)
			number(f.Score)
			number(f.Norm)
			text(f.Why)
			for _, passages := range [][]index.Candidate{h.passages, h.before} {
				whole(len(passages))
				for i := range passages {
					key(passages[i].Passage)
				}
			}
		}
	}
	return b
}

// decodeAnswer reads what encodeAnswer wrote, and reports whether it was that.
func decodeAnswer(b []byte) (m cachedAnswer, ok bool) {
	if len(b) <= len(m.text) || b[0] != cacheForm {
		return m, false
	}
	b = b[1+copy(m.text[:], b[1:]):]
	ok = true
	key := func() int64 {
		n, size := binary.Varint(b)
		if size <= 0 {
			ok, b = false, nil
			return 0
		}
		b = b[size:]
		return n
	}
	whole := func() int { return int(key()) }
	take := func(n int) []byte {
		if n < 0 || n > len(b) {
			ok, b = false, nil
			return make([]byte, 8)
		}
		got := b[:n]
		b = b[n:]
		return got
	}
	count := func() int { // of things, each of at least one byte
		n := whole()
		if n < 0 || n > len(b) {
			ok = false
			return 0
		}
		return n
	}
	number := func() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(take(8))) }
	m.searched = whole()
	m.terms = make([]term, count())
	for i := range m.terms {
		m.terms[i] = term{binary.LittleEndian.Uint32(take(4)), whole(), number()}
	}
	m.arms = make([]cachedArm, count())
	for i := range m.arms {
		a := &m.arms[i]
		a.name = string(take(whole()))
		a.hits = make([]cachedHit, count())
		for j := range a.hits {
			h := &a.hits[j]
			h.note, h.start, h.end = key(), whole(), whole()
			ok = ok && h.start >= 0 && h.start <= h.end
			h.coverage, h.cosine = number(), number()
			h.found = Found{Rank: whole(), Score: number(), Norm: number(), Why: string(take(whole()))}
			for _, passages := range []*[]int64{&h.passages, &h.before} {
				*passages = make([]int64, count())
				for k := range *passages {
					(*passages)[k] = key()
				}
			}
		}
	}
	return m, ok
}
