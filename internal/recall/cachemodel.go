package recall

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"anamnesis/internal/index"
)

// What models elsewhere said about a question is kept as long as what the arms
// found, so that a question that is remembered asks nobody. Kept are numbers, under a
// hash of the question and of what it was asked about.
const (
	logitsKind = "recall-logits"
	vectorKind = "recall-vector"
)

// keptNumbers returns numbers that were kept under a key, nil when there are none.
func (e *Engine) keptNumbers(ctx context.Context, q Query, res *Result, kind, key string) []float64 {
	if !e.caches(q) || !res.asked {
		return nil
	}
	m, ok, err := e.index.Memo(ctx, kind, key)
	age := e.store.Now().Sub(m.At).Seconds()
	if err != nil || !ok || m.Generation != res.generation || age < 0 || age > e.opts.CacheTTL || len(m.Value)%8 != 0 {
		return nil
	}
	numbers := make([]float64, 0, len(m.Value)/8)
	for b := m.Value; len(b) > 0; b = b[8:] {
		numbers = append(numbers, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return numbers
}

// keepNumbers keeps numbers. That they cannot be kept does not matter.
func (e *Engine) keepNumbers(ctx context.Context, q Query, res *Result, kind, key string, numbers []float64) {
	if !e.caches(q) || !res.asked || ctx.Err() != nil {
		return
	}
	value := make([]byte, 0, 8*len(numbers))
	for _, x := range numbers {
		value = binary.LittleEndian.AppendUint64(value, math.Float64bits(x))
	}
	ctx, cancel := context.WithTimeout(ctx, cacheWait)
	defer cancel()
	_ = e.index.SetMemo(ctx, kind, key, index.Memo{Value: value, Generation: res.generation, At: e.store.Now()}, maxCached)
}

// question returns the unit vector of a text, as Index.Question does. What a model
// said that takes its time is kept. Where an agent waits, a model that is late is not
// asked again for the same question.
func (e *Engine) question(ctx context.Context, q Query, res *Result, text string) (model string, unit []float32, err error) {
	if !e.index.Deferred() {
		return e.index.Question(ctx, text)
	}
	if res.late != nil {
		return e.index.Model(), nil, res.late
	}
	ctx, cancel := e.hurry(ctx, q)
	defer cancel()
	defer func() {
		if err != nil && q.reading {
			res.late = err
		}
	}()
	model = e.index.Model()
	sum := sha256.Sum256([]byte(fmt.Sprintf("%s\n%s", model, text)))
	key := hex.EncodeToString(sum[:16])
	if kept := e.keptNumbers(ctx, q, res, vectorKind, key); len(kept) > 0 {
		for _, x := range kept {
			unit = append(unit, float32(x))
		}
		return model, unit, nil
	}
	model, unit, err = e.index.Question(ctx, text)
	if err == nil && len(unit) > 0 {
		numbers := make([]float64, len(unit))
		for i, x := range unit {
			numbers[i] = float64(x)
		}
		e.keepNumbers(ctx, q, res, vectorKind, key, numbers)
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
