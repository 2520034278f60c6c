// Package claim compares what two notes state.
//
// It compares words, not meanings: it recognises one statement in two wordings that differ
// in function words, order and endings, and a statement that asserts what another one
// denies. Everything else is Unrelated. Names, numbers, versions and any other word of
// content on both sides make two statements: "deploy staging" and "deploy production" are
// not one rule, however many words they share. Whether two unrelated statements mean the
// same is decided by somebody who can read: the agent, a model, the user.
package claim

import (
	"slices"
	"strings"

	"anamnesis/internal/note"
)

// A Relation is what one statement is to another.
type Relation int

// The relations of a to b, as Compare returns them.
const (
	Unrelated Relation = iota
	Same               // both state the same
	Narrower           // a states what b states, and more: a condition, a place, a value
	Wider              // b is Narrower than a
	Opposite           // a asserts what b denies, or gives another number for the same thing
)

// String returns the relation in small letters.
func (r Relation) String() string {
	return [...]string{"unrelated", "same", "narrower", "wider", "opposite"}[r]
}

// A Claim is a statement in the form in which two are compared. It is read-only and safe for
// concurrent use.
type Claim struct {
	words   map[string]polarity // words of content and names, folded
	names   map[string]bool     // those of words that name something: code, files, products
	numbers map[string]bool
	units   map[string]string // of a quantity: the word that is counted, "50 lines"; a number behind a word names: "task 12"
	parts   []map[string]bool // words and numbers between the words that relate two things: "before", "from", "than"
	signs   []string          // names and numbers, in order
	exact   note.Fingerprint
}

type polarity int8

const (
	asserted polarity = iota
	denied
)

// Of returns the claim of a note: its rule where a reader wrote one, the title of what a
// session taught, else the title and the beginning of the body.
func Of(n *note.Note) Claim {
	c := Text(sentence(n))
	c.exact = n.Fingerprint()
	return c
}

// Notes compares two notes: what they state as a whole, and their rules or titles alone. Titles
// may contradict; they are not enough for two notes with bodies of their own to be the same.
func Notes(a, b *note.Note) Relation {
	whole := Compare(Of(a), Of(b))
	if whole == Same || whole == Opposite {
		return whole
	}
	if Compare(Text(note.RuleOf(a)), Text(note.RuleOf(b))) == Opposite {
		return Opposite
	}
	return whole
}

// SaysSame reports whether two notes say the same, or one of them hardly more than the other.
func SaysSame(a, b *note.Note) bool {
	x, y := Of(a), Of(b)
	r := Compare(x, y)
	return r == Same || (r == Narrower || r == Wider) && nearClaims(x, y)
}

// Adds reports whether a is narrower than b by more than one word of prose: a condition, a name or a number.
func Adds(a, b Claim) bool {
	if Compare(a, b) != Narrower {
		return false
	}
	only := a.without(b)
	return len(only) > 1 || lacks(b.numbers, a.numbers) || slices.ContainsFunc(only, func(w string) bool { return a.names[w] })
}

// similarity is the share of equal words from which on one statement repeats another.
const similarity = 0.9

// Repeats reports whether two statements are one with a few other words: enough words are equal
// (Jaccard over the sets), and no mark differs or stands in another order: "from 3 to 5" is not
// "from 5 to 3", and "x > 3" is not "x < 3". It compares letters where Compare compares content.
func Repeats(a, b *note.Fingerprint) bool {
	if !a.Near(b) {
		return false
	}
	inA, inB, both := make(map[string]bool), make(map[string]bool), 0
	for _, w := range a.Words {
		inA[w] = true
	}
	for _, w := range b.Words {
		if inA[w] && !inB[w] {
			both++
		}
		inB[w] = true
	}
	return float64(both)/float64(max(1, len(inA)+len(inB)-both)) >= similarity
}

// maxBody is how many characters of a body are part of a claim: the rest explains.
const maxBody = 400

// sentence returns the text of a note that states something.
func sentence(n *note.Note) string {
	switch {
	case n.Rule != "" && !n.Quoted():
		return n.Rule
	case n.Learnt(), n.Kind == note.Observation:
		return n.Title
	}
	return n.Title + ". " + note.CutRunes(n.Body, maxBody)
}

