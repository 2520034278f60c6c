package main

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// A synset is a meaning of WordNet (Fellbaum 1998): the words that have it and
// the keys of meanings it is related to.
type synset struct {
	key     string // part of speech and offset
	words   []string
	gloss   string
	related []relation
}

type relation struct {
	kind   string // the symbol of the database: @ hypernym, + derivation, & similar …
	key    string
	lemmas [2]int // between which words, 0 for all
}

// synsets reads a data file of WordNet (wndb(5WN)).
func synsets(text string) []synset {
	var all []synset
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, " ") {
			continue // the licence
		}
		data, gloss, _ := strings.Cut(strings.TrimSpace(line), " | ")
		f := strings.Fields(data)
		if len(f) < 6 {
			continue
		}
		s := synset{key: part(f[2]) + f[0], gloss: gloss}
		n, err := strconv.ParseUint(f[3], 16, 16)
		if err != nil || len(f) < 4+2*int(n)+1 {
			continue
		}
		for i := range int(n) {
			word, _, _ := strings.Cut(f[4+2*i], "(")
			s.words = append(s.words, strings.ReplaceAll(word, "_", " "))
		}
		f = f[4+2*int(n):]
		for f = f[1:]; len(f) >= 4 && len(f[3]) == 4; f = f[4:] {
			r := relation{kind: f[0], key: part(f[2]) + f[1]}
			if ends, err := hex.DecodeString(f[3]); err == nil {
				r.lemmas = [2]int{int(ends[0]), int(ends[1])}
			}
			s.related = append(s.related, r)
		}
		all = append(all, s)
	}
	return all
}

// part is the part of speech; satellites of adjectives stand in their file.
func part(s string) string {
	if s == "s" {
		return "a"
	}
	return s
}

// glosses makes a paragraph of each meaning: its words, what they mean, how they are used.
func glosses(text string) []string {
	var all []string
	for _, s := range synsets(text) {
		all = append(all, strings.Join(s.words, " ")+" "+s.gloss)
	}
	return all
}

// senses adds an index file of WordNet to ranks: which meaning of a word, in
// the order of how common they are, a key is.
func senses(text string, ranks map[string]int) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if strings.HasPrefix(line, " ") || len(f) < 7 {
			continue
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || n > len(f) {
			continue
		}
		for i, offset := range f[len(f)-n:] {
			ranks[strings.ReplaceAll(f[0], "_", " ")+part(f[1])+offset] = i + 1
		}
	}
}
