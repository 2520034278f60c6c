package session

import (
	"slices"
)

// The numbers of exchanges of sub-agents, which are those of no exchange of the session itself.
const (
	firstReport = 1_000_000
	reportsEach = 100
	Subagents   = 90_000 // how many numbers a sub-agent can have
)

// Reports gives the exchanges of a sub-agent to the session that it worked for: place is the number of the sub-agent
// there, below Subagents. The last ones are kept.
func Reports(all []Exchange, subagent string, place int) []Exchange {
	all = all[max(0, len(all)-reportsEach):]
	for i := range all {
		e := &all[i]
		e.N, e.Subagent, e.Command = firstReport+place*reportsEach+e.N%reportsEach, subagent, false
	}
	return all
}

// Insert puts the exchanges of sub-agents among those of their session, by time: behind the exchange that was going on
// when the sub-agent began.
func Insert(all, reports []Exchange) []Exchange {
	if len(reports) == 0 {
		return all
	}
	first := make(map[string]int) // by sub-agent: how many exchanges precede it
	for i := range reports {
		e := &reports[i]
		if _, ok := first[e.Subagent]; ok {
			continue
		}
		at := len(all)
		for at > 1 && !e.At.IsZero() && all[at-1].At.After(e.At) {
			at--
		}
		first[e.Subagent] = at
	}
	out := make([]Exchange, 0, len(all)+len(reports))
	for i := 0; i <= len(all); i++ {
		for j := range reports {
			if first[reports[j].Subagent] == i {
				out = append(out, reports[j])
			}
		}
		if i < len(all) {
			out = append(out, all[i])
		}
	}
	return out
}

// Talk returns the exchanges of one talk: that of the user with the agent, or of the agent with one sub-agent.
func Talk(all []Exchange, subagent string) (own []Exchange) {
	return slices.DeleteFunc(slices.Clone(all), func(e Exchange) bool { return e.Subagent != subagent })
}
