package capture

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
	"anamnesis/internal/smalltalk"
)

// An exchange is what the user said, and all that the agent said and did before
// the user spoke again. Of the first one the prompt may be missing.
type exchange struct {
	prompt      string
	command     bool     // the prompt is a slash command
	replies     []string // texts of the agent
	tools       bool     // the agent used tools
	interrupted bool     // the user stopped the agent
}

func exchanges(lines []agent.Line) (all []exchange) {
	for _, l := range lines {
		text := strings.TrimSpace(l.Text)
		if l.Role == agent.User && text != "" || len(all) == 0 {
			all = append(all, exchange{})
		}
		e := &all[len(all)-1]
		switch {
		case l.Role == agent.User:
			e.interrupted = e.interrupted || l.Interrupted
			if text != "" {
				e.prompt, e.command = text, l.Command
			}
		default:
			e.tools = e.tools || l.Tools
			if text != "" {
				e.replies = append(e.replies, text)
			}
		}
	}
	return all
}

// real reports whether the user asked something.
func (e *exchange) real() bool {
	return e.prompt != "" && !e.command && smalltalk.Of(e.prompt) == smalltalk.None
}

// final is the last word of the agent. What the user stopped is none.
func (e *exchange) final() string {
	if len(e.replies) == 0 || e.interrupted {
		return ""
	}
	return e.replies[len(e.replies)-1]
}

// courtesy is how long an answer to "thanks" may be that says nothing, in characters.
const courtesy = 240

// substantial reports whether the last word of an exchange says what came of it.
func (e *exchange) substantial() bool {
	final := e.final()
	n := utf8.RuneCountInString(final)
	switch {
	case final == "", smalltalk.Of(final) != smalltalk.None, e.echoed():
		return false
	case e.tools, e.real():
		return true
	case e.prompt != "" && smalltalk.Of(e.prompt) == smalltalk.Closing:
		return n > courtesy
	}
	return n >= trivialFloor
}

// echoed reports whether the agent said what it was told to say: "reply with exactly: ok".
func (e *exchange) echoed() bool {
	final := e.final()
	return final != "" && !e.tools && utf8.RuneCountInString(final) < trivialFloor && strings.Contains(e.prompt, final)
}

// outcome returns the last substantial answer; where there is none the last one
// that is more than small talk, and else the last one.
func outcome(all []exchange) string {
	second, third := "", ""
	for i := len(all) - 1; i >= 0; i-- {
		final := all[i].final()
		switch {
		case all[i].substantial():
			return final
		case second == "" && smalltalk.Of(final) == smalltalk.None:
			second = final
		}
		third = cmp.Or(third, final)
	}
	return cmp.Or(second, third)
}

// maxLater is how many later asks a note keeps, maxAsk how many characters of each.
const (
	maxLater = 3
	maxAsk   = 200
)

// asks returns what the user asked for: the first thing, which may be a command
// with arguments, and up to maxLater later ones that change the direction.
func asks(first string, all []exchange) (ask string, later []string) {
	ask = strings.TrimSpace(first)
	if smalltalk.Of(ask) != smalltalk.None {
		ask = ""
	}
	known := make(map[string]bool)
	learn := func(text string) (fresh, words int) {
		for _, w := range smalltalk.Words(note.CutRunes(text, maxPrompt)) {
			if utf8.RuneCountInString(w) < 3 && w[0] < utf8.RuneSelf {
				continue
			}
			if words++; !known[w] {
				fresh++
				known[w] = true
			}
		}
		return fresh, words
	}
	learn(ask)
	for i := range all {
		e := &all[i]
		switch {
		case !e.real() || e.prompt == strings.TrimSpace(first):
			continue
		case ask == "":
			ask = e.prompt
			learn(ask)
			continue
		case i > 0 && lastQuestion(all[i-1].final()) != "" && utf8.RuneCountInString(e.prompt) <= maxStatement:
			continue // an answer; see statements
		}
		said := 0
		for _, s := range stated(e.prompt, false) {
			said += len(s)
		}
		if fresh, words := learn(e.prompt); words < 3 || 5*fresh < 2*words || 2*said > len(e.prompt) {
			continue
		}
		later = append(later, e.prompt)
	}
	if len(later) > maxLater { // the latest say where it went
		later = later[len(later)-maxLater:]
	}
	return ask, later
}
