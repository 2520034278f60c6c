// Package session keeps what happened in sessions of coding agents, word for word: a session as
// exchanges, what is kept of them on this machine, and the index that finds them.
//
// An exchange is what the user said, what the agent did until the user spoke again, and what it
// said at the end. It is redacted, and outputs are cut to the lines that say what went wrong.
// The exchanges of a session stand in one file of local/sessions (Kept), which is neither synced
// nor a note. The index beside it is derived: without it, or with a damaged one, it is built again
// from the files.
//
// Failure policy: a file that cannot be read is left out; a search whose index is
// damaged builds it again; nothing here stops a capture.
package session

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/text"
)

// The bounds of what is kept of one exchange, in characters and pieces.
const (
	maxAsk      = 2000
	maxPasted   = 1500
	maxSaid     = 1200
	maxReply    = 4000
	maxRun      = 400
	maxLine     = 240
	maxSteps    = 160
	errorLines  = 10 // of an output that failed
	outputLines = 4  // of one that passed: from its head, and half as many from its end
)

// An Exchange is what the user said and what came of it.
type Exchange struct {
	N       int       `json:"n"` // its number in the session, from 1
	At      time.Time `json:"at,omitzero"`
	Ask     string    `json:"ask,omitempty"`     // typed by the user; "" when the session begins without
	Command bool      `json:"command,omitempty"` // the ask is a slash command
	Pasted  string    `json:"pasted,omitempty"`  // by the user, beside the ask: the lines that matter
	Steps   []Step    `json:"steps,omitempty"`
	Reply   string    `json:"reply,omitempty"` // what the agent said last
	Stopped bool      `json:"stopped,omitempty"`

	// Program says that a program asked, not a person.
	Program bool `json:"program,omitempty"`

	// Subagent is the id of the sub-agent that was asked, "" for the session's own agent: Ask is then the agent's word
	// and not the user's.
	Subagent string `json:"sub_agent,omitempty"`

	// TakenBack says that the user went back to before the exchange: it is found, and teaches nothing.
	TakenBack bool `json:"taken_back,omitempty"`

	Dropped int      `json:"dropped,omitempty"` // steps left out of the middle
	Commits []string `json:"commits,omitempty"` // made of it, as another tool says
	Tools   bool     `json:"-"`                 // the agent used tools
	First   int      `json:"-"`                 // the place of its first turn in agent.Session.All
}

// A Step is one thing the agent said or did. One of Said, Run and File is set.
type Step struct {
	Said    string   `json:"said,omitempty"`
	Run     string   `json:"run,omitempty"` // a command line, or the call of a tool that failed
	File    string   `json:"file,omitempty"`
	Outcome Verdict  `json:"outcome,omitempty"`
	Refused bool     `json:"refused,omitempty"` // by the user
	Out     string   `json:"out,omitempty"`     // lines of the output
	Commits []string `json:"commits,omitempty"` // ids of commits that the command made
}

// InForce returns the exchanges that the user did not take back.
func InForce(all []Exchange) (standing []Exchange) {
	for i := range all {
		if !all[i].TakenBack {
			standing = append(standing, all[i])
		}
	}
	return standing
}

// Cut makes the exchanges of a session, with those that the user took back. clean is what every text passes before it is cut: half a
// key matches no rule.
func Cut(s *agent.Session, clean func(string) string) (all []Exchange) {
	commits := make(map[int][]string)
	turns := s.All()
	for _, c := range commitsIn(turns) {
		if !c.Undone && len(c.Undoes) == 0 {
			commits[c.Turn] = append(commits[c.Turn], c.ID)
		}
	}
	for i := range turns {
		t := &turns[i]
		if t.Role == agent.User && t.Text != "" || len(all) == 0 || all[len(all)-1].TakenBack != t.TakenBack {
			all = append(all, Exchange{N: len(all) + 1, At: t.At, TakenBack: t.TakenBack, First: i})
		}
		e := &all[len(all)-1]
		e.Stopped = e.Stopped || t.Interrupted
		if t.Role == agent.User {
			e.asked(t, clean)
			continue
		}
		if words := strings.TrimSpace(t.Text); words != "" {
			e.Steps = append(e.Steps, Step{Said: clean(words)})
		}
		for j := range t.Tools {
			e.Tools = true
			if step, ok := stepOf(&t.Tools[j], clean); ok {
				if step.Run != "" && step.Outcome == Passed && strings.Contains(step.Run, "git") {
					step.Commits, commits[i] = commits[i], nil
				}
				e.Steps = append(e.Steps, step)
			}
		}
	}
	for i := range all {
		all[i].finish()
	}
	return all
}

