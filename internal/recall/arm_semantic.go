package recall

import (
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/redact"
)

// semantic finds notes whose passages mean something like the question: by the
// cosine of their vectors. Passages are embedded, not whole notes, because a
// note about five things is near to none of them.
func (e *Engine) semantic(ctx context.Context, q Query, res *Result, _ []list) ([]*Hit, error) {
	text := q.Text
	if e.expands(q) {
		answer, err := e.models.Expand(ctx, e.redact(q.Text))
		if err != nil {
			res.Failed = append(res.Failed, fmt.Sprintf("hyde: %v; the question was used unchanged", err))
		} else {
			text += "\n" + answer
		}
	}
	model, question, err := e.question(ctx, q, res, text)
	if err != nil {
		return nil, err
	}
	if err := e.strangeVectors(ctx, model, question); err != nil {
		res.Failed = append(res.Failed, fmt.Sprintf("semantic: %v", err))
	}
	if question == nil { // no word that the model knows
		return nil, nil
	}
	near, err := e.index.Nearest(ctx, model, question, e.filter(q), q.pool(), leastCosine)
	if err != nil {
		return nil, err
	}
	if len(near) == 0 {
		if some, err := e.index.Embedded(ctx, model); err != nil {
			return nil, err
		} else if !some { // then, and only then, it is worth counting
			if res.WithoutVector, res.Passages, err = e.index.Waiting(ctx); err != nil {
				return nil, err
			}
		}
	}
	near = slices.DeleteFunc(near, func(c index.Candidate) bool { return c.Vector.Cosine(question) < leastCosine })
	hits := gather(near, q.pool(), func(c *index.Candidate) float64 { return c.Vector.Cosine(question) })
	if hits, err = e.fillRows(ctx, hits); err != nil {
		return nil, err
	}
	put := question // as the question was put
	if text != q.Text {
		if _, put, err = e.question(ctx, q, res, q.Text); err != nil {
			return nil, err
		}
	}
	for i, h := range hits {
		for j := range h.passages {
			h.Cosine = max(h.Cosine, h.passages[j].Vector.Cosine(put))
		}
		h.Found = map[string]Found{"semantic": {
			Rank: i + 1, Score: h.score, Norm: max(0, min(1, (h.score-0.2)/0.8)),
			Why: fmt.Sprintf("cosine %.2f", h.score),
		}}
		h.Reasons = []Reason{{"meaning", h.score}}
	}
	return hits, nil
}

// expands reports whether the semantic arm asks with an invented answer (HyDE).
func (e *Engine) expands(q Query) bool { return e.opts.HyDE && e.models.Expand != nil && !q.asPut }

// leastCosine is how near a passage must be to be found: below it all texts of
// one language are alike.
const leastCosine = 0.25

// redact makes a text fit to leave the machine.
func (e *Engine) redact(text string) redact.Text {
	if e.models.Redactor == nil {
		return redact.Text{}
	}
	return e.models.Redactor.Redact(text)
}

// question returns the unit vector of a text, as Index.Question does. What a model
// said that takes its time is kept. Where an agent waits, a model that is late is not
// asked again for the same question.
func (e *Engine) question(ctx context.Context, q Query, res *Result, text string) (model string, unit []float32, err error) {
	if !e.index.Deferred() {
		return e.index.Question(ctx, text)
	}
	model = e.index.Model()
	if res.late != nil {
		return model, nil, res.late
	}
	ctx, cancel := e.hurry(ctx, q)
	defer cancel()
	unit, err = modelSaid(ctx, e, q, res, hashKey("%s\n%s", model, text), func() (said []float32, err error) {
		model, said, err = e.index.Question(ctx, text)
		return said, err
	})
	if err != nil && q.reading {
		res.late = err
	}
	return model, unit, err
}

// strangeVectors says why the vectors of a model elsewhere cannot be compared with
// those of the notes: it answers with zeros, or with another number of dimensions
// than it had. Such a model finds nothing, or not all, and does not say so.
func (e *Engine) strangeVectors(ctx context.Context, model string, question []float32) error {
	if !e.index.Remote() {
		return nil
	}
	if len(question) == 0 {
		return fmt.Errorf("%s answers with a vector of zeros: nothing is found by its meaning; look at the model server", model)
	}
	dims, err := e.index.Dimensions(ctx, model)
	if err != nil {
		return err
	}
	for dim, passages := range dims {
		if dim != len(question) {
			return fmt.Errorf("%s answers with %d dimensions, and the vectors of %d passages have %d, which are not found by their meaning; "+
				"`anamnesis doctor reindex` and `anamnesis doctor drain` rebuild both", model, len(question), passages, dim)
		}
	}
	return nil
}
