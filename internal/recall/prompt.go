package recall

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/smalltalk"
)

// A Plan is what a prompt asks of memory. A prompt mixes what a person says with what
// they paste; each part is a question of its own, because a pasted log would drown the
// sentence that stands above it.
type Plan struct {
	Parts  []Part // the most telling last
	Silent string // why nothing is asked; "" when something is
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
)

// Bounds of a plan. Of a longer prompt the beginning and the end are read: what is
// asked stands before or behind what was pasted.
const (
	maxPrompt     = 128 << 10 // bytes
	promptTail    = 16 << 10
	maxProse      = 2 << 10
	maxFault      = 300 // of one line
	maxFaults     = 2
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
	case forms().commandStart.MatchString(prompt):
		return Plan{Silent: "a command of the agent"}
	case prompt[0] == '!' && !strings.ContainsAny(prompt, "\n"):
		return Plan{Silent: "a command of the shell"}
	}
	prose, faults, pasted := splitPrompt(prompt)
	prose = cutWords(prose, maxProse)
	if !smalltalk.Subject(prose) {
		prose = ""
	}
	if prose != "" && onlyPaths(prose) {
		return Plan{Silent: "a path alone"}
	}
	var p Plan
	if prose != "" {
		p.Parts = append(p.Parts, Part{Prose, prose})
	}
	names := index.Identifiers(prose, maxNamesAsked)
	if text := strings.Join(names, " "); text != "" && text != prose {
		p.Parts = append(p.Parts, Part{Names, text})
	}
	for _, f := range faults {
		p.Parts = append(p.Parts, Part{Fault, f})
	}
	switch {
	case len(p.Parts) > 0:
	case pasted:
		p.Silent = "pasted text without a question or an error"
	default:
		p.Silent = "no subject of its own"
	}
	return p
}

// splitPrompt separates what was said from what was pasted, and takes from the latter
// the last lines that tell an error: the last one is what stopped the program.
func splitPrompt(prompt string) (prose string, faults []string, pasted bool) {
	var said strings.Builder
	f, fence := forms(), ""
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
		if fence == "" && !f.logLine.MatchString(line) {
			said.WriteString(text)
			said.WriteByte('\n')
			continue
		}
		pasted = true
		if text = strings.TrimSpace(f.logStamp.ReplaceAllString(text, "")); f.faultLine.MatchString(text) && !f.noFault.MatchString(text) {
			if text = cutWords(text, maxFault); !slices.Contains(faults, text) {
				faults = append(faults, text)
			}
		}
	}
	return strings.TrimSpace(said.String()), faults[max(0, len(faults)-maxFaults):], pasted
}

// forms are the patterns of a plan; most processes never make one.
var forms = sync.OnceValue(func() *promptForms {
	return &promptForms{
		commandStart: regexp.MustCompile(`^/[A-Za-z][\w:.-]*(\s|$)`),
		logLine: regexp.MustCompile(`^\s*(\[?\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d|\[(INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]|` +
			`(INFO|WARN|WARNING|ERROR|DEBUG|FATAL|CRITICAL)[:\s]|at \S+[ (].*[:)]|File ".*", line \d+|goroutine \d+ \[|Traceback \(|` +
			`(?i:error|fatal|panic|warning)(\[\w+\])?: |npm (ERR!|error|warn)|[\w.$]*(Error|Exception): |Caused by: |--- FAIL|FAIL\s|E   |` +
			`[\w./-]+:\d+(:\d+)?:? |\$ |> |[+-]{3} |@@ )`),
		logStamp: regexp.MustCompile(`^\[?(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d\S*\s*|^\[?\d{4}-\d\d-\d\d\]?\s*`),
		faultLine: regexp.MustCompile(`(?i)\b(\w*error|\w*exception|fatal|panic|fail(ed|ure)?|denied|refused|not found|cannot|can't|unable|` +
			`undefined|unresolved|timed? ?out|no such|killed|segfault|E[A-Z]{4,}|abort(ed)?)\b`),
		noFault:  regexp.MustCompile(`(?i)\b(0|no) (errors?|failures?|failed)\b`),
		fileName: regexp.MustCompile(`^[\w-][\w.-]*\.[A-Za-z]\w{0,7}$`),
	}
})

