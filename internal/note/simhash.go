package note

import "math/bits"

// NearBits is how many bits the simhashes of near-copies differ in at most. Three
// of 64 is the usual bound for near-duplicate documents (Manku, Jain, Das Sarma:
// Detecting Near-Duplicates for Web Crawling, WWW 2007).
const NearBits = 3

// Simhash folds the hashes of words into 64 bits such that similar lists of
// words get hashes that differ in few bits (Charikar, STOC 2002). Neighbouring
// words count as pairs too, so that order matters.
func Simhash(words []string, hash func(string) uint64) uint64 {
	_, sim := Simhashes(words, 0, hash)
	return sim
}

// Simhashes returns the Simhash of the words from the index tail on, and that of
// all words. Each word is hashed once.
func Simhashes(words []string, tail int, hash func(string) uint64) (ofTail, ofAll uint64) {
	var v votes
	first, _ := v.count(words[tail:], hash)
	ofTail = v.majority()
	if tail == 0 {
		return ofTail, ofTail
	}
	_, last := v.count(words[:tail], hash)
	if tail < len(words) {
		v.add(neighbours(last, first))
	}
	return ofTail, v.majority()
}

// Votes says for each of 64 bits how many hashes have it. Bit i of planes[k] is
// the binary digit k of the number for bit i: all of them are added to at once.
type votes struct {
	planes [40]uint64 // more than memory holds
	hashes int
}

func (v *votes) add(h uint64) {
	v.hashes++
	for k := 0; h != 0; k++ {
		v.planes[k], h = v.planes[k]^h, v.planes[k]&h
	}
}

// count adds words and their pairs, and returns the hashes of the first and the last.
func (v *votes) count(words []string, hash func(string) uint64) (first, last uint64) {
	for i, w := range words {
		h := hash(w)
		v.add(h)
		if i == 0 {
			first = h
		} else {
			v.add(neighbours(last, h))
		}
		last = h
	}
	return first, last
}

func neighbours(a, b uint64) uint64 { return a*0x9e3779b97f4a7c15 ^ b }

// majority returns the bits that more than half of the hashes have.
func (v *votes) majority() (sim uint64) {
	digits := bits.Len(uint(v.hashes))
	for i := range 64 {
		n := 0
		for k, plane := range v.planes[:digits] {
			n |= int(plane>>i&1) << k
		}
		if 2*n > v.hashes {
			sim |= 1 << i
		}
	}
	return sim
}
