package embed

import "math"

// AddGrams adds the features of a token to v, together of length about weight:
// the token itself and its n-grams of three and four bytes, its ends marked,
// each hashed to a place and a sign (Weinberger et al. 2009; n-grams as in
// fastText, Bojanowski et al. 2017). Tokens that share most letters share most
// features. The length of v is a power of two.
func AddGrams(v []float32, token string, weight float32) {
	const whole = 1.5 // of the token itself, against 1 of an n-gram
	const begin, end = 1, 2
	scale := weight / float32(math.Sqrt(whole*whole+float64(2*len(token))))
	mask := uint32(len(v) - 1)
	var gram uint32 = begin
	all := uint32(2166136261)
	for i := range len(token) + 1 {
		c := uint32(end)
		if i < len(token) {
			c = uint32(token[i])
			all = (all ^ c) * 16777619
		}
		gram = gram<<8 | c
		if i >= 1 {
			h := scatter(gram & 0xffffff)
			v[h&mask] += math.Float32frombits(math.Float32bits(scale) ^ h&(1<<31))
		}
		if i >= 2 {
			h := scatter(gram ^ 0x5bd1e995)
			v[h&mask] += math.Float32frombits(math.Float32bits(scale) ^ h&(1<<31))
		}
	}
	h := scatter(all)
	v[h&mask] += math.Float32frombits(math.Float32bits(whole*scale) ^ h&(1<<31))
}

// scatter spreads the bits of a feature: its low bits become a place and its
// highest a sign.
func scatter(h uint32) uint32 {
	h *= 0x9e3779b1
	h ^= h >> 15
	h *= 0x85ebca77
	return h ^ h>>13
}

// normalize gives v the length 1 unless it is zero.
func normalize(v []float32) {
	var sum float64
	for _, e := range v {
		sum += float64(e) * float64(e)
	}
	if sum == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
}
