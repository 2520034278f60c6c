package capture

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"

	"anamnesis/internal/lesson"
	"anamnesis/internal/smalltalk"
)

// The bounds of what is kept of the user's own words, in characters and pieces.
const (
	maxStatement  = 320
	maxStatements = 12
	maxPrompt     = 4000 // a longer prompt was pasted: only its beginning is the user's own
)

// A statement is a correction, a rule or a decision in the user's own words.
type statement struct {
	text string
	to   string // the question that it answers, "" for none
}

// statements returns what the user corrected, laid down or decided, in order.
func statements(all []exchange) (out []statement) {
	seen := make(map[string]bool)
	for i, e := range all {
		if e.prompt == "" || e.command || smalltalk.Of(e.prompt) != smalltalk.None {
			continue
		}
		question := ""
		if i > 0 {
			question = lastQuestion(all[i-1].final())
		}
		for _, text := range stated(e.prompt, question != "") {
			s := statement{text: text, to: question}
			if key := strings.Join(smalltalk.Words(text), " "); !seen[key] {
				seen[key] = true
				out = append(out, s)
			}
			question = "" // the first sentence answers
		}
	}
	if len(out) > maxStatements { // the latest hold
		out = out[len(out)-maxStatements:]
	}
	return out
}

// stated returns the sentences of a prompt that correct, rule or decide. A short
// reply to a question is a decision whatever its words are.
func stated(prompt string, asked bool) (out []string) {
	own := lesson.OwnWords(prompt)
	if asked && utf8.RuneCountInString(own) <= maxStatement && !lesson.Question(own) {
		if one := strings.Join(strings.Fields(own), " "); one != "" {
			return []string{one}
		}
	}
	sentences := lesson.Sentences(own)
	for i := 0; i < len(sentences); i++ {
		s := sentences[i]
		if utf8.RuneCountInString(s) > 2*maxStatement || lesson.Question(s) || !load().in(s) {
			continue
		}
		// A prompt that begins with a correction is one to its end: "No." says what
		// not, the next sentence says what. Elsewhere it lasts as long as the cues do.
		for first := i == 0; i+1 < len(sentences); i++ {
			next := sentences[i+1]
			if lesson.Question(next) || !first && !load().in(next) || utf8.RuneCountInString(s)+utf8.RuneCountInString(next) >= maxStatement {
				break
			}
			s += " " + next
		}
		if smalltalk.Of(s) == smalltalk.None {
			out = append(out, lesson.Cut(s, maxStatement))
		}
	}
	return out
}

// lastQuestion returns the question with which a reply ends, "" if with none.
func lastQuestion(reply string) string {
	sentences := lesson.Sentences(lesson.OwnWords(reply))
	if len(sentences) == 0 || !lesson.Question(sentences[len(sentences)-1]) {
		return ""
	}
	return lesson.Cut(sentences[len(sentences)-1], maxStatement/2)
}

// The cues are read when somebody asks for the first time.
type cues struct{ begins, anywhere map[string]bool }

//go:embed cues.txt
var cueSource string

var load = sync.OnceValue(func() *cues {
	phrases := func(lines []string) map[string]bool {
		set := make(map[string]bool, len(lines))
		for _, line := range lines {
			set[strings.Join(smalltalk.Words(line), " ")] = true
		}
		return set
	}
	lists := smalltalk.Sections(cueSource, "begins", "anywhere")
	return &cues{begins: phrases(lists[0]), anywhere: phrases(lists[1])}
})

// maxCue is how many words a cue has at most.
const maxCue = 8

// in reports whether a sentence has a cue.
func (c *cues) in(sentence string) bool {
	words := smalltalk.Words(sentence)
	for at := range words {
		for n := 1; n <= maxCue && at+n <= len(words); n++ {
			phrase := strings.Join(words[at:at+n], " ")
			if at == 0 && c.begins[phrase] || c.anywhere[phrase] {
				return true
			}
		}
	}
	return false
}
