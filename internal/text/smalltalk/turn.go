package smalltalk

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed turns.txt
var turnSource string

// A Turn is what somebody does with a text in a talk with an agent.
type Turn int

// The turns.
const (
	Request    Turn = iota // asks for something, or may
	Correction             // says that what was done is not what was meant
	Reply                  // agrees, and says a word more
	Followup               // asks about what was said
	Operation              // asks for work that needs no knowledge of a project: to rename, to sort, to explain
)

// Longest turns, in words. Who says more asks for something new.
const (
	maxRefusal    = 32 // that begins with one
	maxCorrection = 16
	maxReply      = 5 // behind the phrase that agrees
	maxAgreed     = 12
	maxFollowup   = 14
)

// TurnOf says what a text does in a talk, by how it begins and how long it is. What
// holds several paragraphs, code or a path is a request, whatever it begins with.
func TurnOf(text string) Turn {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 16*maxTokens || strings.Contains(text, "\n") {
		return Request
	}
	words := Words(text)
	if len(words) == 0 {
		return Request
	}
	t := loadTurns()
	begin := t.afterCourtesy(words)
	switch {
	case len(words) <= maxRefusal && t.refuses(text, words), len(words) <= maxCorrection && t.corrects(text, words):
		return Correction
	case len(words)-begin <= maxFollowup && t.follows(text, words[begin:]):
		return Followup
	}
	if n, _ := t[operates].longest(words[begin:]); n > 0 {
		return Operation
	}
	if len(words) > maxAgreed || strange(words[0]) { // to see that costs less than to make the table
		return Request
	}
	if agreed := agrees(words); agreed > 0 && len(words)-agreed <= maxReply && !strings.ContainsAny(text, "?`/_") {
		return Reply
	}
	return Request
}

// The parts of turns.txt.
const (
	refuses = iota
	goeson
	corrects
	follows
	points
	operates
	numTurns
)

type turnTables [numTurns]*table

var loadTurns = sync.OnceValue(func() *turnTables {
	var t turnTables
	for i, lines := range Sections(turnSource, "refuses", "goeson", "corrects", "follows", "points", "operates") {
		t[i] = &table{phrases: make(map[string]Kind)}
		for _, line := range lines {
			t[i].add(line, Closing)
		}
	}
	return &t
})

// courtesies may stand before what is asked.
var courtesies = []string{"please", "pls", "can", "could", "would", "you", "now", "ok", "okay", "then", "just", "bitte", "por", "favor"}

// afterCourtesy returns the place of the first word that is none.
func (t *turnTables) afterCourtesy(words []string) int {
	at := 0
	for at < len(words) && slices.Contains(courtesies, words[at]) {
		at++
	}
	return at
}

// refuses reports whether a text begins with a refusal.
func (t *turnTables) refuses(text string, words []string) bool {
	n, _ := t[refuses].longest(words)
	if n == 0 {
		return false
	}
	m, _ := t[goeson].longest(words[n:])
	return m > 0 || n == len(words) || endsWithMark(text, words[n-1])
}

// corrects reports whether a text holds a phrase that corrects, or sets one thing against
// another: "fade, not slide".
func (t *turnTables) corrects(text string, words []string) bool {
	for at := range words {
		if n, _ := t[corrects].longest(words[at:]); n > 0 {
			return true
		}
	}
	if strings.Contains(text, "?") || len(words) > maxContrast {
		return false
	}
	if words[0] == "not" || words[0] == "only" || words[0] == "without" {
		return true
	}
	before, after, ok := strings.Cut(text, ", not ")
	return ok && before != "" && !strings.Contains(after, ",")
}

// maxContrast is the length of the longest "this, not that", in words.
const maxContrast = 9

// endsWithMark reports whether a mark stands behind the first occurrence of a word.
func endsWithMark(text, word string) bool {
	at := strings.Index(strings.ToLower(text), word)
	if at < 0 || at+len(word) >= len(text) {
		return at >= 0
	}
	r, _ := utf8.DecodeRuneInString(text[at+len(word):])
	return strings.ContainsRune(",.!;:-–—…、，。", r)
}

// follows reports whether a text is a question about what was said before.
func (t *turnTables) follows(text string, words []string) bool {
	if !strings.ContainsAny(text, "?？") {
		return false
	}
	n, _ := t[follows].longest(words)
	if n == 0 {
		return false
	}
	if n > 1 || len(words[0]) <= 4 && slices.Contains(conjunctions, words[0]) {
		return true
	}
	return slices.ContainsFunc(words, func(w string) bool { return t[points].phrases[w] != None })
}

// conjunctions make a question one about what was said.
var conjunctions = []string{"and", "so", "or", "but", "even", "und", "et", "y", "e", "i", "а", "и"}

// agrees returns how many words at the beginning agree or thank.
func agrees(words []string) int {
	phrases, at := load(), 0
	for at < len(words) {
		n, kind := phrases.longest(words[at:])
		if n == 0 || kind == Stop {
			break
		}
		at += n
	}
	return at
}
