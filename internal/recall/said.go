package recall

import (
	"slices"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/index"
	"anamnesis/internal/smalltalk"
)

// Bounds of what is taken from what a user said.
const (
	maxSaid     = 3
	maxSaidText = 200 // characters
)

// Said returns what the user of a session laid down that holds for a task, in the order
// of the talk, the newest three at most: sentences that say what is to be done always or
// never, and corrections. prompts are what the user typed. One that names files or symbols
// holds for a task that names one of them.
func Said(prompts []string, task string) (said []string) {
	lower := strings.ToLower(task)
	for _, prompt := range slices.Backward(prompts) {
		prompt = cutWords(strings.ToValidUTF8(prompt[:min(len(prompt), maxProse)], ""), maxProse)
		corrects := smalltalk.TurnOf(prompt) == smalltalk.Correction
		for _, s := range slices.Backward(sentences(prompt)) {
			s = strings.Join(strings.Fields(s), " ")
			if len(said) == maxSaid {
				break
			}
			if s == "" || utf8.RuneCountInString(s) > maxSaidText || !corrects && !laysDown(s) || strings.HasSuffix(s, "?") ||
				slices.Contains(said, s) {
				continue
			}
			names := index.Identifiers(s, maxNamesAsked)
			if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(lower, strings.ToLower(n)) }) {
				said = append(said, s)
			}
		}
	}
	slices.Reverse(said)
	return said
}
