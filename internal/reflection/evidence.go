package reflection

import (
	"slices"
	"strings"

	"anamnesis/internal/claim"
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
	words := claim.Text(n.Statement())
	var all []note.Evidence
	var best *note.Note
	most := -1.0
	for _, s := range from {
		held := claim.Share(words, claim.Text(s.Statement()))
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
func evidenceOf(n *note.Note, words claim.Claim) []note.Evidence {
	if len(n.Evidence) > 0 || n.Provenance.Session == "" {
		return n.Evidence
	}
	return []note.Evidence{{Session: n.Provenance.Session, Chunk: contentHash(n), Quote: sentence(n, words)}}
}

// sentence returns the sentence of a note that holds most of some words, the
// first of several, cut to what a quote may have. It is "" when none holds any.
func sentence(n *note.Note, words claim.Claim) (best string) {
	most := 0
	for line := range strings.Lines(n.Title + "\n" + n.Body) {
		for s := range strings.SplitSeq(strings.TrimSpace(line), ". ") {
			if shared := claim.Shared(words, claim.Text(s)); shared > most {
				best, most = s, shared
			}
		}
	}
	if r := []rune(best); len(r) > note.MaxQuote {
		best = string(r[:note.MaxQuote-1]) + "…"
	}
	return best
}
