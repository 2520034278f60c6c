// Package doctor looks over the whole installation: the program, the hooks, the
// files, the index, the sync. It is a list of checks (Checks), each with an id,
// a state, its evidence and a next step, over a Target that somebody wires.
//
// It keeps nothing and changes nothing. A check only reads, what it reads is
// bounded in size and time, and what it says is free of secrets and of
// characters that a terminal obeys. What mends is a Plan, which its caller shows
// before carrying it out.
//
// Failure policy: a check that fails, panics or hangs is a result like another
// and stops no other. A check that lacks what it has to look at is Skipped and
// says so; one that ran out of time says how far it came. A lock is tried for
// less than a millisecond and never kept.
package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A State says how a check found its subject.
type State string

// The states. All but OK come with a next step.
const (
	OK      State = "ok"
	Info    State = "info"    // worth knowing, nothing to do at once
	Warn    State = "warn"    // something does not work as it should
	Bad     State = "bad"     // memory is not shown, not kept, or not safe
	Skipped State = "skipped" // could not be looked at
)

// A Result is what a check found.
type Result struct {
	ID       string
	Title    string
	State    State
	Evidence []string      // lines for people, without secrets
	Next     string        // one command or sentence; "" when there is nothing to do
	Took     time.Duration // how long the check ran
}

// MarshalJSON writes the members id, title, state, evidence (a list, never
// null), next and took_ms.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ID       string   `json:"id"`
		Title    string   `json:"title"`
		State    State    `json:"state"`
		Evidence []string `json:"evidence"`
		Next     string   `json:"next"`
		Took     float64  `json:"took_ms"`
	}{r.ID, r.Title, r.State, append([]string{}, r.Evidence...), r.Next, float64(r.Took.Microseconds()) / 1000})
}

const (
	workers      = 4                // checks that run at once: most of them wait for the disk or a child
	checkLimit   = 3 * time.Second  // of one check when all run
	aloneLimit   = 60 * time.Second // of one check that was asked for by name
	searchBudget = 150 * time.Millisecond
	aloneBudget  = 50 * time.Second // of a check that looks into every note
)

// Examine runs the checks, or only those with the given ids, and returns their
// results in the order of Checks. Checks that are asked for by name take their
// time: they look at everything. An id that names no check is a Skipped result.
func Examine(ctx context.Context, p *Target, only []string) []Result {
	return examine(ctx, p, Checks, only)
}

func examine(ctx context.Context, p *Target, checks []Check, only []string) []Result {
	q := *p
	q.shared = newShared(&q)
	limit, budget := checkLimit, searchBudget
	if len(only) > 0 {
		limit, budget = aloneLimit, aloneBudget
	}
	limit, q.budget = p.wait(limit), p.wait(budget)
	if p.Limit > 0 {
		limit = p.Limit
	}
	var chosen []Check
	for _, c := range checks {
		if len(only) == 0 || slices.Contains(only, c.ID) {
			chosen = append(chosen, c)
		}
	}
	results := make([]Result, len(chosen))
	turns := make(chan struct{}, workers)
	done := make(chan struct{})
	go func() {
		for _, i := range startOrder(chosen) {
			turns <- struct{}{}
			go func() {
				results[i] = q.run(ctx, chosen[i], limit)
				<-turns
				done <- struct{}{}
			}()
		}
	}()
	for range chosen {
		<-done
	}
	return slices.Concat(results, unknown(checks, only))
}

// wait returns how long to wait where d is usual.
func (p *Target) wait(d time.Duration) time.Duration {
	return time.Duration(float64(d) * cmp.Or(p.Patience, 1))
}

// slowest lists the checks that are started first, so that no long one is left
// over at the end.
var slowest = []string{"sync", "secrets", "index", "links", "leftovers"}

// startOrder returns the positions of the checks in the order of their starts.
func startOrder(checks []Check) []int {
	rank := func(i int) int {
		if at := slices.Index(slowest, checks[i].ID); at >= 0 {
			return at
		}
		return len(slowest)
	}
	order := make([]int, len(checks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return order
}

// unknown makes a result of every id that names no check.
func unknown(checks []Check, only []string) (results []Result) {
	for _, id := range only {
		if !slices.ContainsFunc(checks, func(c Check) bool { return c.ID == id }) {
			results = append(results, Result{
				ID: clean(id, 60), Title: "Unknown check", State: Skipped, Evidence: []string{"there is no check with this id"},
				Next: "`anamnesis doctor` lists all checks with their ids",
			})
		}
	}
	return results
}

// run runs one check in a separate goroutine, so that one that hangs is left
// behind and does not hold up the others.
func (p *Target) run(ctx context.Context, c Check, limit time.Duration) Result {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	answer := make(chan Result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				answer <- Result{
					State: Bad, Evidence: []string{fmt.Sprintf("the check itself failed: %v", r)},
					Next: "this is a mistake in anamnesis; please report it with this line",
				}
			}
		}()
		answer <- c.Run(ctx, p)
	}()
	var r Result
	select {
	case r = <-answer:
	case <-ctx.Done():
		select {
		case r = <-answer: // it noticed
		case <-time.After(p.wait(grace)):
			r = Result{
				State: Skipped, Evidence: []string{fmt.Sprintf("gave no answer within %v", limit)},
				Next: "`anamnesis doctor --only " + c.ID + "` gives it more time",
			}
		}
	}
	r.ID, r.Title, r.Took = c.ID, c.Title, time.Since(began)
	return p.presentable(r)
}

// grace is how long a check that heard of its deadline may take to say so.
const grace = 100 * time.Millisecond

// Bounds of what a check says.
const (
	maxLines = 12
	maxLine  = 400 // characters
)

// presentable bounds and cleans what a check says, whatever it has read.
func (p *Target) presentable(r Result) Result {
	lines := r.Evidence
	r.Evidence = nil
	for i, line := range lines {
		if i == maxLines-1 && len(lines) > maxLines {
			r.Evidence = append(r.Evidence, fmt.Sprintf("and %d more", len(lines)-i))
			break
		}
		r.Evidence = append(r.Evidence, p.safe(line))
	}
	if r.Next = p.safe(r.Next); r.State == OK {
		r.Next = ""
	}
	return r
}

func (p *Target) safe(line string) string {
	line = clean(line, 4*maxLine)
	if p.Redactor != nil { // before it is cut: half a token looks like none
		line = p.Redactor.Redact(line).String()
	}
	return clean(line, maxLine)
}

// clean makes one printable line of at most limit characters.
func clean(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		if !unicode.IsGraphic(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// ok, info, warn, bad and skip make results.
func ok(evidence ...string) Result { return Result{State: OK, Evidence: evidence} }

func info(next string, evidence ...string) Result {
	return Result{State: Info, Evidence: evidence, Next: next}
}

func warn(next string, evidence ...string) Result {
	return Result{State: Warn, Evidence: evidence, Next: next}
}

func bad(next string, evidence ...string) Result {
	return Result{State: Bad, Evidence: evidence, Next: next}
}

func skip(why string) Result {
	return Result{State: Skipped, Evidence: []string{why}, Next: "nothing to do unless you expected it to be there"}
}
