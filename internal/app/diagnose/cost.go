package diagnose

import (
	"context"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/llm"
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

	Unusable []UnusableRow `json:"unusable"`
	Quota    QuotaView     `json:"quota"`

	All reflection.Spending `json:"-"`
}

// UnusableRow counts answers of one class that were not what was asked for.
type UnusableRow struct {
	Class string `json:"class"` // prose, idle, poisoned, malformed or schema_invalid
	Count int    `json:"count"`
}

// QuotaView is what the vendor of the model said about its quota of late.
type QuotaView struct {
	Gate    string        `json:"gate"` // open, closed or off
	Why     string        `json:"why,omitempty"`
	Until   string        `json:"until,omitempty"` // of a closed one
	Windows []QuotaWindow `json:"windows"`
}

// A QuotaWindow is the newest word about one window.
type QuotaWindow struct {
	Window string  `json:"window"`
	Used   float64 `json:"used"` // share, 1 is all of it
	Seen   string  `json:"seen_at"`
	Why    string  `json:"why,omitempty"` // it closes the gate
}

// quotaView reads the quota of the model that is configured.
func quotaView(s *store.Store, c *config.Config) (v QuotaView, err error) {
	v = QuotaView{Gate: "off", Windows: []QuotaWindow{}}
	provider, byKey := app.QuotaOwner(c)
	if provider == "" || !c.Reflection.QuotaGate {
		return v, nil
	}
	q, err := reflection.QuotaOf(s, provider, byKey)
	v.Gate = "open"
	for _, w := range q.Windows {
		v.Windows = append(v.Windows, QuotaWindow{w.Window, w.Used, w.Seen.UTC().Format(time.RFC3339), w.Why})
	}
	if q.Closed != nil {
		v.Gate, v.Why, v.Until = "closed", q.Closed.Window+": "+q.Closed.Why, q.Closed.Until.UTC().Format(time.RFC3339)
	}
	return v, err
}

// Cost counts what models were asked from since on.
func Cost(ctx context.Context, s *store.Store, c *config.Config, since string) (a CostAnswer, err error) {
	limits := c.Reflection
	from, err := app.Moment("--since", since, s.Now())
	if err != nil {
		return a, err
	}
	costs, bad, err := reflection.Costs(ctx, s, from)
	a.Unusable = []UnusableRow{}
	for _, class := range llm.Classes {
		if n := bad[string(class)]; n > 0 {
			a.Unusable = append(a.Unusable, UnusableRow{string(class), n})
		}
	}
	if err == nil {
		a.Quota, err = quotaView(s, c)
	}
	a.MaxCalls, a.MaxTokens = limits.DailyCalls, limits.DailyTokens
	today := s.Now().UTC().Format(time.DateOnly)
	for _, row := range costs {
		a.Rows = append(a.Rows, CostRow{row.Day, row.Model, row.Purpose, row.Calls, row.In, row.Out})
		a.All.Calls, a.All.In, a.All.Out = a.All.Calls+row.Calls, a.All.In+row.In, a.All.Out+row.Out
		if row.Day == today {
			a.TodayCalls, a.TodayToken = a.TodayCalls+row.Calls, a.TodayToken+row.In+row.Out
		}
	}
	return a, err
}