// Text returns the claim of a text.
func Text(text string) Claim {
	c := Claim{words: make(map[string]polarity), names: make(map[string]bool), numbers: make(map[string]bool), units: make(map[string]string)}
	c.parts = []map[string]bool{make(map[string]bool)}
	c.read(text)
	c.exact = note.FingerprintOf(text)
	return c
}

// Compare returns what a is to b.
func Compare(a, b Claim) Relation {
	if a.exact.Same(&b.exact) {
		return Same
	}
	onlyA, onlyB, flipped := a.without(b), b.without(a), a.flipped(b)
	switch {
	case len(a.words) == 0 || len(b.words) == 0:
		return Unrelated
	case flipped > 0:
		if opposes(a, b, onlyA) && opposes(b, a, onlyB) && (len(onlyA) == 0 || len(onlyB) == 0) {
			return Opposite
		}
		return Unrelated
	case len(onlyA) > 0 && len(onlyB) > 0:
		return Unrelated
	}
	moreA, moreB := lacks(b.numbers, a.numbers), lacks(a.numbers, b.numbers)
	switch {
	case moreA && moreB:
		if len(onlyA) == 0 && len(onlyB) == 0 && len(a.units) == 1 && unit(a) == unit(b) && len(a.numbers)+len(b.numbers) == 2 {
			return Opposite // the same thing with another quantity
		}
		return Unrelated
	case len(onlyA) == 0 && len(onlyB) == 0 && !moreA && !moreB && within(a, b) && within(b, a):
		return Same
	case len(onlyB) == 0 && !moreB && within(b, a):
		return Narrower
	case len(onlyA) == 0 && !moreA && within(a, b):
		return Wider
	}
	return Unrelated
}

// unit is what the one quantity of a claim counts.
func unit(c Claim) (of string) {
	for _, u := range c.units {
		of = u
	}
	return of
}

// within reports whether the words of a stand in b on the same side of what relates them, and the
// names and numbers in the same order: "tests before linter" is not "linter before tests", and
// "from 3 to 5" is not "from 5 to 3".
func within(a, b Claim) bool {
	for i, part := range a.parts {
		if i >= len(b.parts) && len(part) > 0 || i < len(b.parts) && lacks(b.parts[i], part) {
			return false
		}
	}
	at := 0
	for _, w := range b.signs {
		if at < len(a.signs) && a.signs[at] == w {
			at++
		}
	}
	return at == len(a.signs)
}

// Denies reports whether c has all words of a text and denies each of them: "never run make ship" denies "make ship".
func (c Claim) Denies(text string) bool {
	words := Text(text).words
	for w := range words {
		if p, ok := c.words[w]; !ok || p == asserted {
			return false
		}
	}
	return len(words) > 0
}

// Exclude reports whether of two notes on one subject only one can hold: neither repeats the other nor is a wider or a narrower form
// of it, and they are no two prohibitions, which hold together: "never log emails" and "never log phone numbers".
func Exclude(a, b *note.Note) bool {
	switch Notes(a, b) {
	case Opposite:
		return true
	case Unrelated:
		return !Text(note.RuleOf(a)).denies() || !Text(note.RuleOf(b)).denies()
	}
	return false
}

func (c Claim) denies() bool {
	for _, p := range c.words {
		if p == asserted {
			return false
		}
	}
	return len(c.words) > 0
}

// Differ reports whether two claims cannot state the same, whatever their words mean: each
// has a name or a number that the other has not, or one asserts what the other denies.
func Differ(a, b Claim) bool {
	for _, of := range [][2]map[string]bool{{a.names, b.names}, {a.numbers, b.numbers}} {
		if lacks(of[0], of[1]) || lacks(of[1], of[0]) {
			return true
		}
	}
	return a.flipped(b) > 0 || !slices.Equal(a.numbersInOrder(), b.numbersInOrder())
}

func (c Claim) numbersInOrder() (all []string) {
	for _, w := range c.signs {
		if c.numbers[w] {
			all = append(all, w)
		}
	}
	return all
}

// Near reports whether two claims are about one matter, as far as words tell: half of the words
// of the shorter one, at least.
func Near(a, b Claim) bool {
	n := Shared(a, b)
	return n > 0 && 2*n >= min(len(a.words), len(b.words))
}

// nearClaims reports whether one of two claims says at most one word more than the other, a word of
// prose, and they have at least three in common.
func nearClaims(a, b Claim) bool {
	only := append(a.without(b), b.without(a)...)
	return !Differ(a, b) && len(only) <= 1 && Shared(a, b) >= 3
}

