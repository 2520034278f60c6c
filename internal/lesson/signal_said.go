package lesson

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/smalltalk"
)

// The scores from which on a user's words are a lesson: in answer to what the agent
// did, and where nothing was done yet.
const (
	minScore   = 2.5
	firstScore = 3.5
)

// maxSaid is how long the words of a lesson may be, in characters.
const maxSaid = 420

// said finds what the user corrected, laid down or decided.
func said(m *material) (all []Signal) {
	worked := false
	circles := circlesOf(m.turns)
	for i := range m.turns {
		t := &m.turns[i]
		if t.Role == agent.Assistant {
			worked = true
			continue
		}
		if !t.Human() {
			continue
		}
		floor := firstScore
		if worked {
			floor = minScore
		}
		sig, ok := weigh(m.clean(head(t.Text, 2*maxOwn)), worked)
		if !ok || sig.Score <= 0.5 {
			continue
		}
		more, after := m.ends(i, circles)
		if sig.Score+more >= floor {
			sig.Turn, sig.After = i, after
			all = append(all, sig)
		}
	}
	return all
}

// quoted are the words of others, and of the program.
var quoted = form("\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|„[^“”\n]{1,300}[“”]|`[^`\n]{1,300}`")

// weigh says how surely a prompt teaches something, and by which of its sentences. The
// weights were set on the half of the sessions that is in view; what they come to is
// in docs/learning.md.
func weigh(prompt string, worked bool) (Signal, bool) {
	own := OwnWords(prompt)
	if own == "" || smalltalk.Of(own) != smalltalk.None {
		return Signal{}, false
	}
	sig := Signal{Kind: Ruling}
	var whole cues
	nowAt := false
	best, total := 0.0, 0.0
	for i, s := range Sentences(own) {
		c := cuesOf(quoted().ReplaceAllString(s, " "))
		if i == 0 && c.first(praise) && !c.has(outright) && !c.has(decided) && len(c.words) <= 10 && best == 0 {
			if !c.has(contrast) && !c.has(practice) {
				continue
			}
		}
		if Question(s) {
			continue
		}
		if c.has(supposing) || c.has(joking) || c.would() && !c.has(outright) || c.reports(s) {
			continue
		}
		if (c.has(once) || c.has(task)) && !c.has(outright) && !c.has(decided) {
			return Signal{}, false
		}
		points := c.points(s)
		nowAt = nowAt || c.present()
		whole.any |= c.any
		if i == 0 || len(sig.Said) == 0 {
			whole.begins |= c.begins
		}
		if best = max(best, points); points > 0 || len(sig.Said) > 0 {
			sig.Said = append(sig.Said, s)
		}
		total += points
	}
	if len(sig.Said) == 0 || !worthy(sig.Said) {
		return Signal{}, false
	}
	sig.Score = max(best, min(total, best+1.5))
	if worked {
		sig.Score += 0.5
	}
	switch {
	case whole.has(decided):
		sig.Kind = Decision
	case whole.first(objects) || whole.has(contrast):
		sig.Kind = Correction
	}
	sig.Again = whole.has(again)
	sig.Now, sig.Except = whole.has(turned) || nowAt, whole.has(except)
	return sig, true
}

// reports says whether a sentence tells what somebody else said.
func (c *cues) reports(sentence string) bool {
	return c.has(quoting) && (quoted().MatchString(sentence) || !c.first(objects) && !c.has(practice) && !c.has(reason))
}

// would reports whether a sentence tells what would be: "we'd never need that".
func (c *cues) would() bool {
	for i, w := range c.words {
		if i > 0 && w == "d" && slices.Contains([]string{"we", "i", "you", "they", "nobody"}, c.words[i-1]) {
			return true
		}
		if w != "would" || i+1 == len(c.words) || c.has(objects) || c.has(contrast) {
			continue
		}
		if slices.Contains([]string{"never", "always", "need", "be", "not"}, c.words[i+1]) {
			return true
		}
	}
	return false
}

// present reports whether a sentence says how things are now: "the port is 9090 now".
func (c *cues) present() bool {
	at := slices.IndexFunc(c.words, func(w string) bool { return slices.Contains([]string{"now", "jetzt", "ahora", "maintenant"}, w) })
	says := slices.ContainsFunc(c.words, func(w string) bool { return slices.Contains(states(), w) })
	return at > 2 && (says || c.has(practice) || c.has(modal))
}

// points weighs one sentence.
func (c *cues) points(sentence string) float64 {
	p := 0.0
	add := func(on bool, points float64) {
		if on {
			p += points
		}
	}
	add(c.has(outright), 3)
	add(c.has(decided), 3)
	add(c.has(turned), 1.5)
	add(c.has(modal), 2)
	add(c.has(universal), 1)
	add(c.first(objects), 1.5)
	add(c.has(contrast), 2)
	add(!c.has(contrast) && insteadOf(sentence), 1.5)
	add(c.has(reason), 1.5)
	add(c.has(practice), 1.5)
	add(c.prohibits(), 1)
	add(c.orders(), 0.5)
	add(c.general(), 1)
	add(named(sentence), 0.5)
	add(c.has(except), 2)
	add(c.repeats(), 2)
	add(c.has(turned) && strings.ContainsAny(sentence, "0123456789"), 0.5) // a quantity changed
	if !c.grounded() && !named(sentence) && !insteadOf(sentence) {
		p = min(p, ungrounded)
	}
	return p
}

