package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Limit is what a vendor says about one window of its quota.
type Limit struct {
	Window    string    `json:"window"`              // five_hour, seven_day, …; DefaultWindow when it has no name
	Rejected  bool      `json:"rejected,omitempty"`  // nothing more is answered in it
	Surpassed bool      `json:"surpassed,omitempty"` // the vendor says that it is nearly used up
	Overage   bool      `json:"overage,omitempty"`   // what goes beyond it is paid for
	Used      float64   `json:"used,omitempty"`      // share, 1 is all of it
	Until     time.Time `json:"until,omitzero"`      // when it starts over, if that is known
}

// DefaultWindow is the window of a refusal that names none.
const DefaultWindow = "default"

// A ClosedError is why nothing is asked now: a window of the vendor's quota is used up.
// It is an ErrSpent that ends earlier than the day.
type ClosedError struct {
	Window, Why string
	Until       time.Time // from which on it may be tried again
}

func (e *ClosedError) Error() string {
	return fmt.Sprintf("the quota window %s of the model is used up: %s; it is asked again after %s",
		e.Window, e.Why, e.Until.UTC().Format("2006-01-02 15:04 UTC"))
}

// Is reports that a closed gate is a spent budget: nothing failed, and waiting helps.
func (e *ClosedError) Is(target error) bool { return target == ErrSpent }

// limited tells a budget that wants to know.
func limited(b *Budget, model string, limits []Limit) {
	if b != nil && b.Limited != nil && len(limits) > 0 {
		b.Limited(model, limits)
	}
}

// maxDepth is how deep limits are looked for in what a program prints.
const maxDepth = 6

// ParseLimits finds what the output of an agent's command line says about quotas: one
// JSON document, or one a line. Of a window that is named twice the last holds.
func ParseLimits(data []byte) (limits []Limit) {
	if !bytes.Contains(data, []byte("rate")) { // which all names of a wrapper hold
		return nil
	}
	take := func(doc []byte) bool {
		var tree any
		if json.Unmarshal(doc, &tree) != nil {
			return false
		}
		findLimits(tree, 0, &limits)
		return true
	}
	if !take(data) {
		for line := range bytes.Lines(data) {
			take(bytes.TrimSpace(line))
		}
	}
	return limits
}

func findLimits(v any, depth int, limits *[]Limit) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			findLimits(e, depth+1, limits)
		}
	case map[string]any:
		for key, e := range v {
			o, ok := e.(map[string]any)
			if ok && (key == "rate_limit_info" || key == "rateLimitInfo" || key == "rate_limit") {
				add(limits, limitOf(o))
				continue
			}
			findLimits(e, depth+1, limits)
		}
	}
}

func add(limits *[]Limit, l Limit) {
	for i := range *limits {
		if (*limits)[i].Window == l.Window {
			(*limits)[i] = l
			return
		}
	}
	*limits = append(*limits, l)
}

// limitOf reads one wrapper, in either way of writing its keys.
func limitOf(o map[string]any) Limit {
	get := func(names ...string) any {
		for _, n := range names {
			if v, ok := o[n]; ok {
				return v
			}
		}
		return nil
	}
	text := func(names ...string) string { s, _ := get(names...).(string); return s }
	l := Limit{Window: text("rateLimitType", "rate_limit_type", "type"), Rejected: text("status") == "rejected"}
	if l.Window == "" || len(l.Window) > 40 {
		l.Window = DefaultWindow
	}
	if l.Window == "overage" && text("overageStatus", "overage_status") == "rejected" {
		l.Rejected = true
	}
	switch s := get("surpassedThreshold", "surpassed_threshold").(type) {
	case bool:
		l.Surpassed = s
	case float64:
		l.Surpassed = s != 0
	case string:
		l.Surpassed = s != ""
	}
	l.Overage, _ = get("isUsingOverage", "is_using_overage").(bool)
	l.Used, _ = get("utilization").(float64)
	if at, ok := get("resetsAt", "resets_at").(float64); ok && at > 0 && at < 1e11 {
		l.Until = time.Unix(int64(at), 0).UTC()
	}
	return l
}

// refusals are what programs say on standard error when the vendor refuses.
var refusals = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:429|529)\b|rate.?limit|overloaded|quota exceeded`)
})

// refused is the limit in what a program says that failed, none when it is about something else.
func refused(said []byte) []Limit {
	if refusals().Match(said) {
		return []Limit{{Window: DefaultWindow, Rejected: true}}
	}
	return nil
}

// headerLimits reads the limits in the headers of a server's answer.
func headerLimits(resp *http.Response, now time.Time) []Limit {
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == 529 {
		if wait := after(resp); wait > 0 {
			return []Limit{{Window: DefaultWindow, Rejected: true, Until: now.Add(wait).UTC()}}
		}
		return nil
	}
	for _, what := range []string{"requests", "tokens"} {
		left, until := resp.Header.Get("X-Ratelimit-Remaining-"+what), resetOf(resp.Header.Get("X-Ratelimit-Reset-"+what), now)
		if n, err := strconv.Atoi(strings.TrimSpace(left)); err == nil && n <= 0 && until.After(now) {
			return []Limit{{Window: what, Rejected: true, Until: until.UTC()}}
		}
	}
	return nil
}

// resetOf reads when a window starts over: a duration such as 6m0s, or seconds.
func resetOf(value string, now time.Time) time.Time {
	if d, err := time.ParseDuration(value); err == nil && d > 0 && d < 31*24*time.Hour {
		return now.Add(d)
	}
	if n, err := strconv.Atoi(value); err == nil && n > 0 && n < 31*24*3600 {
		return now.Add(time.Duration(n) * time.Second)
	}
	return time.Time{}
}
