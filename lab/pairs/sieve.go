package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"anamnesis/internal/index"
)

// A pair is a text to ask with and the passage that answers it.
type pair struct {
	Kind    string `json:"kind"`
	Source  string `json:"source"`
	Held    bool   `json:"held,omitempty"`
	Query   string `json:"query"`
	Passage string `json:"passage"`
}

// What a pair has to be.
const (
	leastQuery, mostQuery = 2, 40 // words with a topic; words
	leastPassage          = 5     // words
	passageBytes          = 700
	perKind               = 30_000 // of one source
	perQuery              = 3      // pairs that ask alike
)

// A sieve keeps the pairs that teach something: each once, none that the forbidden
// texts hold, not too many of a kind.
type sieve struct {
	forbidden   shingles
	seen        map[uint64]bool
	asked       map[uint64]int
	kinds, held map[string]int
	dropped     map[string]int
}

func newSieve(forbidden shingles) *sieve {
	return &sieve{
		forbidden: forbidden, seen: make(map[uint64]bool), asked: make(map[uint64]int),
		kinds: make(map[string]int), held: make(map[string]int), dropped: make(map[string]int),
	}
}

// choose returns the pairs of a source that are kept, in their order.
func (s *sieve) choose(src *source, all []pair) []pair {
	of := make(map[string][]pair)
	var order []string
	for _, p := range all {
		p.Source, p.Held = src.name, src.held
		p.Query, p.Passage = clean(p.Query, passageBytes), clean(p.Passage, passageBytes)
		if why := s.refuse(p); why != "" {
			s.dropped[why]++
			continue
		}
		if of[p.Kind] == nil {
			order = append(order, p.Kind)
		}
		of[p.Kind] = append(of[p.Kind], p)
	}
	var kept []pair
	for _, k := range order {
		part := of[k]
		if len(part) > perKind {
			s.dropped["too many of a kind in one source"] += len(part) - perKind
			slices.SortStableFunc(part, func(a, b pair) int { return cmp.Compare(sum(a.Query+a.Passage), sum(b.Query+b.Passage)) })
			part = part[:perKind]
		}
		s.kinds[k] += len(part)
		if src.held {
			s.held[k] += len(part)
		}
		kept = append(kept, part...)
	}
	return kept
}

// refuse says why a pair is not kept.
func (s *sieve) refuse(p pair) string {
	topics := 0
	words := index.Words(p.Query)
	for _, w := range words {
		if !index.Stopword(w) && strings.IndexFunc(w, unicode.IsLetter) >= 0 {
			topics++
		}
	}
	if topics < leastQuery || len(words) > mostQuery || len(strings.Fields(p.Passage)) < leastPassage {
		return "too short or too long"
	}
	if strings.EqualFold(p.Query, p.Passage) {
		return "nothing to find"
	}
	passage, query := sum(p.Passage), sum(strings.ToLower(p.Query))
	if s.seen[passage^query*3] || s.seen[passage] && p.Kind != "link" {
		return "seen before"
	}
	if s.asked[query] >= perQuery {
		return "asked too often"
	}
	if s.forbidden.meet(p.Query) || s.forbidden.meet(p.Passage) || s.forbidden.meet(p.Query+" "+p.Passage) {
		return "eight words in a row stand in the evaluation data"
	}
	s.seen[passage^query*3], s.seen[passage] = true, true
	s.asked[query]++
	return ""
}

func sum(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text)
	return h.Sum64()
}

// clean joins lines and cuts a text to at most so many bytes, between words.
func clean(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) <= most {
		return text
	}
	if i := strings.LastIndexByte(text[:most], ' '); i > 0 {
		return text[:i]
	}
	return strings.ToValidUTF8(text[:most], "")
}

// shingles are the hashes of runs of words.
type shingles map[uint64]bool

// shingle is how many words in a row make two texts neighbours.
const shingle = 8

// runs calls f with the hash of each run of words of a text until it returns false.
func runs(text string, f func(uint64) bool) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i := 0; i+shingle <= len(words); i++ {
		if !f(sum(strings.Join(words[i:i+shingle], " "))) {
			return
		}
	}
}

func (s shingles) add(text string) {
	runs(text, func(h uint64) bool { s[h] = true; return true })
}

// meet reports whether a text has a run of words that is in s.
func (s shingles) meet(text string) (met bool) {
	if len(s) > 0 {
		runs(text, func(h uint64) bool { met = s[h]; return !met })
	}
	return met
}

// folder takes in all files below a folder, packed or not. Of lines that are JSON,
// it takes the strings in them.
func (s shingles) folder(dir string) (files int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return err
			}
			if data, err = io.ReadAll(z); err != nil {
				return err
			}
		}
		files++
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var v any
			if json.Unmarshal(lines.Bytes(), &v) == nil {
				s.value(v)
			}
		}
		s.add(string(data))
		return lines.Err()
	})
	return files, err
}

func (s shingles) value(v any) {
	switch v := v.(type) {
	case string:
		s.add(v)
	case []any:
		for _, e := range v {
			s.value(e)
		}
	case map[string]any:
		title, _ := v["title"].(string)
		text, _ := v["text"].(string)
		s.add(title + " " + text)
		for _, e := range v {
			s.value(e)
		}
	}
}
