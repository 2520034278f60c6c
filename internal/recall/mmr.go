package recall

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

const (
	mmrWindow = 20   // hits that are chosen among, at least
	mmrLeast  = 0.45 // share of the best hit's score below which nothing is moved up
	mmrBand   = 0.1  // share of the best hit's score that does not tell two hits apart
	mmrSure   = 0.6  // likeness from which a hit says nothing new
	mmrNear   = 0.95 // cosine from which two hits say the same, more or less
	mmrAlike  = 0.8  // cosine below which words are not compared
	mmrCopy   = 0.5  // share of runs of words from which they do
	shingle   = 4    // words in a row that two copies share

	twinLeast = 0.4 // share of words below which they do not
	twinWhole = 0.7 // and from which they surely do
)

// diversify fills the places one after the other with the hit that is most
// relevant and least like those that have one (R3; Carbonell, Goldstein: The
// Use of MMR, SIGIR 1998). The best hit keeps its place, and a hit that is
// hardly relevant is not moved up for being different. None is moved past one that
// answers the question clearly better, unless that one is as good as a copy.
func (e *Engine) diversify(ctx context.Context, q Query, hits []*Hit) []*Hit {
	if !e.opts.MMR || q.NoMMR || len(hits) < 3 || hits[0].score <= 0 {
		return hits
	}
	window := min(len(hits), max(mmrWindow, 2*q.K))
	left := append([]*Hit(nil), hits[:window]...)
	c := &comparison{ctx: ctx, index: e.index, traits: make(map[*Hit]*traits, window)}
	best := left[0]
	chosen := []*Hit{best}
	left = left[1:]
	like := make(map[*Hit]float64, window) // the nearest of the chosen
	for len(left) > 0 && len(chosen) < q.K {
		last := chosen[len(chosen)-1]
		alike := make([]float64, len(left))
		for i, h := range left {
			like[h] = max(like[h], c.similarity(h, last))
			alike[i] = like[h]
		}
		at := next(left, alike, best.score, e.opts.MMRLambda)
		h := left[at]
		if at > 0 {
			h.Reasons = append(h.Reasons, Reason{"moved up: the ones before it say what was said", 0})
		}
		chosen = append(chosen, h)
		left = append(left[:at], left[at+1:]...)
	}
	chosen = append(chosen, left...)
	return append(chosen, hits[window:]...)
}

// next returns which of the hits that are left comes next. alike says how much each says
// what was said.
func next(left []*Hit, alike []float64, best, lambda float64) int {
	at, top := -1, 0.0
	passed := 0.0 // the best score of what says something new, before this one
	for i, h := range left {
		rel := h.score / best
		if at >= 0 && (rel < mmrLeast || passed-rel > mmrBand) {
			continue
		}
		if alike[i] < mmrSure {
			passed = max(passed, rel)
		}
		if value := lambda*rel - (1-lambda)*alike[i]; at < 0 || value > top {
			at, top = i, value
		}
	}
	return at
}

// A comparison tells how much hits say the same.
type comparison struct {
	ctx    context.Context
	index  *index.Index
	traits map[*Hit]*traits
}

// traits are what a hit is compared by.
type traits struct {
	runs  map[uint64]bool // of words in the passage that was read
	words map[uint32]bool // of it
	marks string          // of the note, see note.Marks, sorted; only when read
	read  bool
}

// similarity is how much the content of two hits is the same, 0 to 1: by their vectors, by
// the runs of words they share, and by their words where nothing that a
// correction would change is different.
func (c *comparison) similarity(a, b *Hit) float64 {
	cosine := a.vector.Similarity(b.vector)
	if a.vector != nil && b.vector != nil && cosine < mmrAlike {
		return 0
	}
	like := max(0, (cosine-mmrNear)/(1-mmrNear)) // notes about one subject are alike, and no copies
	x, y := c.of(a), c.of(b)
	like = max(like, (share(x.runs, y.runs)-mmrCopy)/(1-mmrCopy))
	if like >= 1 {
		return like
	}
	twin := min(1, (share(x.words, y.words)-twinLeast)/(twinWhole-twinLeast))
	if twin > like && c.sameMarks(a, b) {
		return twin
	}
	return like
}

// share is how much of what two sets hold is in both.
func share[T comparable](x, y map[T]bool) float64 {
	if len(x) == 0 || len(y) == 0 {
		return 0
	}
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

// sameMarks reports whether two notes have the same marks in any order: numbers, names,
// operators, negations and code. At least one is more than a word: "in" and "not"
// say nothing about what a note is about.
func (c *comparison) sameMarks(a, b *Hit) bool {
	x := c.marks(a)
	return strings.ContainsFunc(x, notInWord) && x == c.marks(b)
}

func notInWord(r rune) bool { return r != ' ' && !unicode.IsLower(r) }

func (c *comparison) marks(h *Hit) string {
	p := c.of(h)
	if !p.read {
		p.read = true
		if got := c.index.Content(c.ctx, h.Row); got.Err == nil {
			marks := strings.Fields(note.Marks(got.Note.Title + "\n\n" + got.Note.Body))
			slices.Sort(marks)
			p.marks = strings.Join(slices.Compact(marks), " ")
		}
	}
	return p.marks
}

// of returns what a hit is compared by, made when it is first asked for.
func (c *comparison) of(h *Hit) *traits {
	p := c.traits[h]
	if p == nil {
		p = &traits{}
		p.runs, p.words = shingles(h)
		c.traits[h] = p
	}
	return p
}

// shingles are the runs of words in the passage of a hit that was read, and the words.
func shingles(h *Hit) (runs map[uint64]bool, words map[uint32]bool) {
	for i := range h.passages {
		c := &h.passages[i]
		if c.Start != h.Start || c.End != h.End {
			continue
		}
		all := append(append([]uint32(nil), c.Tokens[index.Title]...), c.Tokens[index.Body]...)
		runs, words = make(map[uint64]bool, len(all)), make(map[uint32]bool, len(all))
		for i, w := range all {
			words[w] = true
			if i+shingle > len(all) {
				continue
			}
			h := uint64(14695981039346656037)
			for _, w := range all[i : i+shingle] {
				h = (h ^ uint64(w)) * 1099511628211
			}
			runs[h] = true
		}
		break
	}
	return runs, words
}
