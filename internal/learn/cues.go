package learn

import (
	"unicode/utf8"

	"anamnesis/internal/text"
)

// cues order sentences where there is room for some of them only; they decide nothing about what is learnt. Each is a
// closed class of words or a form. In slices that are cut to a third or less, an order without them loses a quarter of the
// labelled lessons (docs/eval.md).
var cues = []struct {
	points int
	form   func() *text.Pattern
}{
	{2, text.Form(`(?i)\b(?:never|don'?t|do not|stop|avoid|must ?n[o']t|should ?n[o']t|no longer|no more|without)\b|`,
		`\b(?:nie|niemals|nicht mehr|keine?n?|jamais|plus de|nunca|ya no)\b|不要|别|禁止`)},
	{2, text.Form(`(?i)^(?:no|nope|nah|wrong|not|nein|non|falsch|hmm?)\b[\s,.!:—-]|\binstead\b|\brather than\b|\bnot what\b|`,
		`\bwhy (?:did|do|have|would)(?:n'?t)? you\b|\byou (?:forgot|missed|didn'?t|did not|should(?:n'?t)? have|keep|still)\b|`,
		`\b(?:and|,) not \w|\bis(?:n'?t| not) (?:right|correct|what)\b|`,
		`\bwas (?:wrong|meant)\b|\bactually\b|\bstattdessen\b|\bau lieu de\b|\ben vez de\b|不对|而不是`)},
	{2, text.Form(`(?i)\b(?:always|must|every|from now on|going forward|in (?:the )?future|make sure|ensure|remember|rules?|`,
		`conventions?|source of truth|only ever|at all times|in general|whenever|each time|by default)\b|`,
		`\b(?:immer|ab jetzt|künftig|muss|jede[rsmn]?|toujours|désormais|doit|siempre|debe)\b|始终|总是|以后|必须`)},
	{2, text.Form(`(?i)\b(?:we|they|it|tests?|commands?|there) (?:should|shouldn'?t|need|needs|use|do not|don'?t|never|always|only)\b|`,
		`\bno need to\b`)},
	{1, text.Form(`(?i)\b(?:should|needs? to|has to|have to|all|any|only|prefer|want|ought|soll(?:te)?|devrait|hay que)\b|应该`)},
	{2, text.Form(`(?i)^(?:ok(?:ay)?,? |so |and |then |thinking again: ?)*`,
		`(?:let'?s|we(?:'ll| will| should| use| don'?t)|go with|use|keep)\b|`,
		`\boption \w\b|\bdecided\b|\bi(?:'d| would) (?:like|prefer|rather|even)\b|\bcompletely\b|\binstead,|\bget rid of\b`)},
	{3, text.Form(`(?i)^again[:,]|\b(?:as i said|like i said|i (?:already )?(?:told|said|asked)|how many times)\b|`,
		`\b(?:wie gesagt|comme je l'ai dit|ya te dije)\b|再说一遍`)},
	{1, text.Form(`(?i)\b(?:again|once more|nochmal|encore une fois|otra vez)\b`)},
	{2, text.Form(`!!|\b(?:NO|NOT|NEVER|ALWAYS|MUST|ONLY|DO NOT|DON'T|STOP)\b`)},
}

// Bounds of a sentence with cues: its strength, and its characters. A longer one lays nothing down, or too much.
const (
	minScore    = 3
	maxSentence = 320
	minSentence = 12
)

// clientPrompt is a question of a client that it wrote into the user's turn.
var clientPrompt = text.Form(`\(Y\)es/\(N\)o|\[[Yy]/[Nn]\]`)

// Cued reports whether a sentence has cues that are strong enough to go before others.
func Cued(sentence string) bool { return weight(sentence) >= minScore }

// weight is the strength of the cues of a sentence; 0 for one that is too short or too long.
func weight(sentence string) (points int) {
	n := utf8.RuneCountInString(sentence)
	if n < minSentence || n > maxSentence || clientPrompt().MatchString(sentence) {
		return 0
	}
	for i := range cues {
		if cues[i].form().MatchString(sentence) {
			points += cues[i].points
		}
	}
	if points > 0 && text.IsQuestion(sentence) {
		points -= 2
	}
	return points
}
