package recall

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// An arm is one way of finding notes. Its list is ordered, best first; the
// scores of two arms cannot be compared, their ranks can.
type arm struct {
	name   string
	weight float64 // in the fusion
	ask    func(*Engine, context.Context, Query, *Result) ([]*Hit, error)
}

// arms lists the arms, in the order that breaks ties.
var arms = []arm{
	{name: "lexical", weight: 1, ask: (*Engine).lexical},
}

// A list is what an arm found.
type list struct {
	arm
	hits []*Hit
}

// ask puts the query to all arms at once. An arm that fails is left out; that
// none is left is an error.
func (e *Engine) ask(ctx context.Context, q Query, res *Result) ([]list, error) {
	lists := make([]list, len(arms))
	errs := make([]error, len(arms))
	var wg sync.WaitGroup
	for i, a := range arms {
		wg.Go(func() {
			lists[i].arm = a
			lists[i].hits, errs[i] = a.ask(e, ctx, q, res)
		})
	}
	wg.Wait()
	failed := 0
	for i, err := range errs {
		if err != nil {
			failed++
			res.Failed = append(res.Failed, fmt.Sprintf("%s: %v", arms[i].name, err))
		}
	}
	if failed == len(arms) {
		return nil, fmt.Errorf("recall: %w", errors.Join(errs...))
	}
	return lists, nil
}