type promptForms struct {
	commandStart *regexp.Regexp // of a command of an agent: a slash, a name, and no second slash, which would make a path
	logLine      *regexp.Regexp // of logs, stack traces and compilers, where no fence says that they were pasted
	logStamp     *regexp.Regexp // the time before such a line
	faultLine    *regexp.Regexp // that tells an error
	noFault      *regexp.Regexp // that tells that there was none
	fileName     *regexp.Regexp
}

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
		if !strings.ContainsAny(word, `/\`) && !forms().fileName.MatchString(word) {
			return false
		}
	}
	return true
}

// An Advice is what memory has to say to a prompt: hits of all parts of its plan that
// the gate lets through, the most certain first. It may be empty.
type Advice struct {
	Hits []*Hit
	Held []Refusal // parts without an answer, and hits that are too weak
}

// A Refusal says why a part of a plan has no answer.
type Refusal struct {
	Part Part
	Near note.ID // the note that came nearest; "" when there was none
	Why  string
}

// kindWeight is what a part of a plan counts when hits are ordered: who names a file or
// pastes an error is told of these before anything else.
var kindWeight = map[PartKind]float64{Prose: 1, Names: 1.2, Fault: 1.3}

// Advise asks the parts of a plan. q says everything of the questions but the text.
// Nobody waits for an answer: the questions are always gated, leave no gap, and nothing
// is remembered of them.
func (e *Engine) Advise(ctx context.Context, q Query, p Plan) (Advice, error) {
	q.Gate, q.Synthetic, q.NoCache = true, true, true
	type vote struct {
		hit   *Hit
		score float64
	}
	var a Advice
	votes := make(map[note.ID]*vote)
	var order []note.ID
	for _, part := range p.Parts {
		q.Text = part.Text
		res, err := e.Recall(ctx, q)
		if err != nil {
			return a, err
		}
		if len(res.Hits) == 0 {
			a.Held = append(a.Held, refusal(part, res))
			continue
		}
		due := res.due()
		for i, h := range res.Hits {
			if signal := res.signalOf(h); signal < due {
				a.Held = append(a.Held, Refusal{part, h.Row.ID, fmt.Sprintf("relevance %.1f, of %.1f that are due", signal, due)})
				continue
			}
			v := votes[h.Row.ID]
			if v == nil {
				v = &vote{hit: h}
				votes[h.Row.ID] = v
				order = append(order, h.Row.ID)
			}
			v.score += kindWeight[part.Kind] / float64(rrfK+i+1)
		}
	}
	slices.SortStableFunc(order, func(x, y note.ID) int { return cmp.Compare(votes[y].score, votes[x].score) })
	for _, id := range order {
		a.Hits = append(a.Hits, votes[id].hit)
	}
	return a, nil
}

// due is the relevance from which on a hit is told at a prompt: in the middle between
// what opens the gate and the best hit. Who asks reads a list and can pass over what is
// weak in it; a prompt is told.
func (r *Result) due() float64 {
	if r.Gate == nil {
		return 0
	}
	best := r.Gate.Threshold
	for _, h := range r.Hits {
		best = max(best, r.signalOf(h))
	}
	return (r.Gate.Threshold + best) / 2
}

// signalOf is the gate's signal of a hit as if it were the only one.
func (r *Result) signalOf(h *Hit) float64 {
	switch {
	case r.Gate == nil:
		return 0
	case r.Gate.Kind == "overlap":
		return h.Coverage
	}
	return toOpen.of([]*Hit{h}, r)
}

func refusal(part Part, res *Result) Refusal {
	r := Refusal{Part: part, Near: res.Near, Why: "no note is near"}
	if res.Gate != nil {
		r.Why = res.Gate.Reason
	}
	return r
}
