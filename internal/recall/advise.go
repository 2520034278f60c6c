package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/note"
)

// An Advice is what memory has to say to a prompt: hits of all parts of its plan that
// are certain enough, the most certain first. It may be empty.
type Advice struct {
	Parts []Part // that were asked, those too that only asking brought up
	Hits  []Advised
	Held  []Refusal // parts without an answer, and hits that are too weak
}

// An Advised is a note that answers a prompt.
type Advised struct {
	*Hit
	Certainty float64 // that the note is wanted, above 0; +Inf where no signal of the gate says it
	Named     bool    // the prompt names it: a file, a symbol or the text of an error stands in both
	InWork    bool    // it is about a file in work
}

// A Refusal says why a part of a plan has no answer.
type Refusal struct {
	Part Part
	Near note.ID // the note that came nearest; "" when there was none
	Why  string
}

// Advise asks the parts of a plan. q says everything of the questions but the text.
// Nobody waits for an answer: the questions leave no gap, and nothing is remembered of
// them. A note is shown by what all parts together say of it.
func (e *Engine) Advise(ctx context.Context, q Query, p Plan) (Advice, error) {
	q.Gate, q.Synthetic, q.NoCache, q.reading = true, true, true, true
	q.NoMMR = true // a note is judged by its own evidence, whatever stands beside it
	var a Advice
	results, p, err := e.askParts(ctx, q, p)
	if err != nil {
		return a, err
	}
	a.Parts = p.Parts
	seen := make(map[note.ID]*evidence)
	for i, part := range p.Parts {
		res := results[i]
		if res.Gate == nil || res.Gate.Kind == fixedGate || len(res.Hits) == 0 {
			a.takeOpen(part, res)
			continue
		}
		for _, h := range res.Hits {
			v := seen[h.Row.ID]
			if v == nil {
				v = newEvidence(h, part)
				seen[h.Row.ID] = v
			}
			v.add(part, h, res, e)
		}
	}
	for _, v := range certain(seen, p) {
		if v.certainty > 0 {
			a.Hits = append(a.Hits, Advised{v.hit, v.certainty, v.named(p), v.anchor > 0})
			continue
		}
		a.Held = append(a.Held, Refusal{v.part, v.hit.Row.ID, fmt.Sprintf("certainty %.1f, above 0 is due", v.certainty)})
	}
	return a, nil
}

// askParts asks all parts of a plan at once, and looks at the same time for the files in work,
// whose part comes last.
func (e *Engine) askParts(ctx context.Context, q Query, p Plan) ([]*Result, Plan, error) {
	results, errs := make([]*Result, len(p.Parts)+1), make([]error, len(p.Parts)+1)
	plan := p
	var all sync.WaitGroup
	ask := func(i int, part Part) {
		q := q
		if q.Text = part.Text; part.Kind == Translation {
			q.Text = e.withKnown(ctx, q, plan, part.Text)
		}
		results[i], errs[i] = e.Recall(ctx, q)
	}
	for i, part := range p.Parts {
		all.Go(func() { ask(i, part) })
	}
	known := len(p.Parts)
	if p.find != nil {
		if p = p.InWork(p.find()); len(p.Parts) > known {
			ask(known, p.Parts[known])
		}
	}
	all.Wait()
	return results[:len(p.Parts)], p, errors.Join(errs...)
}

// withKnown adds to the words of a translation those words of the prompt that notes
// have: names, commands and loan words are the same in all languages.
func (e *Engine) withKnown(ctx context.Context, q Query, p Plan, text string) string {
	words := strings.Fields(text)
	m, err := e.index.Ask(ctx, p.Parts[0].Text, e.filter(q), 1)
	if err != nil {
		return text
	}
	for _, t := range m.Terms {
		if t.Frequency > 0 && len(t.Token) > 2 && !slices.Contains(words, t.Token) {
			words = append(words, t.Token)
		}
	}
	return strings.Join(words, " ")
}

// takeOpen takes the answer to a part where no signal of the gate says how certain it
// is: the gate is off, or a fixed one.
func (a *Advice) takeOpen(part Part, res *Result) {
	if len(res.Hits) == 0 || res.Gate != nil && !res.Gate.Open {
		a.Held = append(a.Held, refusal(part, res))
		return
	}
	for _, h := range res.Hits {
		if res.Gate != nil && h.Coverage < res.Gate.Threshold {
			continue
		}
		named := part.Kind == Names || part.Kind == Fault
		if i := slices.IndexFunc(a.Hits, func(o Advised) bool { return o.Row.ID == h.Row.ID }); i >= 0 {
			a.Hits[i].Named = a.Hits[i].Named || named
			continue
		}
		a.Hits = append(a.Hits, Advised{h, math.Inf(1), named, false})
	}
}

func refusal(part Part, res *Result) Refusal {
	r := Refusal{Part: part, Near: res.Near, Why: "no note is near"}
	if res.Gate != nil {
		r.Why = res.Gate.Reason
	}
	return r
}

// certain works out how certain each note is, and returns them in that order.
func certain(seen map[note.ID]*evidence, p Plan) []*evidence {
	all := make([]*evidence, 0, len(seen))
	for _, v := range seen {
		all = append(all, v)
	}
	slices.SortFunc(all, func(x, y *evidence) int {
		return cmp.Or(cmp.Compare(y.signal, x.signal), cmp.Compare(x.hit.Row.ID, y.hit.Row.ID))
	})
	work := Action{Files: p.work}.names()
	for i, v := range all {
		other := math.Inf(-1)
		switch {
		case i > 0:
			other = all[0].signal
		case len(all) > 1:
			other = all[1].signal
		}
		v.weigh(other, p, &work)
	}
	slices.SortStableFunc(all, func(x, y *evidence) int { return cmp.Compare(y.certainty, x.certainty) })
	return all
}
