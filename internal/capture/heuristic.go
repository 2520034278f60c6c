package capture

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/redact"
)

// Facts are what a summary is made of.
type facts struct {
	id, dir, branch string
	also            []string // other session ids in the file
	started, ended  time.Time
	prompt, outcome string
	files           []string
}

func sessionFacts(s *agent.Session) facts {
	return facts{
		id: s.ID, also: s.Also, dir: s.Dir, branch: s.Branch, started: s.Started, ended: s.Ended,
		prompt: s.FirstPrompt(), outcome: s.LastOutcome(), files: s.FilesTouched(),
	}
}

func peekFacts(g *agent.PeekResult) facts {
	return facts{
		id: g.ID, dir: g.Dir, branch: g.Branch, started: g.Started, ended: g.Ended,
		prompt: g.FirstPrompt, outcome: g.LastOutcome, files: g.FilesTouched,
	}
}

// The bounds of the heuristic summary, in characters.
const (
	maxTitle     = 80
	maxText      = 600
	trivialFloor = 40  // an outcome shorter than this says nothing by itself
	maxFiles     = 100 // named in the body; the others are counted
)

// trivial reports whether a session is not worth a note. It is free: no model is asked.
func trivial(f facts) bool {
	prompt, outcome := strings.TrimSpace(f.prompt), strings.TrimSpace(f.outcome)
	short := utf8.RuneCountInString(outcome) < trivialFloor
	switch {
	case len(f.files) > 0:
		return false
	case prompt == "" && outcome == "":
		return true
	case prompt == "", loneCommand(prompt):
		return short
	}
	return false
}

// loneCommand reports whether a prompt is a slash command and nothing else.
func loneCommand(prompt string) bool {
	return len(prompt) > 1 && prompt[0] == '/' && !strings.ContainsAny(prompt, " \t\n\r")
}

// redacted returns f with its secrets masked. It comes before anything is cut:
// half a key matches no rule.
func (f facts) redacted(r *redact.Redactor) facts {
	f.prompt, f.outcome = r.Redact(f.prompt).String(), r.Redact(f.outcome).String()
	f.branch = r.Redact(f.branch).String()
	files := make([]string, len(f.files))
	for i, name := range f.files {
		files[i] = r.Redact(name).String()
	}
	f.files = files
	return f
}

// summarize writes the note of a session without a model.
func summarize(f facts) (title, body string) {
	prompt, outcome := strings.TrimSpace(f.prompt), strings.TrimSpace(f.outcome)
	title = "Session summary"
	if first, _, _ := strings.Cut(prompt, "\n"); strings.TrimSpace(first) != "" {
		title = headline(strings.TrimSpace(first))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Ask:** %s\n\n", clip(prompt, "(no user prompt captured)"))
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
	fmt.Fprintf(&b, "**Outcome:** %s", clip(outcome, "(no assistant output captured)"))
	return title, b.String()
}

// headline cuts a line to maxTitle characters, between words where that loses little.
func headline(s string) string {
	if utf8.RuneCountInString(s) <= maxTitle {
		return s
	}
	s = head(s, maxTitle-1)
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
	return strings.TrimRight(head(s, maxText), " \t\n\r") + " ..."
}

// head returns the first n characters of s.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
