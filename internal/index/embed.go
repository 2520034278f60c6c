package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/llm"
	"anamnesis/internal/redact"
)

// An Embedding says how text becomes vectors. The zero value makes none.
type Embedding struct {
	Local embed.Embedder // a model in this process
	// Remote is a model elsewhere. It takes the place of Local when it is set,
	// and gets nothing that Redact has not passed, so that is needed as well.
	Remote *llm.Embedder
	Redact func(string) redact.Text
}

// embedder returns the one that makes the vectors, nil when there is none.
func (e Embedding) embedder() embed.Embedder {
	if e.Remote != nil {
		return remoteEmbedder{e.Remote, e.Redact}
	}
	return e.Local
}

// atOnce returns the embedder if it makes vectors of tokens while a note is
// indexed, else nil: vectors are then made by EmbedMissing.
func (ix *Index) atOnce() *embed.Static {
	static, _ := ix.embedder.(*embed.Static)
	return static
}

// Model names the model that this index searches with, "" when there is none.
func (ix *Index) Model() string {
	if ix.embedder == nil {
		return ""
	}
	return ix.embedder.Name()
}

// Remote reports whether the model is elsewhere.
func (ix *Index) Remote() bool { return ix.embedder != nil && ix.embedder.Traits().Leaves }

// Deferred reports whether the model takes its time, here or elsewhere: a background run
// makes the vectors of notes, and who waits for an answer asks with a deadline.
func (ix *Index) Deferred() bool { return ix.embedder != nil && ix.embedder.Traits().Deferred }

// ErrNoModel says that there is nothing that makes vectors.
var ErrNoModel = errors.New("no embedding model")

// Question returns the unit vector of a question and the model that made it,
// nil when the model knows none of its words.
func (ix *Index) Question(ctx context.Context, text string) (model string, unit []float32, err error) {
	if ix.embedder == nil {
		return "", nil, ErrNoModel
	}
	if e := ix.atOnce(); e != nil {
		stem := acquireStemmer()
		defer stem.release()
		unit, _ = normalize(e.Tokens(tokens(text, false, stem)))
	} else {
		unit, err = ix.askModel(ctx, text)
	}
	return ix.Model(), unit, err
}

// normalize makes a unit vector. A vector of zeros is none.
func normalize(v []float32) ([]float32, error) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, errors.New("the model gave a vector that is not made of numbers")
	}
	if sum == 0 {
		return nil, nil
	}
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return unit, nil
}

// embed gives the passages of an entry their vectors, if that goes at once.
func (ix *Index) embed(e *Entry) {
	model := ix.atOnce()
	if model == nil {
		return
	}
	for i := range e.Passages {
		p := &e.Passages[i]
		var all []string
		for _, f := range p.Fields {
			all = append(all, f...)
		}
		p.Model, p.Vector = model.Name(), Quantize(model.Tokens(all))
	}
}

// embedBatch is how many passages are sent to a model at once.
const embedBatch = 32

// An EmbedReport says how far the vectors of a model are.
type EmbedReport struct {
	Model string
	Done  int // by this run
	Left  int // passages without a vector
	All   int
}

// EmbedMissing gives vectors to passages that have none of the present model,
// the newest notes first, until the budget is spent (0 means no end). It is
// what follows a change of the model, and what a deferred one always needs.
func (ix *Index) EmbedMissing(ctx context.Context, budget time.Duration, progress func(done, total int)) (EmbedReport, error) {
	rep, err := ix.embedMissing(ctx, budget, progress)
	if rep.Done > 0 && ctx.Err() == nil {
		err = errors.Join(err, ix.Tidy(ctx))
	}
	return rep, err
}

func (ix *Index) embedMissing(ctx context.Context, budget time.Duration, progress func(done, total int)) (rep EmbedReport, err error) {
	rep.Model = ix.Model()
	if rep.Model == "" {
		return rep, nil
	}
	began := time.Now()
	for {
		todo, left, all, err := ix.Unembedded(ctx, rep.Model, 8*embedBatch)
		rep.Left, rep.All = left, all
		if err != nil || len(todo) == 0 || budget > 0 && time.Since(began) > budget || ctx.Err() != nil {
			return rep, errors.Join(err, ctx.Err())
		}
		done := 0
		for at := 0; at < len(todo); at += embedBatch {
			n, err := ix.embedSome(ctx, todo[at:min(at+embedBatch, len(todo))])
			done += n
			rep.Done += n
			rep.Left -= n
			if err != nil && (rep.Done == 0 || !refuses(err)) {
				return rep, fmt.Errorf("embed notes: %w", err)
			}
			if progress != nil {
				progress(rep.Done, rep.Done+rep.Left)
			}
			if ix.atOnce() == nil && budget > 0 && time.Since(began) > budget {
				return rep, nil
			}
		}
		if done == 0 { // what is left has no words that the model knows
			return rep, nil
		}
	}
}

// Waiting counts the passages that EmbedMissing would give a vector, and all of
// them. A model that is not deferred makes vectors when a note is indexed, so only
// a change of the model leaves notes waiting: Waiting looks at the newest of those
// without a vector and, when the model knows no word of them, counts none.
func (ix *Index) Waiting(ctx context.Context) (waiting, all int, err error) {
	model := ix.Model()
	if model == "" {
		return 0, 0, nil
	}
	e := ix.atOnce()
	if e == nil {
		_, waiting, all, err = ix.Unembedded(ctx, model, 0)
		return waiting, all, err
	}
	some, waiting, all, err := ix.Unembedded(ctx, model, embedBatch)
	if err != nil {
		return 0, all, err
	}
	for _, u := range some {
		if ix.vectorOf(e, u) != nil {
			return waiting, all, nil
		}
	}
	return 0, all, nil
}

// vectorOf makes the vector of a passage at once.
func (ix *Index) vectorOf(e *embed.Static, u Unembedded) Vector {
	n, _, _, err := ix.store.Read(u.Path)
	if err != nil || u.End > len(n.Body) {
		return nil // the next walk sees to it
	}
	stem := acquireStemmer()
	defer stem.release()
	return Quantize(e.Tokens(append(tokens(n.Title, true, stem), tokens(n.Body[u.Start:u.End], true, stem)...)))
}

// embedSome embeds a batch of passages and writes their vectors.
func (ix *Index) embedSome(ctx context.Context, todo []Unembedded) (int, error) {
	e := ix.atOnce()
	var texts []string
	var keys []int64
	vectors := make(map[int64]Vector)
	for _, u := range todo {
		if e != nil {
			if v := ix.vectorOf(e, u); v != nil {
				vectors[u.Passage] = v
			}
			continue
		}
		n, _, _, err := ix.store.Read(u.Path)
		if err != nil || u.End > len(n.Body) {
			continue // the next walk sees to it
		}
		texts, keys = append(texts, n.Title+"\n"+n.Body[u.Start:u.End]), append(keys, u.Passage)
	}
	got, err := ix.embedTexts(ctx, texts)
	if err != nil {
		return 0, err
	}
	for i, v := range got {
		if q := Quantize(v); q != nil {
			vectors[keys[i]] = q
		}
	}
	if len(got) > 1 && len(vectors) == 0 && ix.Remote() {
		return 0, fmt.Errorf("%s answers with vectors of zeros for %d texts; look at the model server", ix.Model(), len(got))
	}
	return len(vectors), ix.Embed(ctx, ix.Model(), vectors)
}
