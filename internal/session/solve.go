package session

import (
	"path"
	"slices"
	"strings"

	"anamnesis/internal/text"
)

// A Solution says how an error of a session stopped coming.
type Solution struct {
	Error    string `json:"error"`           // the line that showed it
	Cause    string `json:"cause,omitempty"` // in the agent's words; "" when nobody said one
	Remedy   string `json:"remedy"`          // what was changed or run, or how the agent said it
	Exchange int    `json:"exchange"`        // in which it stopped
}

// String is one line, of at most 300 characters.
func (s Solution) String() string {
	line := text.Cut(s.Error, 100)
	if s.Cause != "" {
		line += " — " + text.Cut(s.Cause, 110)
	}
	return line + " → " + text.Cut(s.Remedy, 110)
}

// maxAfter is in how many exchanges behind the one that showed an error its remedy is looked for.
const maxAfter = 3

// Cues of a sentence that says a cause, and of one that says a remedy.
var (
	causes = text.Form(`(?i)\b(?:because|root cause|caused by|due to|turns out|`,
		`the (?:issue|problem|reason|bug|error|culprit|failure) (?:is|was|here|seems|comes)|`,
		`happen(?:s|ed|ing) (?:when|because)|fail(?:s|ed|ing)? (?:because|since|when)|`,
		`was (?:missing|never|not)|is (?:missing|trying to|not)|`,
		`isn'?t|doesn'?t exist|expects?|requires?|i see the (?:issue|problem))\b`)
	remedies = text.Form(`(?i)\b(?:fix(?:ed|es)?|add(?:ed)?|chang(?:e|ed)|replac(?:e|ed)|updat(?:e|ed)|remov(?:e|ed)|`,
		`renam(?:e|ed)|mov(?:e|ed)|set|use[ds]?|`,
		`install(?:ed)?|now|solution|resolved|instead)\b`)
	announces = text.Form(`(?i)^(?:now,? )?(?:let me|let's|i'?ll|i will|i'?m going|would you|if you|please|`,
		`you can|next,|want me|should|here'?s|here is|here are|i can see)\b`)
	persists = text.Form(`(?i)\b(?:still|same (?:error|problem|issue)|did(?:n'?t| not) (?:work|help|fix)|`,
		`does(?:n'?t| not) (?:work|help)|not (?:fixed|working)|`,
		`no luck|again the)\b`)
)

// Solve says how an error that an exchange shows (Normal) stopped coming in its session; false when it
// did not, or when that cannot be shown.
func Solve(all []Exchange, normal string) (Solution, bool) { return solve(all, metIn(all), normal) }

// A met is where a session met errors: by exchange, those that the user brought and those of its steps.
type met struct {
	pasted [][]string
	steps  []map[int][]string
}

func metIn(all []Exchange) met {
	m := met{make([][]string, len(all)), make([]map[int][]string, len(all))}
	for i := range all {
		m.pasted[i] = all[i].pastedErrors()
		m.steps[i] = make(map[int][]string)
		for j := range all[i].Steps {
			if s := &all[i].Steps[j]; s.Outcome == Failed && s.Out != "" {
				m.steps[i][j] = ErrorLines(s.Out)
			}
		}
	}
	return m
}

func solve(all []Exchange, m met, normal string) (s Solution, ok bool) {
	last, step := -1, -1
	var commands []string
	for i := range all {
		if slices.Contains(m.pasted[i], normal) {
			last, step = i, -1
		}
		for j := range all[i].Steps {
			if slices.Contains(m.steps[i][j], normal) {
				last, step = i, j
				commands = append(commands, all[i].Steps[j].Run)
			}
		}
	}
	if last < 0 {
		return s, false
	}
	a := after{commands: commands}
	for i := last; i < len(all) && i <= last+maxAfter && !a.solved; i++ {
		from := 0
		if i == last {
			from = step + 1
		}
		a.exchange(&all[i], from)
		if i > last && persists().MatchString(all[i].Ask) {
			a.solved = false
		}
		if a.solved || i == last && step < 0 && a.mended(all, i) {
			s.Exchange = all[i].N
			a.solved = true
		}
	}
	if !a.solved {
		return s, false
	}
	for i := 0; i < step && a.cause == ""; i++ { // what was thought before the command showed it
		said := a.said
		a.words(all[last].Steps[i].Said)
		a.said = said
	}
	s.Error = errorLine(all[last], step, normal)
	s.Cause, s.Remedy = a.cause, a.remedy()
	return s, s.Remedy != ""
}

// pastedErrors are the error lines that the user brought.
func (e *Exchange) pastedErrors() []string {
	lines := ErrorLines(e.Ask + "\n" + e.Pasted)
	if len(lines) == 0 || !shape().MatchString(e.Ask) && !shape().MatchString(e.Pasted) {
		return nil
	}
	return lines
}

