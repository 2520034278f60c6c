package web

import (
	"cmp"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/app/diagnose"
	"anamnesis/internal/app/history"
)

// A count is a value and how often it occurs.
type count struct {
	Name string `json:"name"`
	N    int    `json:"count"`
}

// counts sorts counts, the largest first.
func counts(by app.Counts) []count {
	all := make([]count, 0, len(by))
	for name, n := range by {
		all = append(all, count{name, n})
	}
	slices.SortFunc(all, func(a, b count) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) })
	return all
}

// An overviewPage is what memory holds and what it did this week.
type overviewPage struct {
	Stats    history.Facets    `json:"stats"`
	Sync     app.SyncState     `json:"repo"`
	Waiting  int               `json:"pendingReflections"`
	Week     diagnose.Activity `json:"week"`
	Recent   []app.NoteView    `json:"recent"`
	Gaps     curate.GapsAnswer `json:"gaps"` // the first of Total
	Sessions []*app.SessionLog `json:"sessions"`
	Machine  string            `json:"machine"`
	Bars     []bar             `json:"-"`
}

// A bar is a part of a whole, in parts of a thousand.
type bar struct {
	Name   string
	N      int
	At, Of int // where it begins, how wide it is
}

// bars are the parts of a whole, in the given order.
func bars(names []string, by app.Counts) (all []bar) {
	sum := 0
	for _, name := range names {
		sum += by[name]
	}
	at := 0
	for _, name := range names {
		if by[name] == 0 {
			continue
		}
		b := bar{Name: name, N: by[name], At: at, Of: by[name] * 1000 / sum}
		at += b.Of
		all = append(all, b)
	}
	return all
}

var types = []string{"procedural", "semantic", "episodic"}

// shownGaps is how many open questions the overview shows.
const shownGaps = 5

// overview answers from what stands beside every page and from the events of a week.
func overview(r *request) (any, error) {
	side, err := r.s.side.get(r.ctx, r.rooms)
	if err != nil {
		return nil, err
	}
	p := overviewPage{Stats: side.Facets, Sync: side.Sync, Waiting: side.Waiting, Machine: side.Machine, Bars: bars(types, side.Facets.ByType)}
	week, err := r.s.week.get(r.ctx, r.rooms)
	if err != nil {
		return nil, err
	}
	p.Week, p.Sessions = week.activity, week.sessions
	open := len(week.gaps)
	p.Gaps = curate.GapsAnswer{MinSessions: app.GapSessions, Total: open, Everywhere: open, Gaps: week.gaps[:min(open, shownGaps)]}
	list, err := app.List(r.ctx, r.rooms, app.Selection{}, 8)
	p.Recent = list.Notes
	return p, err
}
