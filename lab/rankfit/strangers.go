package main

import (
	"cmp"
	"context"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/lab/quality"
)

// How many questions of others are put to a corpus: of the two that it is nearest to,
// and of one of any kind.
const (
	fromNearest = 60
	fromNext    = 40
	fromAny     = 20
)

// A trial is what the score sees of a question: one of the notes' own, or a stranger's.
type trial struct {
	seen   []float64 // inputNames; nil where nothing was found
	own    bool
	store  string  // within the set
	middle float64 // of the calibration of the store
}

// invite chooses the strangers of each corpus without groups: questions of those whose
// notes use the same words.
func invite(all []*corpus) {
	words := vocabularies(all)
	for i, c := range all {
		if c.grouped() {
			continue
		}
		var others []int
		near := make([]float64, len(all))
		for j, o := range all {
			if j != i && !o.grouped() {
				others = append(others, j)
				near[j] = alike(words[i], words[j])
			}
		}
		slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(near[b], near[a]) })
		for place, most := range []int{fromNearest, fromNext} {
			if place < len(others) {
				c.strangers = append(c.strangers, all[others[place]].some(most)...)
			}
		}
		if len(others) > 2 {
			any := others[2+int(hash(c.name)%uint64(len(others)-2))]
			c.strangers = append(c.strangers, all[any].some(fromAny)...)
		}
	}
}

// some returns questions of a corpus, from its whole length.
func (c *corpus) some(most int) []quality.Question {
	var all []quality.Question
	step := max(1, len(c.own)/most)
	for i := 0; i < len(c.own) && len(all) < most; i += step {
		all = append(all, c.own[i])
	}
	return all
}

func (c *corpus) grouped() bool { return len(c.own) > 0 && c.own[0].Meta.Group != "" }

// vocabularies returns how much each word says of the corpora: in which share of the
// notes it stands, and in how few corpora.
func vocabularies(all []*corpus) []map[string]float64 {
	words := make([]map[string]float64, len(all))
	in := make(map[string]float64)
	for i, c := range all {
		words[i] = make(map[string]float64)
		for _, d := range c.docs {
			tokens := index.Words(d.Title + " " + d.Text)
			slices.Sort(tokens)
			for _, w := range slices.Compact(tokens) {
				words[i][w] += 1 / float64(len(c.docs))
			}
		}
		for w := range words[i] {
			in[w]++
		}
	}
	for _, of := range words {
		for w, share := range of {
			of[w] = math.Sqrt(share) * math.Log(float64(len(all)+1)/in[w])
		}
	}
	return words
}

// alike is the cosine of two vocabularies.
func alike(a, b map[string]float64) float64 {
	dot, aa, bb := 0.0, 0.0, 0.0
	for _, w := range sortedWords(a) {
		dot += a[w] * b[w]
		aa += a[w] * a[w]
	}
	for _, w := range sortedWords(b) {
		bb += b[w] * b[w]
	}
	return dot / math.Sqrt(aa*bb+1e-12)
}

// sortedWords are the words of a vocabulary in one order: sums must not differ by it.
func sortedWords(of map[string]float64) []string {
	words := make([]string, 0, len(of))
	for w := range of {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}

// try puts a corpus's own questions and those of others to it. In a corpus of groups,
// others are the next group's, and nobody is named: names tell groups apart.
func (c *corpus) try(ctx context.Context, box *quality.Sandbox) ([]trial, error) {
	next := c.nextGroup()
	for _, store := range append(slices.Sorted(maps.Keys(next)), "") {
		if _, err := box.Engine.Calibrate(ctx, store); err != nil {
			return nil, err
		}
	}
	middle := make(map[string]float64)
	for group := range next { // one with a few notes has the middle of all
		middle[group] = box.Engine.Calibration(ctx, group).Middle
	}
	var all []trial
	add := func(q quality.Question, own bool) error {
		res, err := put(ctx, box, q)
		if err == nil {
			all = append(all, trial{seen: res.ScoreInputs(), own: own, store: q.Meta.Group, middle: middle[q.Meta.Group]})
		}
		return err
	}
	names := c.names()
	for _, q := range c.own {
		if names != nil {
			q.Text = strings.Join(strings.Fields(names.ReplaceAllString(q.Text, " ")), " ")
		}
		if err := add(q, true); err != nil {
			return nil, err
		}
		if q.Meta.Group != "" {
			q.Meta.Group = next[q.Meta.Group]
			if err := add(q, false); err != nil {
				return nil, err
			}
		}
	}
	for _, q := range c.strangers {
		if err := add(q, false); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// names finds the names of those who speak in a corpus; nil when nobody does.
func (c *corpus) names() *regexp.Regexp {
	var all []string
	for _, d := range c.docs {
		if d.Meta.Speaker != "" {
			all = append(all, regexp.QuoteMeta(d.Meta.Speaker))
		}
	}
	if all == nil {
		return nil
	}
	slices.Sort(all)
	return regexp.MustCompile(`\b(` + strings.Join(slices.Compact(all), "|") + `)('s)?\b`)
}

// nextGroup says which group a group's questions are strangers to. What has no groups is
// one, without a name.
func (c *corpus) nextGroup() map[string]string {
	var groups []string
	for _, q := range c.own {
		groups = append(groups, q.Meta.Group)
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	next := make(map[string]string)
	for i, g := range groups {
		next[g] = groups[(i+1)%len(groups)]
	}
	return next
}