// errorLine is the line as it was printed.
func errorLine(e Exchange, step int, normal string) string {
	out := e.Ask + "\n" + e.Pasted
	if step >= 0 {
		out = e.Steps[step].Out
	}
	for line := range strings.Lines(out) {
		if Normal(line) == normal {
			return strings.Join(strings.Fields(text.Plain(line)), " ")
		}
	}
	return normal
}

// An after gathers what was said and done behind an error.
type after struct {
	commands []string // lines that failed with it
	edits    []string
	ran      []string
	cause    string
	said     string // a sentence that says the remedy
	solved   bool   // the command passed
}

// exchange reads the steps of an exchange from one on, up to the one with which the error stopped.
func (a *after) exchange(e *Exchange, from int) {
	for i := from; i < len(e.Steps); i++ {
		s := &e.Steps[i]
		switch {
		case s.Said != "":
			a.words(s.Said)
		case s.File != "" && s.Outcome != Failed && !s.Refused:
			if name := path.Base(strings.ReplaceAll(s.File, `\`, "/")); !slices.Contains(a.edits, name) {
				a.edits = append(a.edits, name)
			}
		case s.Run != "" && s.Outcome == Passed && !s.Refused:
			if a.passes(s.Run) {
				a.solved = true
			} else if !Looks(s.Run) && len(a.ran) < 3 {
				a.ran = append(a.ran, s.Run)
			}
		}
		if a.solved {
			break
		}
	}
	a.words(e.Reply)
}

// passes reports whether a command is one that failed with the error: the same, the same with more
// words, or, after something was edited, another run of the same program.
func (a *after) passes(line string) bool {
	normal := NormalCommand(line)
	for _, failed := range a.commands {
		c := NormalCommand(failed)
		if normal == c || extends(c, normal) || len(a.edits) > 0 && program(c) == program(normal) {
			if len(a.edits) == 0 && line != failed {
				a.ran = append(a.ran, line)
			}
			return true
		}
	}
	return false
}

// program are the first two words of a command, "go test", or its one.
func program(line string) string {
	words := strings.Fields(line)
	return strings.Join(words[:min(len(words), 2)], " ")
}

// mended reports whether an error that the user brought counts as solved by the work on it: something
// was changed, the user let it end, and did not say that it comes still.
func (a *after) mended(all []Exchange, at int) bool {
	worked := len(a.edits) > 0 || len(a.ran) > 0 || a.said != "" && a.cause != ""
	return worked && !all[at].Stopped && (at+1 >= len(all) || !persists().MatchString(all[at+1].Ask))
}

// words looks for the sentences that say a cause and a remedy: the first cause, the last remedy.
func (a *after) words(said string) {
	remedy := ""
	for _, s := range text.Sentences(said) {
		s = strings.Trim(strings.ReplaceAll(s, "**", ""), "#*:- ✅✓")
		if n := len(s); n < 20 || n > 300 || text.IsQuestion(s) || strings.Count(s, "|") > 1 || announces().MatchString(s) {
			continue
		}
		if a.cause == "" && causes().MatchString(s) {
			a.cause = s
		} else if remedy == "" && remedies().MatchString(s) && s != a.cause {
			remedy = s
		}
	}
	if remedy != "" { // what is said later knows more
		a.said = remedy
	}
}

// remedy says in a line what ended the error.
func (a *after) remedy() string {
	var parts []string
	for _, c := range a.ran {
		if len(a.edits) == 0 {
			parts = append(parts, Code(c))
		}
	}
	if n := len(a.edits); n > 0 {
		parts = append(parts, "changed "+strings.Join(a.edits[:min(n, 3)], ", "))
	}
	did := strings.Join(parts, "; ")
	switch {
	case a.said != "" && did != "":
		return text.Cut(a.said, 160) + " (" + text.Cut(did, 80) + ")"
	case a.said != "":
		return a.said
	}
	return did
}

// maxSolutions is how many solutions of a session are listed.
const maxSolutions = 4

// Solutions are the errors of a session that stopped coming, the last ones, in its order.
func Solutions(all []Exchange) (out []Solution) {
	seen, at := make(map[string]bool), make(map[int]bool)
	m := metIn(all)
	for i := range all {
		lines := slices.Clone(m.pasted[i])
		for j := range all[i].Steps {
			lines = append(lines, m.steps[i][j]...)
		}
		for _, line := range lines {
			if seen[line] {
				continue
			}
			seen[line] = true
			if s, ok := solve(all, m, line); ok && !at[s.Exchange] {
				at[s.Exchange] = true
				out = append(out, s)
			}
		}
	}
	return out[max(0, len(out)-maxSolutions):]
}
