package recall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/llm"
	"anamnesis/internal/redact"
)

// reranked is how many hits are read together with the question. What stands
// behind them keeps its order.
const reranked = 100

// readAtPrompts is how many are read for one part of a prompt: the notes of a dozen are
// judged further, and an agent waits.
const readAtPrompts = 40

// rerank reads the best hits together with the question and orders them by
// what that says (R2): the built-in reader, or a model that was configured.
// A model that fails, or takes too long, leaves the order of the built-in one.
func (e *Engine) rerank(ctx context.Context, q Query, hits []*Hit, res *Result) []*Hit {
	if !e.opts.Rerank || len(hits) == 0 {
		return hits
	}
	most := reranked
	if q.reading {
		most = readAtPrompts
	}
	head, rest := hits[:min(len(hits), most)], hits[min(len(hits), most):]
	head = e.read(ctx, q, head, res)
	e.scoreHits(ctx, q, head, res)
	res.Reranker = "built-in"
	if m := e.models.Reranker; m != nil {
		if err := e.askReranker(ctx, m, q, res, head); err != nil {
			res.Failed = append(res.Failed, fmt.Sprintf("reranker %s: %v; the built-in one was used", m.Name(), err))
		} else {
			res.Reranker = m.Name()
		}
	}
	least := head[len(head)-1].score
	for _, h := range rest {
		h.replaceScore("not read", least*h.score*1e-3)
	}
	hits = slices.Concat(head, rest)
	for _, h := range hits {
		h.base = h.score
	}
	return hits
}

// scoreHits gives hits the score of their features. The best one's says
// how sure we are that it answers: one half stands where questions begin that
// are none of this store's business, so that scores of two questions, and of
// two stores, can be compared. The others stand behind it as far as their
// features do.
func (e *Engine) scoreHits(ctx context.Context, q Query, hits []*Hit, res *Result) {
	c := e.calibration(ctx, q)
	best := math.Inf(-1)
	for _, h := range hits {
		best = max(best, h.features.sum())
	}
	top := (toScore.of(hits, res) - c.Middle) / signalScale
	for _, h := range hits {
		logit := top + (h.features.sum()-best)/sumScale
		h.replaceScore("read with the question", sigmoid(max(-maxLogit, min(maxLogit, logit))))
	}
	order(hits)
}

const (
	maxLogit    = 8
	signalScale = 3.5
	sumScale    = 2.1
)

// read fills in the features of hits, and adds the notes that were written in
// the same second as the best of them.
func (e *Engine) read(ctx context.Context, q Query, hits []*Hit, res *Result) []*Hit {
	if len(res.Terms) == 0 { // the lexical arm was not asked
		if m, err := e.index.Ask(ctx, q.Text, e.filter(q), 1); err == nil {
			res.Terms = m.Terms
		}
	}
	m := index.Matches{Terms: res.Terms, Statistics: res.statistics}
	if m.Statistics.Passages == 0 {
		st, err := e.index.Statistics(ctx)
		if err != nil {
			res.Failed = append(res.Failed, fmt.Sprintf("rerank: %v", err))
			return hits
		}
		m.Statistics = st
	}
	res.weighed = e.weigh(m.Terms, m.Statistics.Passages)
	model, question, err := e.question(ctx, q, res, q.Text)
	if err != nil && !errors.Is(err, index.ErrNoModel) {
		res.Failed = append(res.Failed, fmt.Sprintf("rerank: %v", err))
	}
	table, _ := e.tables.Get().(*tokenTable)
	if table == nil {
		table = newTokenTable()
	}
	defer func() {
		table.clear()
		e.tables.Put(table)
	}()
	r := newReader(newScorer(e.opts, m, e.models.Words, table), q.Text, question, index.VectorModel(model))
	for _, h := range hits {
		r.read(h)
	}
	r.addProximity(hits)
	r.addCoverage(hits)
	r.addWording(hits)
	feedback(hits)
	added, err := e.findNeighbours(ctx, q, hits, r)
	if err != nil {
		res.Failed = append(res.Failed, fmt.Sprintf("rerank: %v", err))
	}
	return append(hits, added...)
}

// feedbackHits is how many of the best hits say what a good hit looks like.
const feedbackHits = 4

// feedback compares hits with the mean of the best (Rocchio: Relevance
// Feedback in Information Retrieval, 1971, here on vectors and without asking
// anybody): what an answer is about is told better by answers than by questions.
func feedback(hits []*Hit) {
	best := bySum(hits)
	var mean []float32
	for rank, h := range best[:min(len(best), feedbackHits)] {
		for d, x := range h.vector.Values() {
			if len(mean) <= d {
				mean = append(mean, 0)
			}
			mean[d] += float32(x) * h.vector.Scale() / float32(rank+1)
		}
	}
	sum := 0.0
	for _, x := range mean {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	for d := range mean {
		mean[d] /= float32(math.Sqrt(sum))
	}
	for _, h := range hits {
		h.features[fFeedback] = max(0, h.vector.Cosine(mean))
	}
}

// bySum returns hits by the sum of their features, the greatest first.
func bySum(hits []*Hit) []*Hit {
	sums := make(map[*Hit]float64, len(hits))
	for _, h := range hits {
		sums[h] = h.features.sum()
	}
	sorted := slices.Clone(hits)
	slices.SortStableFunc(sorted, func(a, b *Hit) int { return cmp.Compare(sums[b], sums[a]) })
	return sorted
}

// rerankBatch is how many hits a model is asked about.
const rerankBatch = 20

// maxRerankText bounds the text of one hit for a model, in characters.
const maxRerankText = 2000

var errNoRedactor = errors.New("what a model elsewhere reads has to be redacted, and there is no redactor")

// askReranker orders the first hits by the logits of a model.
// Those behind them, which it has not read, stay behind them.
func (e *Engine) askReranker(ctx context.Context, m llm.Reranker, q Query, res *Result, all []*Hit) error {
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
func (e *Engine) logits(ctx context.Context, m llm.Reranker, q Query, res *Result, hits []*Hit) ([]float64, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%d %s\n", m.Name(), len(q.Text), q.Text)
	for _, hit := range hits {
		fmt.Fprintf(h, "%s %x\n", hit.Row.ID, hit.Row.Hash)
	}
	key := hex.EncodeToString(h.Sum(nil)[:16])
	if kept := e.keptNumbers(ctx, q, res, logitsKind, key); len(kept) == len(hits) {
		return kept, nil
	}
	got, err := e.askLogits(ctx, m, q, hits)
	if err == nil {
		e.keepNumbers(ctx, q, res, logitsKind, key, got)
	}
	return got, err
}

func (e *Engine) askLogits(ctx context.Context, m llm.Reranker, q Query, hits []*Hit) ([]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(e.opts.RerankTimeout*float64(time.Second)))
	defer cancel()
	question, texts := q.Text, make([]string, len(hits))
	for i, c := range e.index.Contents(ctx, rowsOf(hits)) {
		if c.Err != nil {
			return nil, c.Err
		}
		n := c.Note
		texts[i] = n.Title + "\n" + n.Rule + "\n" + n.KeyInsight + "\n" + n.Body
	}
	if e.models.Redactor == nil {
		return nil, errNoRedactor
	}
	// One request: what one of the texts gives away is masked in all of them.
	knowing := e.models.Redactor.Knowing(texts...).Knowing(question)
	safe := make([]redact.Text, len(texts))
	for i, text := range texts {
		safe[i] = knowing.Redact(text).Head(maxRerankText)
	}
	logits, err := m.Rerank(ctx, knowing.Redact(question), safe)
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

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
