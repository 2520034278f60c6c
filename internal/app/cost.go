package app

import (
	"context"
	"time"

	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

// CostRow counts what one model was asked for one purpose on one day (UTC).
type CostRow struct {
	Day     string `json:"day"`
	Model   string `json:"model"`
	Purpose string `json:"purpose"`
	Calls   int    `json:"calls"`
	In      int    `json:"tokens_in"`
	Out     int    `json:"tokens_out"`
}

// CostAnswer counts what models were asked, and the limits of a day.
type CostAnswer struct {
	Rows       []CostRow `json:"rows"`
	TodayCalls int       `json:"today_calls"`
	TodayToken int       `json:"today_tokens"`
	MaxCalls   int       `json:"daily_calls"`
	MaxTokens  int       `json:"daily_tokens"`

	All reflection.Spending `json:"-"`
}

// Cost counts what models were asked from since on.
func Cost(ctx context.Context, s *store.Store, limits reflection.Options, since string) (a CostAnswer, err error) {
	from, err := Moment("--since", since, s.Now())
	if err != nil {
		return a, err
	}
	costs, err := reflection.Costs(ctx, s, from)
	a.MaxCalls, a.MaxTokens = limits.DailyCalls, limits.DailyTokens
	today := s.Now().UTC().Format(time.DateOnly)
	for _, c := range costs {
		a.Rows = append(a.Rows, CostRow{c.Day, c.Model, c.Purpose, c.Calls, c.In, c.Out})
		a.All.Calls, a.All.In, a.All.Out = a.All.Calls+c.Calls, a.All.In+c.In, a.All.Out+c.Out
		if c.Day == today {
			a.TodayCalls, a.TodayToken = a.TodayCalls+c.Calls, a.TodayToken+c.In+c.Out
		}
	}
	return a, err
}
