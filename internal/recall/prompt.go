package recall

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"anamnesis/internal/index"
	"anamnesis/internal/text/smalltalk"
)

// A Plan is what a prompt asks of memory. A prompt mixes what a person says with what
// they paste; each part is a separate question, because a pasted log would drown the
// sentence that stands above it.
type Plan struct {
	Parts  []Part // the most telling last
	Silent string // why nothing is asked; "" when something is

	turn     smalltalk.Turn
	question int             // of what kind
	words    int             // of what was said
	names    []string        // in what was said
	work     []string        // files
	find     func() []string // finds them while the questions are asked; nil when they are known or not wanted
}

// A Part is one question of a plan.
type Part struct {
	Kind PartKind
	Text string
}

// A PartKind says where a part of a plan comes from.
type PartKind string

// The kinds of parts.
const (
	Prose PartKind = "prose"  // what was said, without code and logs
	Names PartKind = "names"  // files, symbols, packages and codes in it
	Fault PartKind = "errors" // lines of a log or a code block that tell an error

	Sense       PartKind = "sense"       // what the words of what was said are about (concepts)
	Translation PartKind = "translation" // likewise for words that are not English
	Work        PartKind = "work"        // the files in work
)

// Bounds of a plan. Of a longer prompt the beginning and the end are read: what is
// asked stands before or behind what was pasted.
const (
	maxPrompt     = 128 << 10 // bytes
	promptTail    = 16 << 10
	maxProse      = 2 << 10
	maxFault      = 300 // of one line
	maxFaults     = 2
	fewPasted     = 3 // lines
	maxNamesAsked = 8
)

// PlanPrompt makes the plan of a prompt. A text that asks nothing has none: a command
// of the agent, an acknowledgement, a path alone, a log that tells no error.
func PlanPrompt(prompt string) Plan {
	if len(prompt) > maxPrompt {
		prompt = prompt[:maxPrompt-promptTail] + "\n" + prompt[len(prompt)-promptTail:]
	}
	prompt = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(prompt, ""), "\x00", ""))
	switch {
	case prompt == "":
		return Plan{Silent: "nothing was said"}
	case prompt[0] == '/' && commandStart.matches(prompt):
		return Plan{Silent: "a command of the agent"}
	case prompt[0] == '!' && !strings.ContainsAny(prompt, "\n"):
		return Plan{Silent: "a command of the shell"}
	}
	prose, faults, pasted := splitPrompt(prompt)
	prose = cutWords(prose, maxProse)
	if !smalltalk.Subject(prose) {
		prose = ""
	}
	p := Plan{turn: smalltalk.TurnOf(prose), question: questionOf(prose), words: len(strings.Fields(prose))}
	switch {
	case pasted:
		p.turn, p.question, p.words = smalltalk.Request, 0, max(p.words, manyWords)
	case p.turn == smalltalk.Correction:
		return Plan{Silent: "a correction of what was done"}
	case p.turn == smalltalk.Reply:
		return Plan{Silent: "a reply to what was proposed"}
	}
	if prose != "" && onlyPaths(prose) {
		return Plan{Silent: "a path alone"}
	}
	p.ask(prose, faults)
	switch {
	case len(p.Parts) > 0:
	case pasted:
		p.Silent = "pasted text without a question or an error"
	default:
		p.Silent = "no subject"
	}
	return p
}

// ask makes the questions of a plan.
func (p *Plan) ask(prose string, faults []string) {
	if prose != "" {
		p.Parts = append(p.Parts, Part{Prose, prose})
		p.names = index.Identifiers(prose, maxNamesAsked)
		if text := strings.Join(p.names, " "); text != "" && text != prose {
			p.Parts = append(p.Parts, Part{Names, text})
		}
		sense, translation := conceptsOf(prose)
		if len(sense) > 0 {
			p.Parts = append(p.Parts, Part{Sense, strings.Join(sense, " ")})
		}
		if len(translation) > 0 {
			p.Parts = append(p.Parts, Part{Translation, strings.Join(translation, " ")})
		}
	}
	for _, f := range faults {
		p.Parts = append(p.Parts, Part{Fault, f})
	}
}

