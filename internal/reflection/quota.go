package reflection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/llm"
	"anamnesis/internal/store"
)

// A Quota is what vendors said of late about the quota of this machine's models. It is a
// fold of the event log: what is older than quotaTTL counts for nothing.
type Quota struct {
	Windows []QuotaWindow // by name
	Closed  *llm.ClosedError
}

// A QuotaWindow is the newest word about one window.
type QuotaWindow struct {
	llm.Limit
	Seen time.Time
	Why  string // it closes the gate; "" when it does not
}

// ceilings are the shares of windows from which on nothing is asked: who works at the
// keyboard shall have the rest.
var ceilings = map[string]float64{
	"five_hour": 0.95, "seven_day_opus": 0.93, "seven_day_sonnet": 0.92, "seven_day": 0.93, "overage": 0.95,
}

const anyCeiling = 0.95

// quotaTTL is for how long what a vendor said about its quota holds: a fifth of its
// shortest window.
const quotaTTL = time.Hour

// closes says why a window closes the gate, "" when it does not. A refusal that says
// when it ends, ends then.
func closes(l llm.Limit, now time.Time) string {
	if !l.Until.IsZero() && !now.Before(l.Until) {
		return ""
	}
	most := cmp.Or(ceilings[l.Window], anyCeiling)
	switch {
	case l.Rejected:
		return "the vendor refuses"
	case l.Surpassed && !l.Overage:
		return "the vendor says that it is nearly used up"
	case l.Used >= most:
		return fmt.Sprintf("%.0f of 100 are used, and the limit is %.0f", 100*l.Used, 100*most)
	}
	return ""
}

// QuotaOf folds what was said about the quota of a provider, such as "claude". Whoever
// pays by key has no windows of a subscription: of those only refusals with an end count.
func QuotaOf(s *store.Store, provider string, byKey bool) (q Quota, err error) {
	now := s.Now().UTC()
	since := now.Add(-quotaTTL)
	newest := make(map[string]QuotaWindow)
	files, err := s.Events().Files()
	if err != nil {
		return q, err
	}
	for _, file := range files {
		if file < since.Format("2006-01") {
			continue
		}
		if _, err := s.Events().Records(file, 0, func(r store.Record) {
			var l llm.Limit
			at, perr := time.Parse(time.RFC3339, r.At)
			if r.Kind != store.Limited || perr != nil || at.Before(since) || at.After(now.Add(time.Minute)) ||
				!strings.HasPrefix(r.Model, provider+"/") || json.Unmarshal([]byte(r.Text), &l) != nil {
				return
			}
			newest[l.Window] = QuotaWindow{Limit: l, Seen: at}
		}); err != nil {
			return q, err
		}
	}
	for _, w := range newest {
		if !byKey || w.Rejected && !w.Until.IsZero() {
			w.Why = closes(w.Limit, now)
		}
		q.Windows = append(q.Windows, w)
	}
	slices.SortFunc(q.Windows, func(a, b QuotaWindow) int { return cmp.Compare(a.Window, b.Window) })
	for _, w := range q.Windows {
		until := w.Until
		if until.IsZero() || until.After(w.Seen.Add(quotaTTL)) {
			until = w.Seen.Add(quotaTTL)
		}
		if w.Why != "" && (q.Closed == nil || until.After(q.Closed.Until)) {
			q.Closed = &llm.ClosedError{Window: w.Window, Why: w.Why, Until: until}
		}
	}
	return q, nil
}
