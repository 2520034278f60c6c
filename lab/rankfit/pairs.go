package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"

	"anamnesis/lab/quality"
)

// What a store that is made of the pairs of one source holds at most, and how many
// questions are put to it.
const (
	mostPassages  = 1500
	mostQuestions = 160
	longestQuery  = 1000 // bytes
)

// A pair is a line of the file that lab/pairs writes.
type pair struct {
	Kind, Source, Query, Passage string
	Held                         bool
}

// A source is the pairs of one source.
type source struct {
	name  string
	held  bool
	pairs []pair
}

// readPairs reads the pairs by source.
func readPairs(name string) ([]source, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	var sources []source
	at := make(map[string]int)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var p pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		i, ok := at[p.Source]
		if !ok {
			i = len(sources)
			at[p.Source] = i
			sources = append(sources, source{name: p.Source, held: p.Held})
		}
		sources[i].pairs = append(sources[i].pairs, p)
	}
	return sources, lines.Err()
}

// draw returns some pairs of a source, of every kind in turn. Which ones, their texts
// alone decide.
func (s *source) draw() []pair {
	of := make(map[string][]pair)
	for _, p := range s.pairs {
		of[p.Kind] = append(of[p.Kind], p)
	}
	var kinds []string
	for k := range of {
		kinds = append(kinds, k)
		slices.SortStableFunc(of[k], func(a, b pair) int { return cmp.Compare(hash(a.Query+a.Passage), hash(b.Query+b.Passage)) })
	}
	slices.Sort(kinds)
	var drawn []pair
	for turn := 0; len(drawn) < mostPassages; turn++ {
		before := len(drawn)
		for _, k := range kinds {
			if turn < len(of[k]) {
				drawn = append(drawn, of[k][turn])
			}
		}
		if len(drawn) == before {
			break
		}
	}
	return drawn
}

// store makes notes and questions of a source, and says which note answers which
// question. Every second note has a title, which its body does not repeat.
func (s *source) store() *corpus {
	c := &corpus{set: set{name: s.name, held: s.held, weight: 1}, want: make(answers)}
	known := make(map[string]string)
	for _, p := range s.draw() {
		id, ok := known[p.Passage]
		if !ok {
			id = fmt.Sprintf("d%d", len(c.docs))
			known[p.Passage] = id
			title, body := titled(p.Passage)
			c.docs = append(c.docs, quality.Document{ID: id, Title: title, Text: body})
		}
		q := fmt.Sprintf("q%d", hash(p.Query))
		if c.want[q] == nil {
			if len(c.own) >= mostQuestions || len(p.Query) > longestQuery || len(strings.Fields(p.Query)) < 2 {
				continue
			}
			c.own = append(c.own, quality.Question{ID: q, Text: p.Query})
			c.want[q] = make(map[string]bool)
		}
		c.want[q][id] = true
	}
	return c
}

// titled returns the title and the body of a note: of every second longer text the first
// 6 to 10 words are its title.
func titled(text string) (title, body string) {
	h, words := hash(text), strings.Fields(text)
	if h%2 == 1 || len(words) <= 20 {
		return "", text
	}
	n := int(6 + h/2%5)
	return strings.Join(words[:n], " "), strings.Join(words[n:], " ")
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}
