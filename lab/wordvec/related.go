package main

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"

	"anamnesis/internal/index"
)

//go:embed kin.txt
var kin string

// A tie says that two words mean similar things.
type tie struct {
	a, b   string
	weight float64
}

// ties is what dictionaries say of words.
type ties struct {
	known        map[string]bool // words of a dictionary
	own, wordnet []tie
}

// rates is how near the relations of WordNet bring two words; those that are
// not here, such as antonyms and parts, say nothing about likeness.
var rates = map[string]float64{"@": 0.3, "~": 0.3, "+": 0.7, "&": 0.5, "\\": 0.5, "^": 0.4, "*": 0.3, "$": 0.5}

// relations collects the ties of kin.txt and of WordNet. A meaning counts by
// its rank among those of a word, which are sorted by how common they are.
func relations(meanings []synset, ranks map[string]int) *ties {
	t := &ties{known: make(map[string]bool)}
	for line := range strings.Lines(kin) {
		if words := strings.Fields(line); len(words) > 1 && words[0] != "#" {
			for i := range words {
				for j := range words {
					if a, b := stem(words[i]), stem(words[j]); a != b && a != "" && b != "" {
						t.own = append(t.own, tie{a, b, 1 / float64(1+max(i, j))})
					}
				}
			}
		}
	}
	byKey := make(map[string]*synset)
	for i := range meanings {
		byKey[meanings[i].key] = &meanings[i]
	}
	for i := range meanings {
		s := &meanings[i]
		for _, a := range s.words {
			t.known[stem(a)] = true
			for _, b := range s.words {
				t.meaning(a, b, s, s, ranks, 1)
			}
		}
		for _, r := range s.related {
			other := byKey[r.key]
			if rates[r.kind] == 0 || other == nil {
				continue
			}
			for i, a := range s.words {
				for j, b := range other.words {
					if r.lemmas == [2]int{} || r.lemmas == [2]int{i + 1, j + 1} {
						t.meaning(a, b, s, other, ranks, rates[r.kind])
					}
				}
			}
		}
	}
	delete(t.known, "")
	return t
}

func (t *ties) meaning(a, b string, in, of *synset, ranks map[string]int, rate float64) {
	from, to := stem(a), stem(b)
	if from == "" || to == "" || from == to {
		return
	}
	r1, r2 := ranks[strings.ToLower(a)+in.key], ranks[strings.ToLower(b)+of.key]
	if r1 == 0 || r2 == 0 {
		return
	}
	t.wordnet = append(t.wordnet, tie{from, to, rate / math.Sqrt(float64(r1*r2))})
}

// stem returns the token of a single word, or nothing.
func stem(word string) string {
	if tokens := index.Words(word); len(tokens) == 1 {
		return tokens[0]
	}
	return ""
}

// A pull draws a word towards another.
type pull struct {
	to     int
	weight float32
}

// retrofit moves every word towards its relatives while holding it at its
// place (Faruqui et al. 2015, "Retrofitting Word Vectors to Semantic
// Lexicons"): x ← (x̂ + own·mean(kin) + net·mean(relatives)) / (1+own+net),
// repeated. The weights of a word's relatives add up to 1, or to less when all
// of them are far. It returns how many words have relatives.
func (t *ties) retrofit(x *matrix, v *vocabulary, own, net float64) int {
	pulls := make([][]pull, len(v.words))
	collect(pulls, v, t.own, own)
	collect(pulls, v, t.wordnet, net)
	first := append([]float32(nil), x.data...)
	with := 0
	for i := range pulls {
		if len(pulls[i]) > 0 {
			with++
		}
	}
	next := newMatrix(x.rows, x.cols)
	for range 10 {
		parallel(x.rows, func(i int) {
			row := next.row(i)
			copy(row, first[i*x.cols:])
			sum := float32(1)
			for _, p := range pulls[i] {
				for d, e := range x.row(p.to) {
					row[d] += p.weight * e
				}
				sum += p.weight
			}
			for d := range row {
				row[d] /= sum
			}
		})
		x.data, next.data = next.data, x.data
	}
	return with
}

func collect(pulls [][]pull, v *vocabulary, all []tie, strength float64) {
	if strength == 0 {
		return
	}
	weights := make([]map[int]float64, len(v.words))
	for _, t := range all {
		a, ok := v.number[t.a]
		b, ok2 := v.number[t.b]
		if !ok || !ok2 {
			continue
		}
		if weights[a] == nil {
			weights[a] = make(map[int]float64)
		}
		weights[a][b] = max(weights[a][b], t.weight)
	}
	for a, m := range weights {
		var found []pull
		var sum float64
		for b := range m {
			found = append(found, pull{to: b})
		}
		slices.SortFunc(found, func(p, q pull) int { return cmp.Compare(p.to, q.to) })
		for _, p := range found {
			sum += m[p.to]
		}
		for _, p := range found {
			p.weight = float32(strength * m[p.to] / max(sum, 1))
			pulls[a] = append(pulls[a], p)
		}
	}
}
