package reflection

import (
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// enoughWords is the share of the words of a note that a source must hold to
// count as evidence of it.
const enoughWords = 0.5

// evidence is the union of the evidence of a note's sources. All of them were read,
// so all stand in derived_from; but only those that contain enough of its words
// count, or every aside in one of fifty sessions would count as proven by fifty.
// When none does, the one that contains most of them counts.
func evidence(n *note.Note, from []*note.Note) []note.Evidence {
	words := content(n.Statement())
	var all []note.Evidence
	var best *note.Note
	most := -1.0
	for _, s := range from {
		held := sharedWords(words, content(s.Statement()))
		if held > most {
			best, most = s, held
		}
		if held >= enoughWords {
			all = note.UnionEvidence(all, evidenceOf(s, words))
		}
	}
	if len(all) == 0 && best != nil {
		return slices.Clone(evidenceOf(best, words))
	}
	return all
}

// evidenceOf is a note's own evidence, or else the session that it is about, with
// the sentence of it that holds most of the words.
func evidenceOf(n *note.Note, words map[string]bool) []note.Evidence {
	if len(n.Evidence) > 0 || n.Provenance.Session == "" {
		return n.Evidence
	}
	return []note.Evidence{{Session: n.Provenance.Session, Chunk: contentHash(n), Quote: sentence(n, words)}}
}

// sentence returns the sentence of a note that holds most of some words, the
// first of several, cut to what a quote may have. It is "" when none holds any.
func sentence(n *note.Note, words map[string]bool) (best string) {
	most := 0
	for line := range strings.Lines(n.Title + "\n" + n.Body) {
		for s := range strings.SplitSeq(strings.TrimSpace(line), ". ") {
			shared := 0
			for w := range content(s) {
				if words[w] {
					shared++
				}
			}
			if shared > most {
				best, most = s, shared
			}
		}
	}
	if r := []rune(best); len(r) > note.MaxQuote {
		best = string(r[:note.MaxQuote-1]) + "…"
	}
	return best
}

// content is the set of words of a text that carry its topic.
func content(text string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range index.Words(text) {
		if !index.Stopword(w) {
			set[w] = true
		}
	}
	return set
}

// sharedWords is the share of words that other contains.
func sharedWords(words, other map[string]bool) float64 {
	n := 0
	for w := range words {
		if other[w] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(words)))
}
