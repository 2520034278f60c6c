package session

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/claim"
	"anamnesis/internal/index"
)

// A Fixed is an exchange that met an error, and how the error stopped coming, where it did.
type Fixed struct {
	Hit      Hit
	Solved   bool
	Solution Solution
	Exact    bool // the same normalised line; else only its words
}

// maxTried is how many exchanges are read for one error.
const maxTried = 24

// Fix finds the exchanges that met an error, those in which it stopped coming first, the newest first
// among them. Exact asks for the same normalised error only.
func (k *Kept) Fix(ctx context.Context, q Query, exact bool) (all []Fixed, err error) {
	lines := ErrorLines(q.Text)
	if len(lines) == 0 { // a person quotes an error without what stands around it
		for line := range strings.Lines(q.Text) {
			if n := Normal(line); n != "" && len(lines) < 4 {
				lines = append(lines, n)
			}
		}
	}
	if len(lines) == 0 {
		return nil, nil
	}
	named := q
	named.Text, named.Limit, named.Any, named.named = "", maxTried, true, nil
	for _, line := range lines {
		named.named = append(named.named, nameHash("error", line))
	}
	hits, err := k.Search(ctx, named)
	if err != nil {
		return nil, err
	}
	all = k.solve(hits, func(e *Exchange) string { return firstShared(lines, e.errors()) }, true)
	if !exact && !slices.ContainsFunc(all, func(f Fixed) bool { return f.Solved }) {
		near := q
		near.Text, near.Limit = strings.Join(lines[:min(len(lines), 3)], "\n"), maxTried
		more, err := k.Search(ctx, near)
		if err != nil {
			return nil, err
		}
		for _, f := range k.solve(more, func(e *Exchange) string { return alike(lines, e.errors()) }, false) {
			if !slices.ContainsFunc(all, func(had Fixed) bool { return had.Hit.ID() == f.Hit.ID() }) {
				all = append(all, f)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Fixed) int {
		if a.Solved != b.Solved {
			if a.Solved {
				return -1
			}
			return 1
		}
		return 0
	})
	return all[:min(len(all), max(q.Limit, 1))], nil
}

// firstShared returns the first of the lines that an exchange has, too.
func firstShared(lines, errors []string) string {
	for _, line := range lines {
		if slices.Contains(errors, line) {
			return line
		}
	}
	return ""
}

// alike returns the error line of an exchange most of whose words stand in one of the lines.
func alike(lines, errors []string) string {
	best, most := "", 0.6
	for _, line := range lines {
		words := index.Tokens(line)
		for _, e := range errors {
			n := 0
			for _, w := range index.Tokens(e) {
				if slices.Contains(words, w) {
					n++
				}
			}
			if share := float64(n) / float64(max(1, len(words))); share > most {
				best, most = e, share
			}
		}
	}
	return best
}

// solve reads the sessions of hits, each once, and says how the error that pick names stopped coming.
// The hit is then the exchange in which it did.
func (k *Kept) solve(hits []Hit, pick func(*Exchange) string, exact bool) (all []Fixed) {
	seen := make(map[string]bool)
	for _, h := range hits {
		line := pick(&h.Exchange)
		if seen[h.Session.Key+line] {
			continue
		}
		seen[h.Session.Key+line] = true
		f := Fixed{Hit: h, Exact: exact}
		if line != "" {
			if _, exchanges, err := k.Read(h.Session.Key); err == nil {
				if f.Solution, f.Solved = Solve(Talk(exchanges, h.Exchange.Subagent), line); f.Solved {
					for _, e := range exchanges {
						if e.N == f.Solution.Exchange {
							f.Hit.Exchange = e
						}
					}
				}
			}
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Fixed) int { return b.Hit.Session.Ended.Compare(a.Hit.Session.Ended) })
	return all
}

// A Way is a command that was run for a task.
type Way struct {
	Command  string    `json:"command"`
	Passed   int       `json:"passed"`
	Failed   int       `json:"failed"`
	Last     time.Time `json:"last"` // time it passed, or failed where it never passed
	GivenUp  bool      `json:"given_up"`
	Risky    string    `json:"risky,omitempty"` // the part of it that forces or deletes
	Exchange string    `json:"exchange"`        // the last one that ran it

	score float64
}

// How lists the commands that were run where a task was worked on, the best first: what passed, how
// often and when last. What failed and never passed was given up.
func (k *Kept) How(ctx context.Context, q Query) ([]Way, error) {
	limit := max(q.Limit, 1)
	q.Limit, q.Any = 40, true // a command that names the task counts, however it was asked for
	hits, err := k.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	asked := index.Tokens(q.Text)
	ways := make(map[string]*Way)
	for i := range hits {
		h := &hits[i]
		for j := range h.Exchange.Steps {
			s := &h.Exchange.Steps[j]
			key := NormalCommand(s.Run)
			if key == "" || s.Refused || s.Outcome == Unclear || Looks(s.Run) {
				continue
			}
			line, _, _ := strings.Cut(s.Run, "\n")
			named := share(asked, line)
			if named < gateRest && h.Coverage < gateBest {
				continue
			}
			w := ways[key]
			if w == nil {
				w = &Way{Command: strings.TrimSpace(line), Risky: claim.Risky(s.Run)}
				ways[key] = w
			}
			if s.Outcome == Passed {
				w.Passed++
			} else {
				w.Failed++
			}
			w.score += h.Score * h.Coverage * (0.15 + named)
			if at := cmp.Or(h.Exchange.At, h.Session.Ended); at.After(w.Last) || w.Exchange == "" {
				w.Last, w.Exchange = at, h.ID()
				if s.Outcome == Passed { // as it was written last
					w.Command = strings.TrimSpace(line)
				}
			}
		}
	}
	out := make([]Way, 0, len(ways))
	for _, w := range ways {
		w.GivenUp = w.Passed == 0
		if w.GivenUp {
			w.score /= 3
		}
		out = append(out, *w)
	}
	slices.SortFunc(out, func(a, b Way) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.Command, b.Command)) })
	return out[:min(len(out), limit)], nil
}

