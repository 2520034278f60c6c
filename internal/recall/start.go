package recall

import (
	"slices"
	"strings"
	"unicode"

	"anamnesis/internal/note"
	"anamnesis/internal/text/smalltalk"
)

// Bounds of the plan of a session's start.
const (
	maxStartItems = 2 // open items that are asked about
	maxStartItem  = 300
)

// branchWords are words of branches that say what kind of work it is and not what about.
var branchWords = []string{
	"feature", "feat", "fix", "bugfix", "hotfix", "chore", "release", "refactor", "docs", "test", "wip", "dev", "user", "users", "task",
	"issue", "ticket", "story", "topic", "branch", "pr", "mr",
}

// PlanStart makes the plan of a session that starts: it has said nothing, so the words of
// its branch and the open items of the last sessions are asked about. branch is "" on the
// trunk; items are lines.
func PlanStart(branch string, items []string) Plan {
	p := Plan{turn: smalltalk.Request}
	if words := BranchWords(branch); len(words) > 1 {
		p.add(strings.Join(words, " "))
	}
	for _, item := range items[:min(len(items), maxStartItems)] {
		if item = note.CutRunes(strings.Join(strings.Fields(item), " "), maxStartItem); smalltalk.Subject(item) {
			p.add(item)
		}
	}
	if len(p.Parts) == 0 {
		p.Silent = "neither the branch nor an open item says what the session is about"
	}
	return p
}

// BranchWords are the words of a branch that say what it is about.
func BranchWords(branch string) []string {
	words := strings.FieldsFunc(branch, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' })
	return slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains(branchWords, strings.ToLower(w)) || strings.Trim(w, "0123456789.") == ""
	})
}

// add makes a text one of the questions.
func (p *Plan) add(text string) {
	p.Parts = append(p.Parts, Part{Prose, text})
	p.words = max(p.words, len(strings.Fields(text)))
}
