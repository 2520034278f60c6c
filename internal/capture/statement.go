package capture

import (
	"strings"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
	"anamnesis/internal/text"
	"anamnesis/internal/text/smalltalk"
)

// The bounds of what is kept of the user's own words, in characters and pieces.
const (
	maxStatement = 320
	maxReply     = 4000 // of a reply, of which the last question is looked for
)

// A statement is a correction, a rule or a decision in the user's own words.
type statement struct {
	text string
	to   string // the question that it answers, "" for none
	at   int    // the exchange
}

// statements returns what the user corrected, laid down or decided, in order.
func statements(all []session.Exchange) (out []statement) {
	seen := make(map[string]bool)
	for i := range all {
		if !all[i].Real() || all[i].Program {
			continue
		}
		question := ""
		if i > 0 {
			question = lastQuestion(final(&all[i-1]))
		}
		for _, words := range stated(all[i].Ask, question != "") {
			s := statement{text: words, to: question, at: i}
			if key := strings.Join(smalltalk.Words(words), " "); !seen[key] {
				seen[key] = true
				out = append(out, s)
			}
			question = "" // the first sentence answers
		}
	}
	return out
}

// stated returns the sentences of an ask that may correct, rule or decide (learn.Cued). A
// short reply to a question is a decision whatever its words are.
func stated(own string, asked bool) (out []string) {
	if asked && utf8.RuneCountInString(own) <= maxStatement && !text.IsQuestion(own) {
		if one := strings.Join(strings.Fields(own), " "); one != "" {
			return []string{one}
		}
	}
	joined := false // the sentence before is one, too
	for _, s := range text.Sentences(own) {
		cued := learn.Cued(s)
		n := len(out)
		fits := joined && utf8.RuneCountInString(out[n-1])+utf8.RuneCountInString(s) < maxStatement
		switch joined = (cued || fits) && !text.IsQuestion(s) && smalltalk.Of(s) == smalltalk.None; {
		case joined && fits: // "No." says what not, the next sentence says what
			out[n-1] += " " + s
		case joined:
			out = append(out, text.Cut(s, maxStatement))
		}
	}
	return out
}

// lastQuestion returns the question with which a reply ends, "" if with none.
func lastQuestion(reply string) string {
	if !strings.ContainsAny(reply, "?？") { // most end with none, and taking a reply apart is not cheap
		return ""
	}
	t := agent.Turn{Role: agent.User, Text: note.CutRunes(reply, maxReply)}
	sentences := text.Sentences(strings.Join(t.Typed(), "\n\n"))
	if len(sentences) == 0 || !text.IsQuestion(sentences[len(sentences)-1]) {
		return ""
	}
	return text.Cut(sentences[len(sentences)-1], maxStatement/2)
}