// ungrounded is what a sentence comes to at most that only says "always" or "never" of
// something: jokes do.
const ungrounded = 1.5

// grounded reports whether a sentence tells, decides, objects or gives a reason.
func (c *cues) grounded() bool {
	const telling = 1<<outright | 1<<contrast | 1<<reason | 1<<practice | 1<<decided | 1<<turned | 1<<except
	return c.any&telling != 0 || c.first(objects) || c.prohibits() || c.orders() || c.repeats() || c.has(universal) && c.general()
}

// insteadOf reports whether a sentence sets one thing against another: "X, not Y".
func insteadOf(sentence string) bool {
	low := strings.ToLower(sentence)
	for _, s := range []string{", not ", ", never ", "; not ", ", nicht ", ", pas ", " and not ", ", no "} {
		if strings.Contains(low, s) {
			return true
		}
	}
	return false
}

// prohibits reports whether a sentence begins by saying what not to do, or that there
// is to be none of something: "no unwrap outside of tests".
func (c *cues) prohibits() bool {
	w := c.words
	for len(w) > 1 && slices.Contains(fillers(), w[0]) {
		w = w[1:]
	}
	if len(w) < 3 {
		return false
	}
	return w[0] == "no" && w[1] != "no" || w[0] == "don" && w[1] == "t" || w[0] == "do" && w[1] == "not" || w[0] == "not"
}

// verbs begin an order.
var verbs = list(`use exit write put pass move keep set go add run make start call name count filter respect send take give
	enable disable normalise normalize exclude include apply open mark check ask return wrap compile test pin paginate store save
	nimm nutze verwende benutze utilise mets usa pon utiliza 用 请用 改用 使用`)

// orders reports whether a sentence tells to do something.
func (c *cues) orders() bool {
	return slices.ContainsFunc(c.words[:min(len(c.words), 12)], func(w string) bool { return slices.Contains(verbs(), w) })
}

// repeats reports whether a sentence says a rule once more: "again: no floats for prices". A
// word like "again" alone may be about a thing at hand, so it has to stand before the rule.
func (c *cues) repeats() bool {
	w := c.words
	if !c.has(again) || len(w) < 4 || !slices.Contains([]string{"again", "once", "nochmal", "wieder", "encore", "otra"}, w[0]) {
		return false
	}
	for _, skip := range []string{w[0], "more", "mal", "vez", "une", "fois"} {
		if len(w) > 1 && w[0] == skip {
			w = w[1:]
		}
	}
	switch w[0] {
	case "no", "never", "always", "don", "do", "not", "kein", "keine", "nie", "immer", "jamais", "toujours", "nunca", "siempre":
		return true
	}
	return false
}

// definite words begin a sentence about the thing at hand.
var definite = list(`the this that these those it there i you he she they my your der die das dieser diese dieses es ich du
	le la les ce cette il elle je tu el los las este esta yo`)

// states are verbs by which a sentence says how things are.
var states = list(`are is goes go get gets have has belong belongs start starts end ends use uses carries carry need needs
	come comes work works run runs stay stays say says rely relies sind ist haben hat werden wird sont est vont son es van llevan 是 用`)

// general reports whether a sentence says how things are in general: "metric names
// are snake_case", and not "the header jumps".
func (c *cues) general() bool {
	w := c.words
	for len(w) > 1 && slices.Contains(fillers(), w[0]) {
		w = w[1:]
	}
	if len(w) < 3 || slices.Contains(definite(), w[0]) {
		return false
	}
	return slices.ContainsFunc(w[1:min(len(w), 9)], func(s string) bool { return slices.Contains(states(), s) })
}

// named reports whether a sentence names something of a program or a quantity: a path,
// an identifier, a flag, a number with a unit.
func named(sentence string) bool {
	for _, w := range strings.Fields(sentence) {
		if identifier(strings.Trim(w, ".,;:!?()\"'")) {
			return true
		}
	}
	return false
}

// identifier reports whether a word is no word of prose: it has a digit, an inner
// capital, an underscore, a slash, a dot or a call inside.
func identifier(w string) bool {
	if utf8.RuneCountInString(w) < 2 || strings.Contains(w, "'") || strings.Contains(w, "’") {
		return false
	}
	inner, digit, upper := false, false, 0
	for i, r := range w {
		switch {
		case unicode.IsDigit(r):
			digit = true
		case unicode.IsUpper(r):
			if upper++; i > 0 {
				inner = true
			}
		case strings.ContainsRune("_/.@#$(){}<>=:-`", r):
			inner = inner || i < len(w)-1 && r != '-' || i == 0
		}
	}
	return inner || digit || strings.HasPrefix(w, "--")
}

// worthy reports whether what was said holds a rule at all: words of its own besides
// those that only correct.
func worthy(sentences []string) bool {
	n := 0
	for _, s := range sentences {
		n += len(smalltalk.Words(s))
	}
	return n >= 4
}