// Shared returns the number of words of content that two claims have in common.
func Shared(a, b Claim) (n int) {
	for w := range a.words {
		if _, ok := b.words[w]; ok {
			n++
		}
	}
	return n
}

// Share returns the share of the words of a that b has.
func Share(a, b Claim) float64 { return float64(Shared(a, b)) / float64(max(1, len(a.words))) }

// Missing returns the names, numbers and denied words of from that into does not have, and
// the words that into denies while from asserts them. A text that is to stand for another one
// must have none.
func Missing(into, from Claim) (all []string) {
	for w, p := range from.words {
		q, ok := into.words[w]
		switch {
		case !ok && (p == denied || from.names[w]):
			all = append(all, w)
		case ok && p != q:
			all = append(all, "not "+w)
		}
	}
	for n := range from.numbers {
		if !into.numbers[n] {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// Invented returns the names and numbers of a text that do not occur in a source: a reader
// who wrote the text from the source made them up.
func Invented(text, source string) (all []string) {
	c, low := Text(text), strings.ToLower(source)
	for _, of := range []map[string]bool{c.names, c.numbers} {
		for w := range of {
			if !strings.Contains(low, w) {
				all = append(all, w)
			}
		}
	}
	slices.Sort(all)
	return all
}

// without returns the words of c that other has not.
func (c Claim) without(other Claim) (only []string) {
	for w := range c.words {
		if _, ok := other.words[w]; !ok {
			only = append(only, w)
		}
	}
	return only
}

// flipped counts the words that c asserts and other denies, or the reverse.
func (c Claim) flipped(other Claim) (n int) {
	for w, p := range c.words {
		if q, ok := other.words[w]; ok && p != q {
			n++
		}
	}
	return n
}

// opposes reports whether the words that only c has are the other side of those that are
// flipped: "use pnpm" beside "never npm". A word on the same side is a condition, which makes
// an exception and no contradiction: "push to main from CI".
func opposes(c, other Claim, only []string) bool {
	for _, w := range only {
		for shared, p := range c.words {
			if q, ok := other.words[shared]; ok && p != q && p == c.words[w] {
				return false
			}
		}
	}
	return true
}

// lacks reports whether b has an element that a has not.
func lacks(a, b map[string]bool) bool {
	for w := range b {
		if !a[w] {
			return true
		}
	}
	return false
}

// plain replaces signs that word processors make, and an idiom whose verb is none.
var plain = strings.NewReplacer("’", "'", "—", " , ", "–", " , ", "make sure", "", "Make sure", "")

// read fills the claim from a text, clause by clause: a denial reaches to the end of its
// clause at most.
func (c *Claim) read(text string) {
	class := loadWords()
	code, state, reach, flag, counting := false, asserted, 0, false, ""
	for _, field := range strings.Fields(plain.Replace(text)) {
		ticks := strings.Count(field, "`")
		inCode := code || ticks > 0 || flag // what follows a flag is its value
		code = code != (ticks%2 == 1)
		word := strings.Trim(field, "`.,;:!?()[]{}\"'“”„‘«»*_…。，；：！？（）")
		flag = strings.HasPrefix(word, "-")
		if word != "" {
			for _, w := range split(word) {
				switch low := strings.ToLower(w); {
				case !inCode && class.negators[low]:
					state, reach = denied, deniedReach
				case !inCode && class.turns[low]:
					state = asserted
				case number(w):
					c.numbers[low] = true
					c.signs = append(c.signs, low)
					c.parts[len(c.parts)-1][low] = true
					counting = low
				case !inCode && class.relations[low]:
					c.parts = append(c.parts, make(map[string]bool))
				case !inCode && class.functionWords[low]:
				default:
					sign := isName(w)
					if !sign {
						low = stem(low)
					}
					if counting != "" {
						c.units[counting], counting = low, ""
					}
					if had, ok := c.words[low]; !ok || had == denied {
						c.words[low] = state
					}
					c.parts[len(c.parts)-1][low] = true
					if sign || inCode {
						c.names[low] = true
					}
					if sign {
						c.signs = append(c.signs, low)
					}
					if reach--; reach <= 0 {
						state = asserted
					}
				}
			}
		}
		if !code && strings.ContainsAny(field[len(field)-1:], ".,;:!?)") || strings.ContainsAny(field, "。，；！？") {
			state, counting = asserted, ""
		}
	}
}