// FromLines makes exchanges of what was said alone: those of a session that was peeked at.
func FromLines(lines []agent.Line) (all []Exchange) {
	for _, l := range lines {
		words := strings.TrimSpace(l.Text)
		if l.Role == agent.User && words != "" || len(all) == 0 {
			all = append(all, Exchange{N: len(all) + 1})
		}
		e := &all[len(all)-1]
		switch {
		case l.Role == agent.User:
			e.Stopped = e.Stopped || l.Interrupted
			if words != "" {
				t := agent.Turn{Role: agent.User, Text: words}
				if words == l.Text {
					t.Spans = l.Spans
				}
				e.Ask, e.Command, e.Program = ownWords(&t), l.Command, l.Asker == agent.Program
			}
		default:
			e.Tools = e.Tools || l.Tools
			if words != "" {
				e.Reply = words
			}
		}
	}
	return all
}

// ownWords are the words of a turn that were typed; all of them where none were.
func ownWords(t *agent.Turn) string {
	if t.Command != "" {
		return t.Text
	}
	if typed := strings.Join(t.Typed(), "\n"); typed != "" {
		return typed
	}
	return t.Text
}

// asked notes what the user said: what was typed, and the lines that matter of what was pasted.
func (e *Exchange) asked(t *agent.Turn, clean func(string) string) {
	if t.Text == "" {
		return
	}
	e.Program = t.Asker == agent.Program
	whole := *t
	if cleaned := clean(t.Text); cleaned != t.Text { // spans are offsets of the text as it was
		whole.Text, whole.Spans = cleaned, nil
		if t.Spans != nil {
			if text, spans := cleanSpans(t, clean); text == cleaned {
				whole.Spans = spans
			} else { // a secret that reaches over a border: where typed words begin is not known any more
				whole.Spans = []agent.Span{{From: 0, To: len(cleaned), By: agent.Pasted}}
			}
		}
	}
	if e.Command = whole.Command != ""; e.Command {
		e.Ask = cutText(whole.Text, maxAsk)
		return
	}
	var typed, pasted []string
	for _, s := range whole.Authors() {
		switch part := strings.TrimSpace(whole.Text[s.From:s.To]); {
		case part == "":
		case s.By == agent.Typed:
			typed = append(typed, part)
		default:
			pasted = append(pasted, part)
		}
	}
	if len(typed) == 0 { // all of it was pasted: that is what was asked
		typed, pasted = pasted, nil
	}
	e.Ask = cutText(strings.Join(typed, "\n"), maxAsk)
	if len(pasted) > 0 {
		e.Pasted = cutText(linesThatMatter(strings.Join(pasted, "\n"), true), maxPasted)
	}
}

// cleanSpans cleans each part of a text as its client divides it, and returns the spans of the result.
// It does not see a secret whose name is in one part and whose value is in the next.
func cleanSpans(t *agent.Turn, clean func(string) string) (text string, spans []agent.Span) {
	var b strings.Builder
	done := 0
	for _, s := range t.Spans {
		b.WriteString(clean(t.Text[done:s.From]))
		from := b.Len()
		b.WriteString(clean(t.Text[s.From:s.To]))
		spans = append(spans, agent.Span{From: from, To: b.Len(), By: s.By})
		done = s.To
	}
	b.WriteString(clean(t.Text[done:]))
	return b.String(), spans
}

// maxRead bounds what is redacted of one output whole. What fails says so at its end, and what
// began it stands at the head.
const maxRead = 64 << 10

// stepOf makes a step of the use of a tool. Tools that only look at files make none.
func stepOf(u *agent.ToolUse, clean func(string) string) (step Step, ok bool) {
	if u.Own {
		return step, false
	}
	step.Refused = u.Denied
	out := func(failed bool) string { return linesThatMatter(clean(bounded(u.Result)), failed) }
	switch line := CommandOf(*u); {
	case u.Path != "":
		step.File = clean(u.Path)
		if u.Error && !u.Denied { // the agent's own trouble with an edit tells nothing
			step.Outcome = Failed
		}
	case line != "":
		step.Outcome = Outcome(*u, line)
		step.Run, step.Out = cutText(clean(line), maxRun), out(step.Outcome == Failed)
	case u.Error && !u.Denied && !strings.HasPrefix(u.Result, "<tool_use_error>"):
		step.Run, step.Outcome, step.Out = u.Name+" "+text.Cut(clean(string(u.Input)), maxLine), Failed, out(true)
	case has(u.Input, "questions") || has(u.Input, "plan"): // the agent asked, or laid a plan before the user
		step.Said = cutText(clean(plainInput(u)+"\n"+bounded(u.Result)), maxSaid)
	default:
		return step, false
	}
	if u.Denied {
		step.Out = cutText(clean(u.Reply), maxAsk)
	}
	return step, true
}

