package capture

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/session"
	"anamnesis/internal/text"
	"anamnesis/internal/text/smalltalk"
)

// The bounds of the note of a session, in characters and pieces. What happened stands in its
// exchanges; the note says what it was about and what came of it.
const (
	maxTitle     = 80
	maxAsk       = 160
	maxLine      = 130
	maxOutcome   = 170
	maxListed    = 2
	maxFiles     = 5
	trivialFloor = 40 // an outcome shorter than this says nothing alone
)

// trivial reports whether a session is not worth a note. It is free: no model is
// asked. Sessions of programs are kept when they did something, or when they are
// asked for.
func (r *Recorder) trivial(f *facts) bool {
	if llm.Ours(f.dir) {
		return true
	}
	if len(f.files) > 0 {
		return false
	}
	said := outcome(f.exchanges)
	short := utf8.RuneCountInString(said) < trivialFloor
	asked, real := 0, 0
	plugin := true // nothing but commands of plugins
	for i := range f.exchanges {
		e := &f.exchanges[i]
		if e.Ask == "" {
			continue
		}
		asked++
		if e.Real() {
			real++
		}
		plugin = plugin && e.Command && strings.Contains(firstWord(e.Ask), ":")
	}
	switch {
	case said == "" && !f.tools() && (real == 0 || f.failed): // the client was opened and left, or only said why it cannot
		return len(statements(f.exchanges)) == 0
	case asked > 0 && real == 0: // commands and small talk
		return plugin || short && !f.tools()
	case real == 0:
		return short
	case f.headless && !r.opts.Headless:
		return asked == 1 && !f.tools() && utf8.RuneCountInString(f.first) <= shortAsk
	case asked == 1 && !f.tools(): // "reply with exactly: ok"
		return echoed(&f.exchanges[len(f.exchanges)-1])
	}
	return false
}

// shortAsk is how long the one question of a program may be, in characters, that
// needs no note.
const shortAsk = 400

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// answered reports whether a session was one question and its answer: nothing was changed, run or laid
// down. It is found as an exchange and needs no note. What a program asked is judged by trivial alone.
func (f *facts) answered() bool {
	asked := 0
	for i := range f.exchanges {
		e := &f.exchanges[i]
		if e.Ask != "" && smalltalk.Of(e.Ask) == smalltalk.None {
			asked++
		}
		for j := range e.Steps {
			if s := &e.Steps[j]; s.Run != "" && !session.Reads(s.Run) {
				return false
			}
		}
	}
	return asked == 1 && !f.headless && len(f.files) == 0 && len(f.commits) == 0 && len(f.finished) == 0
}

// final is the last word of the agent in an exchange. What the user stopped is none.
func final(e *session.Exchange) string {
	if e.Stopped {
		return ""
	}
	return e.Reply
}

// courtesy is how long an answer to "thanks" may be that says nothing, in characters.
const courtesy = 240

// substantial reports whether the last word of an exchange says what came of it.
func substantial(e *session.Exchange) bool {
	said := final(e)
	n := utf8.RuneCountInString(said)
	switch {
	case said == "", smalltalk.Of(said) != smalltalk.None, echoed(e):
		return false
	case e.Tools, e.Real():
		return true
	case e.Ask != "" && smalltalk.Of(e.Ask) == smalltalk.Closing:
		return n > courtesy
	}
	return n >= trivialFloor
}

// echoed reports whether the agent said what it was asked to say: "reply with exactly: ok".
func echoed(e *session.Exchange) bool {
	said := final(e)
	return said != "" && !e.Tools && utf8.RuneCountInString(said) < trivialFloor && strings.Contains(e.Ask, said)
}

// outcome returns the last substantial answer; where there is none the last one
// that is more than small talk, and else the last one.
func outcome(all []session.Exchange) string {
	second, third := "", ""
	for i := len(all) - 1; i >= 0; i-- {
		said := final(&all[i])
		switch {
		case substantial(&all[i]):
			return said
		case second == "" && smalltalk.Of(said) == smalltalk.None:
			second = said
		}
		if third == "" {
			third = said
		}
	}
	if second == "" {
		return third
	}
	return second
}

