package reflection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"anamnesis/internal/llm"
	"anamnesis/internal/store"
)

// A Budget limits what models are asked in a day, whoever asks: it counts the
// records of today in the event log, in which every answer has one. A day is one
// of UTC, as the records are. Two processes that ask at the same moment may pass
// the limit by an answer each.
type Budget struct {
	store         *store.Store
	opts          Options
	calls, tokens int
	provider      string // whose quota is watched; "" for none
	byKey         bool   // it is paid by key and not by subscription

	mu    sync.Mutex
	day   string // that is counted
	file  string // of the log, read up to next
	next  int64
	spent Spending
}

// NewBudget returns the budget of a store.
func NewBudget(s *store.Store, o Options) *Budget {
	return &Budget{store: s, opts: o, calls: o.DailyCalls, tokens: o.DailyTokens}
}

// Watching makes the budget refuse, too, while the quota of a provider is used up: an
// llm.ClosedError says until when. byKey says that it is paid by key.
func (b *Budget) Watching(provider string, byKey bool) *Budget {
	b.provider, b.byKey = provider, byKey
	return b
}

// ErrSpent says that models have been asked enough for today.
var ErrSpent = llm.ErrSpent

// For returns the budget as a client of models sees it that asks for a purpose,
// such as "reflect", "merge" or "summary".
func (b *Budget) For(purpose string) *llm.Budget {
	return &llm.Budget{
		Allow: func(context.Context) error { return b.allow() },
		// A log that cannot be written loses a line: the answer has been paid for.
		Spent: func(model string, u llm.Usage) {
			_ = b.store.Events().Log(store.Record{Kind: store.Asked, Text: purpose, Model: model, In: u.Prompt, Out: u.Answer, Count: 1})
		},
		Limited: b.limited,
	}
}

func (b *Budget) allow() error {
	if b.provider != "" && b.opts.QuotaGate {
		q, err := QuotaOf(b.store, b.provider, b.byKey)
		if err != nil {
			return fmt.Errorf("look at the quota: %w", err)
		}
		if q.Closed != nil {
			return q.Closed
		}
	}
	spent, err := b.today()
	if err != nil {
		return fmt.Errorf("look at the daily budget: %w", err)
	}
	switch {
	case b.calls > 0 && spent.Calls >= b.calls:
		return fmt.Errorf("%w: %d of %d answers; wait until tomorrow, or raise reflection.daily_calls", ErrSpent, spent.Calls, b.calls)
	case b.tokens > 0 && spent.In+spent.Out >= b.tokens:
		return fmt.Errorf("%w: %d of %d tokens; wait until tomorrow, or raise reflection.daily_tokens", ErrSpent, spent.In+spent.Out, b.tokens)
	}
	return nil
}

// limited writes down what a vendor says. What cannot be written down is learnt again.
func (b *Budget) limited(model string, limits []llm.Limit) {
	for _, l := range limits {
		if text, err := json.Marshal(l); err == nil {
			_ = b.store.Events().Log(store.Record{Kind: store.Limited, Model: model, Text: string(text)})
		}
	}
}

// today counts what was spent since midnight, from where it last stopped.
func (b *Budget) today() (Spending, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.store.Now().UTC()
	if day := now.Format(time.DateOnly); day != b.day {
		b.day, b.spent = day, Spending{}
		if file := now.Format("2006-01") + ".jsonl"; file != b.file {
			b.file, b.next = file, 0
		}
	}
	next, err := b.store.Events().Records(b.file, b.next, func(r store.Record) {
		if r.Kind == store.Asked && len(r.At) > len(b.day) && r.At[:len(b.day)] == b.day {
			b.spent.add(r)
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		return b.spent, nil
	}
	b.next = next
	return b.spent, err
}