// bounded cuts an output in the middle, at line ends.
func bounded(s string) string {
	if len(s) <= maxRead {
		return s
	}
	head, tail := s[:maxRead/2], s[len(s)-maxRead/2:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i > 0 {
		tail = tail[i:]
	}
	return strings.ToValidUTF8(head+"\n…"+tail, "")
}

// trouble is a line of an output that says what went wrong.
var trouble = text.Form(`(?i)\b(?:error|errors|fail|fails|failed|failure|failing|panic|exception|traceback|undefined|cannot|can't|denied|`,
	`refused|expected|missing|fatal|unable|invalid|unknown|unexpected|not found|no such|not exist|exit code [1-9]|rejected|conflict|`,
	`timed? ?out|unresolved|mismatch)\b|(?:Error|Exception)\b|✗|✖|×|❌|--- FAIL`)

// linesThatMatter cuts an output: of a failed one to the lines that say what went wrong, of others
// to the first and the last ones.
func linesThatMatter(s string, failed bool) string {
	var all []string
	for line := range strings.Lines(s) {
		if line = strings.TrimRight(line, " \t\r\n"); strings.TrimSpace(line) != "" {
			all = append(all, line)
		}
	}
	keep := make([]bool, len(all))
	for i := range all {
		keep[i] = i < outputLines || i >= len(all)-outputLines/2
	}
	if failed {
		left := errorLines
		for i := 0; i < len(all) && left > 0; i++ {
			if trouble().MatchString(all[i]) {
				left--
				keep[i] = true
				if i+1 < len(all) {
					keep[i+1] = true
				}
			}
		}
	}
	var b strings.Builder
	for i, line := range all {
		switch {
		case keep[i]:
			b.WriteString(cutText(line, maxLine) + "\n")
		case i > 0 && keep[i-1]:
			b.WriteString("…\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cutText cuts a text to n characters at white space, so that a word is there whole or not at all.
func cutText(s string, n int) string {
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	s = text.Head(s, n)
	if i := strings.LastIndexAny(s, " \t\n"); i > 0 {
		s = s[:i]
	} else {
		return "…"
	}
	return strings.TrimRight(s, " \t\n") + " …"
}

// finish takes the last words of the agent for its reply, and drops steps of the middle where there
// are too many.
func (e *Exchange) finish() {
	for i := len(e.Steps) - 1; i >= 0; i-- {
		if e.Steps[i].Said != "" {
			e.Reply = cutText(e.Steps[i].Said, maxReply)
			e.Steps = append(e.Steps[:i:i], e.Steps[i+1:]...)
			break
		}
	}
	for i := range e.Steps {
		e.Steps[i].Said = cutText(e.Steps[i].Said, maxSaid)
	}
	if n := len(e.Steps); n > maxSteps {
		e.Dropped = n - maxSteps
		e.Steps = append(e.Steps[:maxSteps/2:maxSteps/2], e.Steps[n-maxSteps/2:]...)
	}
	if len(e.Steps) == 0 {
		e.Steps = nil
	}
}

// Text renders an exchange as lines: the ask, what was said and done, the reply.
func (e *Exchange) Text() string {
	var b strings.Builder
	part := func(mark, s string) {
		for line := range strings.Lines(s) {
			if line = strings.TrimRight(line, " \r\n"); line != "" {
				fmt.Fprintf(&b, "%s%s\n", mark, line)
			}
		}
	}
	asked := "> "
	if e.Subagent != "" {
		asked = "(to a sub-agent) "
	}
	part(asked, e.Ask)
	part("| ", e.Pasted)
	for i := range e.Steps {
		if s := &e.Steps[i]; s.Said != "" {
			part("", s.Said)
		} else {
			fmt.Fprintf(&b, "%s\n", s)
			part("    ", s.Out)
		}
		if e.Dropped > 0 && i == maxSteps/2-1 {
			fmt.Fprintf(&b, "… %d more steps\n", e.Dropped)
		}
	}
	part("", e.Reply)
	if len(e.Commits) > 0 {
		fmt.Fprintf(&b, "(commit %s)\n", strings.Join(e.Commits, ", "))
	}
	if e.Stopped {
		b.WriteString("(stopped by the user)\n")
	}
	if e.TakenBack {
		b.WriteString("(taken back by the user)\n")
	}
	return b.String()
}

// String renders what was done in one line.
func (s *Step) String() string {
	line := "$ " + strings.Join(strings.Fields(s.Run), " ")
	if s.File != "" {
		line = "~ " + s.File
	}
	switch {
	case s.Refused:
		line += "  (refused)"
	case s.Outcome == Failed:
		line += "  (failed)"
	}
	if len(s.Commits) > 0 {
		line += "  (commit " + strings.Join(s.Commits, ", ") + ")"
	}
	return line
}

// plainInput is the text of a tool's input, without the signs of JSON.
func plainInput(u *agent.ToolUse) string {
	return strings.NewReplacer(`\n`, "\n", `\"`, `"`, `{`, " ", `}`, " ", `[`, " ", `]`, " ", `"`, "").Replace(string(u.Input))
}