// titled returns the title of a session, and what was asked first.
func (f *facts) titled() (title, ask string) {
	for i := range f.exchanges {
		if e := &f.exchanges[i]; e.Real() {
			ask = e.Ask
			break
		}
	}
	if ask == "" && smalltalk.Of(f.first) == smalltalk.None {
		ask = f.first
	}
	own := f.title
	if redact.PromptInjection(own) {
		own = ""
	}
	if f.named && own != "" { // what the user called it
		return text.Cut(own, maxTitle), ask
	}
	if title = session.TitleOf(own, f.summaries, f.exchanges); title == "" {
		title = text.Cut(f.first, maxTitle)
	}
	if title == "" {
		title = "Work in " + path.Base(strings.ReplaceAll(f.dir, `\`, "/"))
	}
	return title, ask
}

// summarize writes the note of a session without a model: what was asked, which errors had which cause
// and remedy, what was decided, what stays open, and what came of it. Nothing is said twice: not an
// ask that is the title, nor a sentence of the ask.
func summarize(f *facts) (title, body string) {
	title, ask := f.titled()
	asked := text.Cut(ask, maxAsk)
	var b strings.Builder
	if asked != "" && asked != title {
		fmt.Fprintf(&b, "**Ask:** %s\n\n", asked)
	}
	list := func(heading string, most int, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "**%s:**\n", heading)
		for _, line := range lines[max(0, len(lines)-most):] {
			fmt.Fprintf(&b, "- %s\n", text.Cut(line, maxLine))
		}
		b.WriteByte('\n')
	}
	said := slices.DeleteFunc(statements(f.exchanges), func(s statement) bool {
		return s.to == "" && strings.Contains(asked, strings.TrimRight(text.Cut(s.text, maxLine), ".…"))
	})
	list("Then asked", maxListed+1, f.later(ask, said))
	list("Fixed", maxFixes, f.fixed())
	var lines []string
	for _, s := range said {
		if s.to != "" {
			s.text += " (asked: " + s.to + ")"
		}
		lines = append(lines, s.text)
	}
	list("Said by the user", maxListed+1, lines)
	list("Finished", maxListed, f.finished)
	list("Commits", maxListed+1, f.committed)
	list("Refused by the user", maxListed, f.refused)
	list("Went in circles", maxListed, f.circles)
	failing := session.LeftFailing(f.exchanges)
	list("Open", maxListed, append(slices.Clone(f.open), failing[max(0, len(failing)-1):]...))
	if n := len(f.files); n > 0 {
		fmt.Fprintf(&b, "**Files touched (%d):** %s", n, strings.Join(f.files[:min(n, maxFiles)], ", "))
		if n > maxFiles {
			fmt.Fprintf(&b, " and %d more", n-maxFiles)
		}
		b.WriteString("\n\n")
	}
	if last := outcome(f.exchanges); last != "" {
		fmt.Fprintf(&b, "**Outcome:** %s", text.Cut(unmarked(last), maxOutcome))
	}
	if b.Len() == 0 && asked != "" {
		fmt.Fprintf(&b, "**Ask:** %s", asked)
	}
	return title, strings.TrimSpace(b.String())
}

// emphasis is a stretch between double stars; src/** has none.
var emphasis = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[\s(])\*\*([^*\s/](?:[^*\n]*[^*\s/])?)\*\*`) })

// unmarked is a text without the marks of markdown that mean nothing in one line.
func unmarked(s string) string {
	words := slices.DeleteFunc(strings.Fields(emphasis().ReplaceAllString(s, "$1$2")), func(w string) bool {
		return strings.HasPrefix(w, "```") && !strings.Contains(w[3:], "`") || strings.Trim(w, "#") == "" || w == "---"
	})
	return strings.Join(words, " ")
}

// maxLater is how many characters of a later ask are kept.
const maxLater = 64

// later are the asks after the first that change the direction. An answer and a rule are listed elsewhere.
func (f *facts) later(first string, said []statement) (lines []string) {
	shown := said[max(0, len(said)-maxListed-1):]
	laid := make(map[int]int)
	for _, s := range said {
		laid[s.at] += len(s.text)
	}
	for i := range f.exchanges {
		e := &f.exchanges[i]
		if i == 0 || !e.Real() || e.Ask == first {
			continue
		}
		if utf8.RuneCountInString(e.Ask) <= maxStatement && lastQuestion(final(&f.exchanges[i-1])) != "" {
			continue
		}
		line := text.Cut(e.Ask, maxLater)
		again := slices.ContainsFunc(shown, func(s statement) bool { return strings.HasPrefix(s.text, strings.TrimRight(line, "…")) })
		if !again && 2*laid[i] < len(e.Ask) && session.Informative(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// fixed tells the errors of a session that stopped coming: what failed and then passed, with the cause
// where the agent said one, and what the user brought and the work ended.
func (f *facts) fixed() (lines []string) {
	solutions := session.Solutions(f.exchanges)
	written := make(map[string]bool)
	for i := range f.fixes {
		line := f.fixes[i].String()
		symptom := session.Normal(session.Symptom(f.fixes[i].Output))
		for _, s := range solutions {
			if s.Cause != "" && session.Normal(s.Error) == symptom {
				line = text.Cut(line, maxLine*3/5) + ": " + s.Cause
			}
		}
		written[symptom] = true
		lines = append(lines, line)
	}
	for _, s := range solutions {
		if len(lines) < maxFixes && !written[session.Normal(s.Error)] {
			lines = append(lines, s.String())
		}
	}
	return lines
}

// headline cuts a line to maxTitle characters, between words where that loses little.
func headline(s string) string {
	if utf8.RuneCountInString(s) <= maxTitle {
		return s
	}
	s = note.CutRunes(s, maxTitle-1)
	if i := strings.LastIndexByte(s, ' '); i > len(s)*2/3 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ,;:.-") + "…"
}
