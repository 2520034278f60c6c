package doctor

import (
	"context"
	"fmt"
	"os"
	"time"

	"anamnesis/internal/connect"
)

// checkSilent names the agents that have our hooks, were at work this week, and started no
// session that we heard of: their hooks wait for an approval, or do not run.
func checkSilent(ctx context.Context, p *Target) Result {
	if p.Disabled || p.Store == nil {
		return skip("hooks do nothing, or there is no store")
	}
	l, err := p.shared.log()
	if err != nil {
		return bad("check who owns the folder events in the store", err.Error())
	}
	var lines []string
	next, looked, silent := "", 0, false
	for _, h := range p.Harnesses {
		r, err := readHooks(h.settings(), h.Client)
		if err != nil || len(r.entries) == 0 {
			continue
		}
		looked++
		since := p.now().Add(-logDays)
		if fi, err := os.Stat(h.settings()); err == nil && fi.ModTime().After(since) {
			since = fi.ModTime().Add(time.Minute)
		}
		began := p.sessionsOf(ctx, h, since)
		if heard := l.started[h.Name]; heard > 0 || began == 0 {
			lines = append(lines, fmt.Sprintf("%s: %s heard of this week", h.Title, plural(heard, "session")))
			continue
		}
		silent = true
		lines = append(lines, fmt.Sprintf("%s: %s began since its hooks were installed, but no hook ran", h.Title,
			plural(began, "session")))
		if a, ok := h.Settings.(connect.Advisor); ok {
			next = a.ToDo()
		} else if next == "" {
			next = "start a new session of it, and look at the checks hooks and hook-program"
		}
	}
	switch {
	case looked == 0:
		return skip("no hook is installed")
	case silent:
		return warn(next, lines...)
	}
	return ok(lines...)
}
