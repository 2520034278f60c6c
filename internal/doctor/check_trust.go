package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/connect"
)

// ErrNotAsked says that an agent cannot be asked: its program is not there.
var ErrNotAsked = errors.New("its program is not on the search path")

// checkTrust asks the agents that run a hook only after it was approved whether they run ours.
func checkTrust(ctx context.Context, p *Target) Result {
	var lines []string
	worst, next, asked := OK, "", 0
	const look = "approve our hooks in the agent itself, where it lists them"
	for _, h := range p.Harnesses {
		if h.Trust == nil {
			continue
		}
		if r, err := readHooks(h.settings(), h.Client); h.Plugin == "" && (err != nil || len(r.entries) == 0) {
			continue // the check "hooks" says it
		}
		all, err := h.Trust(ctx)
		switch {
		case errors.Is(err, ErrNotAsked) && connect.Unapproved(h.Client, h.Home):
			asked++
			worst, next = Warn, look
			lines = append(lines, h.Title+": you have approved none of our hooks, so it passes over them")
			if a, ok := h.Settings.(connect.Advisor); ok {
				next = a.ToDo()
			}
			continue
		case errors.Is(err, ErrNotAsked):
			lines = append(lines, h.Title+": not asked: "+err.Error())
			continue
		case err != nil:
			asked++
			lines = append(lines, h.Title+": not known: "+err.Error())
			if worst == OK {
				worst, next = Info, look
			}
			continue
		}
		asked++
		var waits []string
		for _, a := range all {
			if !a.Runs {
				waits = append(waits, a.Event)
			}
		}
		if len(waits) == 0 {
			lines = append(lines, fmt.Sprintf("%s: runs %s of ours", h.Title, plural(len(all), "hook")))
			continue
		}
		slices.Sort(waits)
		worst, next = Warn, look
		lines = append(lines, fmt.Sprintf("%s: passes over %d of %s of ours without a word, until you approve them: %s", h.Title, len(waits),
			plural(len(all), "hook"), strings.Join(slices.Compact(waits), ", ")))
		if a, ok := h.Settings.(connect.Advisor); ok {
			next = a.ToDo()
		}
	}
	if asked == 0 {
		r := skip("no agent here asks for an approval of hooks, or none can be asked")
		r.Evidence = append(lines, r.Evidence...)
		return r
	}
	return Result{State: worst, Evidence: lines, Next: next}
}
