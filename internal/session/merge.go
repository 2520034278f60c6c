package session

import (
	"slices"

	"anamnesis/internal/text"
)

// startsOf counts the exchanges of a reading by the time at which they began.
func startsOf(all []Exchange) map[int64]int {
	starts := make(map[int64]int, len(all))
	for i := range all {
		starts[all[i].At.UnixMilli()]++
	}
	return starts
}

// same reports whether a and b are one exchange in two readings of a session: begun at the same time and, where another
// exchange began then, or no time is known, asked in the same words. A later reading may have masked some of the words, and
// knows more of what came of them.
func same(a, b *Exchange, ours, theirs map[int64]int) bool {
	at := a.At.UnixMilli()
	if at != b.At.UnixMilli() {
		return false
	}
	return !a.At.IsZero() && ours[at] == 1 && theirs[at] == 1 || text.Folded(a.Ask) == text.Folded(b.Ask)
}

// merge unites what is kept of a session with a new reading of it, and gives each exchange a number that no other one has or
// had (taken). A session never shrinks: its client may have compacted, reverted or half copied the file. What only the former
// reading has stays, cleaned; of an exchange in both, the one with more steps stays, else the new one.
func merge(had, all []Exchange, taken []int, clean func(string) string) []Exchange {
	var out, reports []Exchange
	ours, theirs := Talk(had, ""), Talk(all, "")
	began, begins := startsOf(ours), startsOf(theirs)
	next := 0 // of ours: all before it are in out
	keep := func(upTo int) {
		for ; next < upTo; next++ {
			out = append(out, ours[next].cleaned(clean))
		}
	}
	match := func(e *Exchange) int {
		for at := next; at < len(ours); at++ {
			if same(&ours[at], e, began, begins) {
				return at
			}
		}
		return -1
	}
	for i := range theirs {
		e := theirs[i]
		at := match(&e)
		if at < 0 { // it is new: it belongs behind what began before it, and without a time behind all that no later one repeats
			for next < len(ours) && !ours[next].At.IsZero() && ours[next].At.Before(e.At) {
				keep(next + 1)
			}
			if e.At.IsZero() && !slices.ContainsFunc(theirs[i+1:], func(later Exchange) bool { return match(&later) >= 0 }) {
				keep(len(ours))
			}
			e.N = -e.N
			out = append(out, e)
			continue
		}
		keep(at)
		next++
		if h := &ours[at]; len(h.Steps)+h.Dropped > len(e.Steps)+e.Dropped {
			was := h.cleaned(clean)
			was.TakenBack, was.Commits = e.TakenBack, e.Commits
			if e.Reply != "" && !slices.ContainsFunc(was.Steps, func(s Step) bool { return s.Said == e.Reply }) {
				was.Reply = e.Reply // no word of half a copy: the agent went on
			}
			e = was
		}
		e.N = ours[at].N
		out = append(out, e)
	}
	keep(len(ours))
	number(out, taken)
	for _, id := range subagentsIn(had, all) {
		was, now := Talk(had, id), Talk(all, id)
		if len(now) >= len(was) {
			reports = append(reports, now...)
			continue
		}
		for i := range was {
			reports = append(reports, was[i].cleaned(clean))
		}
	}
	return Insert(out, reports)
}

// number gives the new exchanges, whose numbers are negative, the numbers that they have in their reading, or the next
// ones that are free.
func number(all []Exchange, taken []int) {
	last := 0
	used := make(map[int]bool)
	for _, n := range taken {
		used[n], last = true, max(last, n)
	}
	for i := range all {
		if n := all[i].N; n > 0 {
			used[n], last = true, max(last, n)
		}
	}
	for i := range all {
		if n := -all[i].N; n > 0 {
			if used[n] {
				n = last + 1
			}
			all[i].N, used[n], last = n, true, max(last, n)
		}
	}
}

// subagentsIn lists the sub-agents of two readings, in order.
func subagentsIn(readings ...[]Exchange) (ids []string) {
	for _, all := range readings {
		for i := range all {
			if id := all[i].Subagent; id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// cleaned returns an exchange whose texts a function cleans; nil changes nothing.
func (e *Exchange) cleaned(clean func(string) string) Exchange {
	out := *e
	if clean == nil {
		return out
	}
	for _, field := range []*string{&out.Ask, &out.Pasted, &out.Reply} {
		*field = clean(*field)
	}
	out.Steps = slices.Clone(e.Steps)
	for i := range out.Steps {
		s := &out.Steps[i]
		for _, field := range []*string{&s.Said, &s.Run, &s.File, &s.Out} {
			*field = clean(*field)
		}
	}
	return out
}
