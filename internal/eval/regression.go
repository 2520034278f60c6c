package eval

import (
	"context"

	"anamnesis/internal/note"
)

// depth is how far down a lost note is looked for.
const depth = 25

// A Regression is a case that was answered and is answered worse: its first
// right note, as the case names it, stands lower, or is not found any more.
type Regression struct {
	Query    string     `json:"query"`
	Expected []Expected `json:"expected"`
	// Artifact says that a right note was superseded by one that is found: what it
	// says is there, only the case still names the old note.
	Artifact bool `json:"artifact"`
}

// An Expected is a note that should answer a case, and where it is now.
type Expected struct {
	ID         note.ID `json:"id"`
	Superseder note.ID `json:"superseded_by,omitempty"` // the best found of those that stand for it
	Rank       int     `json:"rank,omitempty"`          // of the superseder, or else of the note itself; 0 when not found
	Was        int     `json:"was,omitempty"`           // its own rank before
}

// ranks asks all cases and returns at which rank each note is found, to depth.
func ranks(ctx context.Context, w *Workbench, cases []Case, p Progress) ([]map[note.ID]int, error) {
	all := make([]map[note.ID]int, len(cases))
	for i, c := range cases {
		hits, _, err := ask(ctx, w.Engine, c.Query, depth, true)
		if err != nil {
			return nil, err
		}
		all[i] = make(map[note.ID]int, len(hits))
		for j, id := range hits {
			all[i][id] = j + 1
		}
		p.step("comparing questions", i+1, len(cases))
	}
	return all, nil
}

// best is the first rank of any of the notes, 0 when none is found.
func best(at map[note.ID]int, ids []note.ID) int {
	rank := 0
	for _, id := range ids {
		if r := at[id]; r > 0 && (rank == 0 || r < rank) {
			rank = r
		}
	}
	return rank
}

// explain lists the cases that got worse. Those that were not answered before
// are not among them.
func (x *Experiment) explain(ctx context.Context, w *Workbench, cases []Case, was []map[note.ID]int, p Progress) error {
	s, err := look(ctx, w.Store)
	if err != nil {
		return err
	}
	is, err := ranks(ctx, w, cases, p)
	if err != nil {
		return err
	}
	for i, c := range cases {
		before, after := best(was[i], c.RelevantIDs), best(is[i], c.RelevantIDs)
		if before == 0 || before > x.deepest || after > 0 && after <= before {
			continue
		}
		r := Regression{Query: c.Query}
		for _, id := range c.RelevantIDs {
			e := s.standing.where(id, is[i])
			e.Was = was[i][id]
			r.Artifact = r.Artifact || e.Superseder != "" && e.Rank > 0 && e.Rank <= x.deepest
			r.Expected = append(r.Expected, e)
		}
		x.Regressions = append(x.Regressions, r)
	}
	return nil
}

// where says where what a note says is found.
func (s standing) where(id note.ID, at map[note.ID]int) Expected {
	if len(s[id]) == 0 {
		return Expected{ID: id, Rank: at[id]}
	}
	e := Expected{ID: id, Superseder: s[id][0]}
	for by := range s.answers(s[id]) {
		if r := at[by]; by != id && r > 0 && (e.Rank == 0 || r < e.Rank) {
			e.Superseder, e.Rank = by, r
		}
	}
	return e
}
