package capture

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/smalltalk"
	"anamnesis/internal/text"
)

// The bounds of the heuristic summary, in characters.
const (
	maxTitle     = 80
	maxText      = 600
	trivialFloor = 40  // an outcome shorter than this says nothing by itself
	maxFiles     = 100 // named in the body; the others are counted
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
		if e.prompt == "" {
			continue
		}
		asked++
		if e.real() {
			real++
		}
		plugin = plugin && e.command && strings.Contains(firstWord(e.prompt), ":")
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
		return f.exchanges[len(f.exchanges)-1].echoed()
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

// summarize writes the note of a session without a model.
func summarize(f *facts) (title, body string) {
	ask, later := asks(f.first, f.exchanges)
	var b strings.Builder
	fmt.Fprintf(&b, "**Ask:** %s\n\n", clip(ask, "(no user prompt captured)"))
	list := func(heading string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "**%s:**\n", heading)
		for _, line := range lines {
			fmt.Fprintf(&b, "- %s\n", strings.Join(strings.Fields(line), " "))
		}
		b.WriteByte('\n')
	}
	var lines []string
	for _, ask := range later {
		lines = append(lines, text.Cut(ask, maxAsk))
	}
	list("Then asked", lines)
	lines = nil
	for _, s := range statements(f.exchanges) {
		if s.to != "" {
			s.text += " (asked: " + s.to + ")"
		}
		lines = append(lines, s.text)
	}
	list("Said by the user", lines)
	lines = nil
	for i := range f.fixes {
		lines = append(lines, f.fixes[i].String())
	}
	list("Fixed", lines)
	list("Finished", f.finished)
	list("Commits", f.committed)
	list("Refused by the user", f.refused)
	list("Went in circles", f.circles)
	if f.branch != "" {
		fmt.Fprintf(&b, "**Branch:** %s\n", f.branch)
	}
	if n := len(f.files); n > 0 {
		fmt.Fprintf(&b, "**Files touched (%d):**\n", n)
		for _, name := range f.files[:min(n, maxFiles)] {
			fmt.Fprintf(&b, "- %s\n", strings.Join(strings.Fields(name), " "))
		}
		if n > maxFiles {
			fmt.Fprintf(&b, "- … and %d more\n", n-maxFiles)
		}
	}
	if f.branch != "" || len(f.files) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "**Outcome:** %s", clip(outcome(f.exchanges), "(no assistant output captured)"))
	return titleOf(ask, f.title), b.String()
}

// titleOf returns the first line of what was asked, where it is a title: three
// words, and not too long. Where it is none the agent's own title is better, if
// that is one.
func titleOf(ask, own string) string {
	line, _, _ := strings.Cut(ask, "\n")
	line = strings.TrimSpace(line)
	good := func(s string) bool { // of a script without spaces each character is a word
		return utf8.RuneCountInString(s) <= maxTitle && (len(strings.Fields(s)) >= 3 || len(smalltalk.Words(s)) >= 6)
	}
	switch own = strings.Join(strings.Fields(own), " "); {
	case own != "" && !good(line) && len(smalltalk.Words(own)) >= 2 && utf8.RuneCountInString(own) <= maxTitle && !redact.PromptInjection(own):
		return own
	case line != "":
		return headline(line)
	}
	return "Session summary"
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

// clip cuts a text to maxText characters and says so.
func clip(s, empty string) string {
	if s == "" {
		return empty
	}
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return strings.TrimRight(note.CutRunes(s, maxText), " \t\n\r") + " ..."
}