// share is the share of the words of a task that stand in a command.
func share(asked []string, line string) float64 {
	words := index.Words(line)
	n := 0
	for _, w := range asked {
		if slices.Contains(words, w) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(asked)))
}

// A Touch is an exchange that edited a file.
type Touch struct {
	Hit     Hit
	File    string   // as the exchange names it
	Commits []string // that the session made after the edit, until the next ones
}

// Touched lists the exchanges that edited a file, newest first. name is a path: more of it than its last
// name must not contradict.
func (k *Kept) Touched(ctx context.Context, q Query, name string) (all []Touch, err error) {
	name = strings.ReplaceAll(name, `\`, "/")
	limit := max(q.Limit, 1)
	q.Text, q.Any, q.Limit, q.named = "", true, 400, []uint32{nameHash("file", path.Base(name))}
	hits, err := k.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		t := Touch{Hit: h}
		for i := range h.Exchange.Steps {
			if f := h.Exchange.Steps[i].File; f != "" && samePath(f, name) {
				t.File = f
			}
		}
		if t.File != "" {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b Touch) int {
		return cmp.Or(cmp.Or(b.Hit.Exchange.At, b.Hit.Session.Ended).Compare(cmp.Or(a.Hit.Exchange.At, a.Hit.Session.Ended)),
			cmp.Compare(b.Hit.Exchange.N, a.Hit.Exchange.N))
	})
	all = all[:min(len(all), limit)]
	for i := range all {
		all[i].Commits = k.commitsAfter(&all[i])
	}
	return all, nil
}

// samePath reports whether two paths may be of one file: the shorter one ends the longer one.
func samePath(a, b string) bool {
	as, bs := strings.Split(strings.Trim(strings.ReplaceAll(a, `\`, "/"), "/"), "/"), strings.Split(strings.Trim(b, "/"), "/")
	for i := 1; i <= min(len(as), len(bs)); i++ {
		if as[len(as)-i] != bs[len(bs)-i] {
			return false
		}
	}
	return true
}

// commitsAfter returns the first commits that a session made at or behind an edit.
func (k *Kept) commitsAfter(t *Touch) []string {
	_, all, err := k.Read(t.Hit.Session.Key)
	if err != nil {
		return nil
	}
	edited := false
	for i := range all {
		for j := range all[i].Steps {
			s := &all[i].Steps[j]
			edited = edited || all[i].N == t.Hit.Exchange.N && s.File == t.File
			if edited && len(s.Commits) > 0 {
				return s.Commits
			}
		}
		if edited && len(all[i].Commits) > 0 {
			return all[i].Commits
		}
	}
	return nil
}
