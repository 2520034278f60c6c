package learn

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/claim"
	"anamnesis/internal/session"
	"anamnesis/internal/text"
)

// A Cue says why a sentence was nominated.
type Cue string

// The cues.
const (
	Corrects  Cue = "correction"  // the agent did something else than was meant
	Prohibits Cue = "prohibition" // something is not to be done
	Rules     Cue = "rule"        // something holds always, or for all of a kind
	Decides   Cue = "decision"    // one of several ways is chosen
	Repeats   Cue = "repetition"  // it was said before
	Insists   Cue = "insistence"  // capitals, exclamation marks
	Fixed     Cue = "fix"         // a command failed and passed in another form or after another
)

// A Candidate is a place in a session that may teach something. Somebody who can read decides
// whether it does.
type Candidate struct {
	Quote Quote
	Cues  []Cue
	Fix   *session.Fix // of the cue Fixed; its quote holds commands and no words of a person
	score int
}

// maxCandidates is how many a session gives: those with the strongest cues, the latest first
// among equals.
const maxCandidates = 5

// minScore is the strength from which on a sentence is nominated.
const minScore = 3

// cues nominate; they decide nothing. Each is a closed class of words or a form, in the
// languages in which people here talk to agents.
var cues = []struct {
	cue    Cue
	points int
	form   func() *text.Pattern
}{
	{Prohibits, 2, text.Form(`(?i)\b(?:never|don'?t|do not|stop|avoid|must ?n[o']t|should ?n[o']t|no longer|no more|without)\b|`,
		`\b(?:nie|niemals|nicht mehr|keine?n?|jamais|plus de|nunca|ya no)\b|不要|别|禁止`)},
	{Corrects, 2, text.Form(`(?i)^(?:no|nope|nah|wrong|not|nein|non|falsch|hmm?)\b[\s,.!:—-]|\binstead\b|\brather than\b|\bnot what\b|`,
		`\bwhy (?:did|do|have|would)(?:n'?t)? you\b|\byou (?:forgot|missed|didn'?t|did not|should(?:n'?t)? have|keep|still)\b|`,
		`\b(?:and|,) not \w|\bis(?:n'?t| not) (?:right|correct|what)\b|`,
		`\bwas (?:wrong|meant)\b|\bactually\b|\bstattdessen\b|\bau lieu de\b|\ben vez de\b|不对|而不是`)},
	{Rules, 2, text.Form(`(?i)\b(?:always|must|every|from now on|going forward|in (?:the )?future|make sure|ensure|remember|rules?|`,
		`conventions?|source of truth|only ever|at all times|in general|whenever|each time|by default)\b|`,
		`\b(?:immer|ab jetzt|künftig|muss|jede[rsmn]?|toujours|désormais|doit|siempre|debe)\b|始终|总是|以后|必须`)},
	{Rules, 2, text.Form(`(?i)\b(?:we|they|it|tests?|commands?|there) (?:should|shouldn'?t|need|needs|use|do not|don'?t|never|always|only)\b|`,
		`\bno need to\b`)},
	{Rules, 1, text.Form(`(?i)\b(?:should|needs? to|has to|have to|all|any|only|prefer|want|ought|soll(?:te)?|devrait|hay que)\b|应该`)},
	{Decides, 2, text.Form(`(?i)^(?:ok(?:ay)?,? |so |and |then |thinking again: ?)*`,
		`(?:let'?s|we(?:'ll| will| should| use| don'?t)|go with|use|keep)\b|`,
		`\boption \w\b|\bdecided\b|\bi(?:'d| would) (?:like|prefer|rather|even)\b|\bcompletely\b|\binstead,|\bget rid of\b`)},
	{Repeats, 3, text.Form(`(?i)^again[:,]|\b(?:as i said|like i said|i (?:already )?(?:told|said|asked)|how many times)\b|`,
		`\b(?:wie gesagt|comme je l'ai dit|ya te dije)\b|再说一遍`)},
	{Repeats, 1, text.Form(`(?i)\b(?:again|once more|nochmal|encore une fois|otra vez)\b`)},
	{Insists, 2, text.Form(`!!|\b(?:NO|NOT|NEVER|ALWAYS|MUST|ONLY|DO NOT|DON'T|STOP)\b`)},
}

