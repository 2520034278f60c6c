package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
)

// An asker is a model that reads texts together with a question, here or elsewhere.
type asker interface {
	Name() string
	ask(ctx context.Context, question string, texts []string) ([]float64, error)
}

// asker returns the model that was configured, nil when there is none.
func (e *Engine) asker() asker {
	switch {
	case e.models.Local != nil:
		return localAsker{e.models.Local}
	case e.models.Reranker != nil:
		return remoteAsker{e.models.Reranker, e.models.Redactor}
	}
	return nil
}

// A localAsker is a model in this process.
type localAsker struct{ Local }

func (a localAsker) ask(ctx context.Context, question string, texts []string) ([]float64, error) {
	short := make([]string, len(texts))
	for i, text := range texts {
		short[i] = note.CutRunes(text, maxRerankText)
	}
	return a.Rerank(ctx, question, short)
}

// A remoteAsker is a model elsewhere, together with the redactor that everything it gets
// has to pass.
type remoteAsker struct {
	llm.Reranker
	redactor *redact.Redactor
}

func (a remoteAsker) ask(ctx context.Context, question string, texts []string) ([]float64, error) {
	if a.redactor == nil {
		return nil, errNoRedactor
	}
	// One request: what one of the texts gives away is masked in all of them.
	knowing := a.redactor.Knowing(texts...).Knowing(question)
	safe := make([]redact.Text, len(texts))
	for i, text := range texts {
		safe[i] = knowing.Redact(text).Head(maxRerankText)
	}
	return a.Rerank(ctx, knowing.Redact(question), safe)
}

// promptShare is how long a model may take for one part of a prompt: the hook has two
// seconds for everything, and the built-in models answer without it.
const promptShare = 400 * time.Millisecond

// hurry bounds the time of a model for a question at which an agent waits.
func (e *Engine) hurry(ctx context.Context, q Query) (context.Context, context.CancelFunc) {
	if !q.reading {
		return ctx, func() {}
	}
	share := time.Duration(cmp.Or(e.opts.Patience, 1) * float64(promptShare))
	return context.WithTimeoutCause(ctx, share, fmt.Errorf("it was not ready within %v, while an agent waits", share))
}

// rerankBatch is how many hits a model is asked about.
const rerankBatch = 20

// maxRerankText bounds the text of one hit for a model, in characters.
const maxRerankText = 2000

var errNoRedactor = errors.New("what a model elsewhere reads has to be redacted, and there is no redactor")

// askReranker orders the first hits by the logits of a model.
// Those behind them, which it has not read, stay behind them.
func (e *Engine) askReranker(ctx context.Context, m asker, q Query, res *Result, all []*Hit) error {
	hits := all[:min(len(all), rerankBatch)]
	logits, err := e.logits(ctx, m, q, res, hits)
	if err != nil {
		return err
	}
	least := 1.0
	for i, h := range hits {
		h.replaceScore("read by "+m.Name(), sigmoid(logits[i]))
		least = min(least, h.score)
	}
	for _, h := range all[len(hits):] {
		h.replaceScore("not read by "+m.Name(), unread*least*h.score)
	}
	order(all)
	return nil
}

// unread is what a note that the model has not read may come to, against the least of
// those that it has: the boosts, 0.6 to 1.6, must not lift it above them.
const unread = 0.3

// logits returns what a model says of hits, which it is asked once for each question:
// what it said is kept with the answers of the arms.
func (e *Engine) logits(ctx context.Context, m asker, q Query, res *Result, hits []*Hit) ([]float64, error) {
	about := make([]string, len(hits))
	for i, h := range hits {
		about[i] = fmt.Sprintf("%s %x", h.Row.ID, h.Row.Hash)
	}
	key := hashKey("%q %q %q", m.Name(), q.Text, about)
	return modelSaid(ctx, e, q, res, key, func() ([]float64, error) { return e.askLogits(ctx, m, q, hits) })
}

func (e *Engine) askLogits(ctx context.Context, m asker, q Query, hits []*Hit) ([]float64, error) {
	ctx, cancel := e.hurry(ctx, q)
	defer cancel()
	ctx, cancelAll := context.WithTimeout(ctx, time.Duration(e.opts.RerankTimeout*float64(time.Second)))
	defer cancelAll()
	texts := make([]string, len(hits))
	for i, c := range e.index.Contents(ctx, rowsOf(hits)) {
		if c.Err != nil {
			return nil, c.Err
		}
		texts[i] = c.Note.Title + "\n" + note.Whole(c.Note)
	}
	logits, err := m.ask(ctx, q.Text, texts)
	if err != nil {
		return nil, err
	}
	if len(logits) != len(hits) {
		return nil, fmt.Errorf("%d scores for %d texts", len(logits), len(hits))
	}
	for _, l := range logits {
		if math.IsNaN(l) || math.IsInf(l, 0) {
			return nil, errors.New("a score is no number")
		}
	}
	return logits, nil
}