// splitPrompt separates what was said from what was pasted, and takes from the latter
// the last lines that tell an error: the last one is what stopped the program.
func splitPrompt(prompt string) (prose string, faults []string, pasted bool) {
	var said strings.Builder
	fence, last, lines := "", "", 0
	for line := range strings.Lines(prompt) {
		text := strings.TrimSpace(line)
		if mark := text[:min(3, len(text))]; (mark == "```" || mark == "~~~") && (fence == "" || fence == mark) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			pasted = true
			continue
		}
		if fence == "" && !logLine.matches(line) {
			said.WriteString(text)
			said.WriteByte('\n')
			continue
		}
		pasted = true
		lines++
		text = strings.TrimSpace(logStamp.get().ReplaceAllString(text, ""))
		if noFault.matches(text) || calm.matches(text) {
			continue
		}
		last = text
		if faultLine.matches(text) {
			if text = cutWords(text, maxFault); !slices.Contains(faults, text) {
				faults = append(faults, text)
			}
		}
	}
	if len(faults) == 0 && lines <= fewPasted && last != "" { // who pastes a line or two means just these
		faults = append(faults, cutWords(last, maxFault))
	}
	return strings.TrimSpace(said.String()), faults[max(0, len(faults)-maxFaults):], pasted
}

// The forms of a prompt's lines.
var (
	// A command of an agent: a slash, a name, and no second slash, which would make a path.
	commandStart = form{expr: `^/[A-Za-z][\w:.-]*(\s|$)`}
	// A line of logs, stack traces and compilers, where no fence says that they were pasted.
	logLine = form{expr: `^\s*(\[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\[(INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]|` +
		`(INFO|WARN|WARNING|ERROR|DEBUG|FATAL|CRITICAL)[:\s]|at \S+[ (].*[:)]|File ".*", line \d+|goroutine \d+ \[|Traceback \(|` +
		`(?i:error|fatal|panic|warning)(\[\w+\])?: |npm (ERR!|error|warn)|[\w.$]*(Error|Exception): |Caused by: |--- FAIL|FAIL\s|E   |` +
		`[\w./-]+:\d+(:\d+)?:? |\$ |> |[+-]{3} |@@ )`}
	// The time before such a line.
	logStamp = form{expr: `^\[?(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d\S*\s*|^\[?\d{4}-\d\d-\d\d\]?\s*`}
	// A line that tells an error.
	faultLine = form{expr: `(?i)\b(\w*error|\w*exception|fatal|panic|fail(ed|ure)?|denied|refused|not found|cannot|can't|unable|` +
		`undefined|unresolved|timed? ?out|no such|killed|segfault|E[A-Z]{4,}|abort(ed)?)\b`}
	// A line of a log that tells that all is well.
	calm = form{expr: `^(\[)?(INFO|DEBUG|TRACE)\b|^[\W_]*$`}
	// A line that tells that there was no error.
	noFault = form{expr: `(?i)\b(0|no) (errors?|failures?|failed)\b`}

	fileName = form{expr: `^[\w-][\w.-]*\.[A-Za-z]\w{0,7}$`}
)

// A form is a pattern that is compiled when a prompt first needs it: most need one or two,
// and a hook is a separate process.
type form struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func (f *form) get() *regexp.Regexp {
	f.once.Do(func() { f.re = regexp.MustCompile(f.expr) })
	return f.re
}

func (f *form) matches(s string) bool { return f.get().MatchString(s) }

// cutWords cuts a text to at most n bytes, between words where that loses little.
func cutWords(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = strings.ToValidUTF8(s[:n], "")
	if i := strings.LastIndexFunc(s, unicode.IsSpace); i > n/2 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// onlyPaths reports whether a text is nothing but paths: an agent is shown a file by
// that, and asked nothing.
func onlyPaths(s string) bool {
	for _, word := range strings.Fields(s) {
		word = strings.TrimPrefix(strings.Trim(word, "'\"`,"), "@")
		if !strings.ContainsAny(word, `/\`) && !(strings.Contains(word, ".") && fileName.matches(word)) {
			return false
		}
	}
	return true
}