// Candidates returns what a session may teach, in its order.
func Candidates(s *agent.Session, clean Clean) []Candidate {
	said := SaidIn(s, clean)
	var all []Candidate
	seen := make(map[string]bool)
	circles := circlesOf(s.Turns)
	for i := range said {
		if c, ok := pick(&said[i], i == 0, seen, ends(s.Turns, said[i].Turn, circles)); ok {
			all = append(all, c)
		}
	}
	all = append(all, fixCandidates(s, clean)...)
	slices.SortStableFunc(all, func(a, b Candidate) int {
		return cmp.Or(b.score-a.score, b.Quote.Said.Turn-a.Quote.Said.Turn)
	})
	all = all[:min(maxCandidates, len(all))]
	slices.SortStableFunc(all, func(a, b Candidate) int { return a.Quote.Said.Turn - b.Quote.Said.Turn })
	return all
}

// Nominate returns the candidate of one prompt, as its user typed it, if there is one.
func Nominate(typed string, first bool) (Candidate, bool) {
	return nominate(&Said{Text: typed}, first)
}

// Sentences longer than this lay nothing down, or too much; sentences are in characters.
const (
	maxSentence = 320
	minSentence = 12
)

// nominate picks the sentence of what was typed in one turn that has the strongest cues. The
// first turn of a session is a task: its sentences say what is to be done now, so they need
// stronger ones.
func nominate(said *Said, first bool) (best Candidate, ok bool) {
	return pick(said, first, make(map[string]bool), 0)
}

// clientPrompt is a question of a client that stands in the user's record.
var clientPrompt = text.Form(`\(Y\)es/\(N\)o|\[[Yy]/[Nn]\]`)

// ends says how much stronger the words of a turn are for what they end: the agent went in circles,
// or was refused a tool.
func ends(turns []agent.Turn, at int, circles []Circle) (more int) {
	from := before(turns, at)
	for i := range circles {
		if c := &circles[i]; c.Turn > from && c.Turn < at {
			more = 2
		}
	}
	refused := slices.ContainsFunc(turns[at].Tools, func(u agent.ToolUse) bool { return u.Denied })
	if refused || refusedBefore(turns, at) != nil {
		more = 2
	}
	return more
}

// pick is nominate, without the sentences that were seen; more is the strength that all have.
func pick(said *Said, first bool, seen map[string]bool, more int) (best Candidate, ok bool) {
	for _, s := range text.Sentences(said.Text) {
		n := utf8.RuneCountInString(s)
		if n < minSentence || n > maxSentence {
			continue
		}
		if seen[folded(s)] || clientPrompt().MatchString(s) {
			continue
		}
		seen[folded(s)] = true
		c := Candidate{score: more}
		for i := range cues {
			if cues[i].form().MatchString(s) {
				c.score += cues[i].points
				if !slices.Contains(c.Cues, cues[i].cue) {
					c.Cues = append(c.Cues, cues[i].cue)
				}
			}
		}
		if text.IsQuestion(s) {
			c.score -= 2
		}
		if first {
			c.score--
		}
		if c.score >= minScore && len(c.Cues) > 0 && c.score > best.score {
			c.Quote = quoteOf(*said, s)
			best, ok = c, true
		}
	}
	return best, ok
}

// fixCandidates nominates the remedies of a session. A step that forces, skips a check or
// deletes is none (claim.Risky): no reader is asked about it.
func fixCandidates(s *agent.Session, clean Clean) (all []Candidate) {
	if clean == nil {
		clean = func(text string) string { return text }
	}
	fixes := session.Fixes(s.Turns)
	for i := range fixes {
		f := &fixes[i]
		steps := strings.Join(append(slices.Clone(f.Did), f.Passed), "\n")
		if !f.Remedy() || session.Symptom(f.Output) == "" || claim.Risky(steps) != "" || takenBack(s.Turns, f.Turn) {
			continue
		}
		f.Failed, f.Passed, f.Output = clean(f.Failed), clean(f.Passed), clean(text.Head(f.Output, 40_000))
		for j := range f.Did {
			f.Did[j] = clean(f.Did[j])
		}
		t := &s.Turns[f.Turn]
		said := Said{Turn: f.Turn, At: t.At, Text: f.String(), Hash: hash(t.At, f.Failed+"\x00"+f.Passed)}
		all = append(all, Candidate{Quote: quoteOf(said, f.String()), Cues: []Cue{Fixed}, Fix: f, score: minScore})
	}
	return all
}

// takenBack reports whether the user interrupted the agent right after a pass.
func takenBack(turns []agent.Turn, at int) bool {
	return at+1 < len(turns) && turns[at+1].Interrupted
}
