package learn

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/text"
	"anamnesis/internal/text/smalltalk"
)

// MaxNudges is how often the agent of one session is asked to keep what stopped it.
const MaxNudges = 2

// nudge is what the agent is asked, at most maxNudge characters with the sentence and the name of the tool.
const (
	nudge    = `Your user said: "%s". If this is a lasting rule, save it with %s and quote it exactly.`
	maxNudge = 40 * charsPerToken
)

// leastNudge is how many characters a sentence has at least that the agent is asked to keep.
const leastNudge = 12

// NudgeHash identifies a sentence that an agent is asked to keep.
func NudgeHash(words string) string { return hash(time.Time{}, words) }

// Stopping returns the sentence by which a user stopped the agent before a prompt: the reason with which they refused
// a call since their last prompt, or the beginning of the prompt itself, when they interrupted the agent or went back. It is "" where
// they did not. s is a session up to the prompt, which it may have, or only its end.
func Stopping(s *agent.Session, prompt string) string {
	all := s.All()
	if n := len(all); n > 0 && all[n-1].Human() && text.Folded(strings.Join(all[n-1].Typed(), " ")) == text.Folded(prompt) {
		all = all[:n-1]
	}
	if len(all) == 0 && s.Resumed || len(all) > 0 && all[len(all)-1].TakenBack {
		return saying(prompt)
	}
	stopped := false
	for i := len(all) - 1; i >= 0 && !all[i].Human(); i-- {
		for j := range all[i].Tools {
			if u := &all[i].Tools[j]; u.Denied && saying(u.Reply) != "" {
				return saying(u.Reply)
			}
		}
		stopped = stopped || all[i].Interrupted
	}
	if stopped {
		return saying(prompt)
	}
	return ""
}

// saying returns the first sentence with a subject.
func saying(words string) string {
	for _, s := range text.Sentences(text.Head(words, maxTyped)) {
		if utf8.RuneCountInString(s) >= leastNudge && smalltalk.Of(s) == smalltalk.None {
			return s
		}
	}
	return ""
}

// Nudge asks an agent to keep a sentence with a tool, by the name that it has for the tool.
func Nudge(sentence, tool string) string {
	room := maxNudge - utf8.RuneCountInString(nudge) + len("%s%s") - utf8.RuneCountInString(tool)
	return fmt.Sprintf(nudge, text.Cut(sentence, room), tool)
}
