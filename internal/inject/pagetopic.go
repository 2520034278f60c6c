package inject

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/recall"
)

// Bounds of the topics of a page.
const (
	maxTopics     = 60
	maxTopicWords = 30 // of one topic
	topicLine     = 24 // characters of a topic without words
	leastTopic    = 2. // nats that the name of a topic tells
)

// A topicNote is a note on its way into a topic.
type topicNote struct {
	line  *draftLine
	words []int // of its title and tags, by their numbers, the most telling first
}

// A topicWord is a word of the notes that go into topics, whatever its ending.
type topicWord struct {
	stem, spelt string
	tells       float64
	notes       int // that have it and are in no topic yet
}

// noWord is the number of no word.
const noWord = -1

// topics groups notes by the words that they share, for a page that has no room for their lines.
// A word counts by how much it tells in texts at large, so "use" makes no topic. Every note is in
// one topic; room is the size of all of them.
func (in *Injector) topics(rest []draftLine, room int) []Topic {
	if len(rest) == 0 {
		return nil
	}
	notes, words := in.topicWords(rest)
	var all []Topic
	for len(notes) > 0 && len(all) < maxTopics && room >= topicLine {
		name := bestTopic(words)
		if name == noWord {
			break
		}
		var of []topicNote
		notes = slices.DeleteFunc(notes, func(n topicNote) bool {
			in := slices.Contains(n.words, name)
			if in {
				of = append(of, n)
				for _, w := range n.words {
					words[w].notes--
				}
			}
			return in
		})
		all = append(all, topicOf(name, of, words))
		room -= topicLine
	}
	if len(notes) > 0 {
		all = append(all, topicOf(noWord, notes, words))
		room -= topicLine
	}
	shareWords(all, room)
	return all
}

// topicWords are the words of notes, and each note with those that it has.
func (in *Injector) topicWords(rest []draftLine) (notes []topicNote, words []topicWord) {
	number, seen := make(map[string]int), make(map[string]int)
	notes = make([]topicNote, len(rest))
	for i := range rest {
		notes[i].line = &rest[i]
		for _, word := range titleWords(&rest[i].row) {
			w, known := seen[word]
			if !known {
				w = noWord
				if stem := stemOf(word); stem != "" {
					if w, known = number[stem]; !known {
						w = len(words)
						number[stem] = w
						words = append(words, topicWord{stem: stem, spelt: word})
					}
				}
				seen[word] = w
			}
			if w == noWord || slices.Contains(notes[i].words, w) {
				continue
			}
			notes[i].words = append(notes[i].words, w)
			if words[w].notes++; len(word) < len(words[w].spelt) {
				words[w].spelt = word
			}
		}
	}
	source := recall.PageSourceOf(in.engine)
	for i := range words {
		words[i].tells = source.Weight(words[i].stem, words[i].notes, len(rest))
	}
	for i := range notes {
		slices.SortStableFunc(notes[i].words, func(a, b int) int { return cmp.Compare(words[b].tells, words[a].tells) })
	}
	return notes, words
}

// stemOf is the form in which two spellings of a word are one, "" for a word that says nothing.
// A name of several words is one.
func stemOf(word string) string {
	stems := index.Tokens(word)
	switch {
	case len(stems) == 0 || len(stems) == 1 && index.Stopword(stems[0]):
		return ""
	case len(stems) == 1:
		return stems[0]
	}
	return strings.ToLower(word)
}

// titleWords are the words of a note's title and its tags, as they are spelt.
func titleWords(r *index.Row) []string {
	words := strings.FieldsFunc(r.Title, func(c rune) bool { return strings.ContainsRune(" \t,;()[]{}\"“”‘!?|=", c) })
	for _, t := range r.Tags {
		if !strings.Contains(t, ":") {
			words = append(words, t)
		}
	}
	for i, w := range words {
		w = strings.Trim(w, ".:`*'-–—<>")
		if at := strings.IndexAny(w, "'’"); at > 0 { // "don't", "Vue's"
			w = w[:at]
		}
		words[i] = w
	}
	return slices.DeleteFunc(words, func(w string) bool {
		return len(w) < 2 || len(w) > 40 || strings.Contains(w, "://") || strings.Trim(w, "0123456789.,%") == ""
	})
}

// bestTopic is the word that says most about most notes: it is in two at least.
func bestTopic(words []topicWord) int {
	best, gain := noWord, 0.
	for i := range words {
		w := &words[i]
		if w.notes < 2 || w.tells < leastTopic {
			continue
		}
		if g := w.tells * float64(w.notes); best == noWord || g > gain || g == gain && w.stem < words[best].stem {
			best, gain = i, g
		}
	}
	return best
}

// topicOf makes a topic of notes; its words are those that tell them apart, those of the first
// word of each note before all second ones.
func topicOf(name int, notes []topicNote, words []topicWord) (t Topic) {
	if name != noWord {
		t.Name = words[name].spelt
	}
	for _, n := range notes {
		t.Notes = append(t.Notes, n.line.row.ID)
	}
	seen := make(map[int]bool)
	for nth := range maxTopicWords {
		for _, n := range notes {
			of := n.words
			if at := slices.Index(of, name); at >= 0 && at <= nth {
				of = of[1:] // the name is none of the words; those behind it move up
			}
			if nth < len(of) && of[nth] != name && !seen[of[nth]] {
				seen[of[nth]] = true
				t.Words = append(t.Words, words[of[nth]].spelt)
			}
		}
	}
	return t
}

// shareWords cuts the words of topics to the room of all: each has room for the same share of its
// notes, and what one does not need the others have.
func shareWords(all []Topic, room int) {
	notes := 0
	order := make([]*Topic, len(all))
	for i := range all {
		notes += len(all[i].Notes)
		order[i] = &all[i]
	}
	wants := func(t *Topic) float64 { return float64(sizeOf(t.Words)) / float64(len(t.Notes)) }
	slices.SortStableFunc(order, func(a, b *Topic) int { return cmp.Compare(wants(a), wants(b)) })
	for _, t := range order {
		mine, n := room*len(t.Notes)/notes, 0
		notes -= len(t.Notes)
		for n < len(t.Words) && mine >= sizeOf(t.Words[n:n+1]) {
			mine -= sizeOf(t.Words[n : n+1])
			n++
		}
		t.Words = t.Words[:n]
		room -= sizeOf(t.Words)
	}
}

// sizeOf is what words take in the line of a topic, in characters.
func sizeOf(words []string) (n int) {
	for _, w := range words {
		n += len([]rune(w)) + 2
	}
	return n
}

// topicsSize is the size of the lines of topics, in characters.
func topicsSize(all []Topic) (n int) {
	for i := range all {
		n += len([]rune(all[i].String()))
	}
	return n
}

// String is the line of a topic.
func (t *Topic) String() string {
	var b strings.Builder
	switch {
	case t.Name == "":
		fmt.Fprintf(&b, "- other, %d more", len(t.Notes))
	default:
		fmt.Fprintf(&b, "- %s, %d more", oneLine(t.Name), len(t.Notes))
	}
	for i, w := range t.Words {
		b.WriteString([]string{": ", ", "}[min(i, 1)] + oneLine(w))
	}
	return b.String() + "\n"
}
