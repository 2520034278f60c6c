package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// mine finds for each pair passages of the same source that share words with the
// question and are not its own: what BM25 puts first, less the best, which may answer
// too. They are what words alone get wrong.
func (d *data) mine(s settings) {
	of := make(map[string][]int32)
	var order []string
	for i, e := range d.learn {
		source := d.names[e.of][:strings.LastIndexByte(d.names[e.of], ' ')]
		if of[source] == nil {
			order = append(order, source)
		}
		of[source] = append(of[source], int32(i))
	}
	for _, source := range order {
		l := d.list(of[source])
		parallel(len(l.pairs), func(i int) { d.learn[l.pairs[i]].hard = l.nearest(d, i, s.hard) })
	}
}

// A lexicon is the posting lists of the passages of one source.
type lexicon struct {
	pairs    []int32
	postings map[int32][]posting
	mean     float64 // length of a passage
	lengths  []int
}

type posting struct {
	passage int32
	count   int32
}

func (d *data) list(pairs []int32) *lexicon {
	l := &lexicon{pairs: pairs, postings: make(map[int32][]posting)}
	total := 0
	for i, p := range pairs {
		passage := d.learn[p].passage
		total += len(passage)
		l.lengths = append(l.lengths, len(passage))
		ids := slices.Clone(passage)
		slices.Sort(ids)
		for from := 0; from < len(ids); {
			to := from
			for to < len(ids) && ids[to] == ids[from] {
				to++
			}
			l.postings[ids[from]] = append(l.postings[ids[from]], posting{int32(i), int32(to - from)})
			from = to
		}
	}
	l.mean = float64(total) / float64(max(1, len(pairs)))
	return l
}

// What a list of passages is asked.
const (
	common  = 20  // a word that stands in more than one passage of so many is not looked up
	skipped = 1   // best passages that may answer as well as the own one
	k1      = 1.2 // of BM25, as is the next
	lengthB = 0.75
)

// nearest returns the pairs whose passages are nearest in words to the question of pair i.
func (l *lexicon) nearest(d *data, i, n int) (found []int32) {
	own := &d.learn[l.pairs[i]]
	scores := make(map[int32]float64)
	words := slices.Clone(own.query)
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		list := l.postings[w]
		if len(list) > max(50, len(l.pairs)/common) {
			continue
		}
		idf := math.Log(1 + (float64(len(l.pairs)-len(list))+0.5)/(float64(len(list))+0.5))
		for _, p := range list {
			tf := float64(p.count)
			scores[p.passage] += idf * tf * (k1 + 1) / (tf + k1*(1-lengthB+lengthB*float64(l.lengths[p.passage])/l.mean))
		}
	}
	var all []int32
	for p := range scores {
		if e := &d.learn[l.pairs[p]]; e.passageHash != own.passageHash && e.askedHash != own.askedHash {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	for _, p := range all[min(skipped, len(all)):] {
		if len(found) == n {
			break
		}
		found = append(found, l.pairs[p])
	}
	return found
}
