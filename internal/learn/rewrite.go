package learn

import (
	"context"
	"errors"
	"time"

	"anamnesis/internal/llm"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

// A Rewriter lets a model write: every pass of one (the summary of a session, what a session
// teaches, what many come to, which notes say the same, what several show together) is a
// Rewrite that it asks for. It makes the prompt, reads the answer, asks again with what was
// wrong with it, writes down what could not be used, and says when work that waits comes up
// again.
type Rewriter struct {
	Store     *store.Store
	Redactor  *redact.Redactor
	Model     llm.Generator // nil: there is nobody to ask
	Budget    *llm.Budget   // is looked at before work that waits is taken up; nil allows everything
	Directive string        // what a model is shown besides, "" for nothing
	MaxTokens int           // of a prompt; four bytes count as one, and 0 means 120000
}

// A Rewrite is what a model is asked for. T is the shape of its answer in JSON: an object, or
// an array for a slice.
type Rewrite[T any] struct {
	Purpose  string                   // names the pass in the event log
	System   string                   // the instructions
	Loose    bool                     // keys beside those asked for are no error
	Tries    int                      // for an answer that can be used, with the first; 0 means llm.Tries
	Check    func(answer *T) []string // puts an answer in order, and says what is wrong with it
	Answered func(llm.Class) bool     // is called with each new answer; false ends the tries. It may be nil
}

// ErrNoModel says that there is no model to ask.
var ErrNoModel = errors.New("no reflection provider configured (set ANAMNESIS_REFLECTION_PROVIDER + model/base-url/key)")

// Room is how many bytes a prompt has for what a model is shown.
func (w *Rewriter) Room() int {
	if w.MaxTokens <= 0 {
		return 4 * 120_000
	}
	return 4 * w.MaxTokens
}

// Prompt is what a model is asked, byte for byte: the instructions, and what they are about,
// redacted and then cut to Room.
func (w *Rewriter) Prompt(system, about string) llm.Prompt {
	return llm.Prompt{
		System: w.Redactor.Redact(llm.Instructions(system, w.Directive)), User: w.Redactor.Redact(about).Window(w.Room()),
	}
}

// Ask returns an answer that Check has nothing against. The error is an llm.InvalidError when
// none of the tries gave one, and ErrNoModel when there is none to ask.
func (p Rewrite[T]) Ask(ctx context.Context, w *Rewriter, about string) (T, error) {
	if w.Model == nil {
		var none T
		return none, ErrNoModel
	}
	a := llm.Asking{Tries: p.Tries, Loose: p.Loose, Answered: func(c llm.Class) bool {
		if c != llm.Valid { // a log that cannot be written loses a line
			_ = w.Store.Events().Log(store.Record{Kind: store.Unusable, Text: string(c), Query: p.Purpose, Model: w.Model.Name()})
		}
		return p.Answered == nil || p.Answered(c)
	}}
	if a.Tries == 0 {
		a.Tries = llm.Tries
	}
	return llm.Exact(ctx, w.Model, w.Prompt(p.System, about), a, p.Check)
}

// pendingLater is how long work waits until a file of answers is looked at again.
const pendingLater = 10 * time.Minute

// Unasked reports whether a model was not asked, or has not answered yet: a try that is none.
func Unasked(err error) bool { return errors.Is(err, llm.ErrPending) || errors.Is(err, llm.ErrSpent) }

// Later returns when work that a model did not do is taken up again: what is not answered yet
// in ten minutes, what a quota refuses when it opens, what the budget of a day refuses on the
// next (one of UTC), and everything else after otherwise.
func (w *Rewriter) Later(err error, otherwise time.Duration) time.Time {
	now := w.Store.Now()
	var closed *llm.ClosedError
	switch {
	case errors.Is(err, llm.ErrPending):
		return now.Add(pendingLater)
	case errors.As(err, &closed):
		return closed.Until
	case errors.Is(err, llm.ErrSpent):
		return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	return now.Add(otherwise)
}

// Postpone gives work back that a model did not do. It counts as no attempt. The error is that
// of the model, but none for an answer that is not there yet.
func (w *Rewriter) Postpone(j queue.Job, err error, otherwise time.Duration) error {
	rerr := queue.Of(w.Store).Release(j, w.Later(err, otherwise), err.Error())
	if errors.Is(err, llm.ErrPending) {
		return rerr
	}
	return errors.Join(err, rerr)
}
