package reflection

import (
	"cmp"
	"context"
	"slices"
	"time"

	"anamnesis/internal/store"
)

// A Spending is what models were asked.
type Spending struct {
	Calls   int // answers
	In, Out int // tokens of prompts and of answers, as the server says or estimated
}

func (s *Spending) add(r store.Record) {
	s.Calls++
	s.In += max(0, r.In)
	s.Out += max(0, r.Out)
}

// A Cost is what one model was asked for one purpose on one day.
type Cost struct {
	Day     string // of UTC, 2026-11-20
	Model   string // provider/model
	Purpose string
	Spending
}

// Costs counts what models were asked on this machine since a day, newest day
// first, and by their class the answers that could not be used. The event log keeps some
// months; what is older is not counted.
func Costs(ctx context.Context, s *store.Store, since time.Time) (costs []Cost, unusable map[string]int, err error) {
	files, err := s.Events().Files()
	if err != nil {
		return nil, nil, err
	}
	unusable = make(map[string]int)
	from := since.UTC().Format(time.DateOnly)
	at := make(map[[3]string]*Cost)
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if file < from[:len("2006-01")] {
			continue
		}
		if _, err := s.Events().Records(file, 0, func(r store.Record) {
			if r.Kind == store.Unusable && len(r.At) >= len(from) && r.At[:len(from)] >= from {
				unusable[r.Text]++
			}
			if r.Kind != store.Asked || len(r.At) < len(from) || r.At[:len(from)] < from {
				return
			}
			key := [3]string{r.At[:len(from)], r.Model, r.Text}
			if at[key] == nil {
				at[key] = &Cost{Day: key[0], Model: key[1], Purpose: key[2]}
			}
			at[key].add(r)
		}); err != nil {
			return nil, nil, err
		}
	}
	var all []Cost
	for _, c := range at {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Purpose, b.Purpose))
	})
	return all, unusable, nil
}
