package eval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/reflection"
)

// GateCases reads the cases that a merge must not lose. That there are none is an
// error: a gate without questions lets everything through.
func GateCases(file string, lookup Lookup) (cases []Case, warnings []string, err error) {
	cases, warnings, err = Load(file, false, lookup)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = &missingSet{fmt.Sprintf("merging is recall-gated; no eval set at %s: write one, or run `anamnesis eval build` and approve "+
			"the cases that are right, or merge with --no-gate", file)}
	case err == nil && len(cases) == 0:
		err = fmt.Errorf("merging is recall-gated; there are no approved cases in %s: write \"approved\":true into those that are right, "+
			"or merge with --no-gate", file)
	}
	return cases, warnings, err
}

// A MergeGate tries groups of notes on a copy of the store, one copy for all of
// them: a group is applied there, the cases are asked, and when recall fell below
// what it was, what the group changed is put back. It is not safe for concurrent
// use.
type MergeGate struct {
	copy      *sandbox
	reflector *reflection.Reflector
	cases     []Case
	k         int
	standing  standing
	base      float64 // recall@k before the present proposal: no group of it may go below
	now       float64 // with what is accepted for good
	last      *trial  // accepted by us, and not yet known to stand in the live store
	accepted  []reflection.Group
	refused   []reflection.Refusal // what the copy refused alone, and why
}

// A trial is a group that was applied to the copy.
type trial struct {
	group  reflection.Group
	stands standing // what the standing was before
	after  float64
}

// Gate copies the store and measures recall@k on the untouched copy. k is
// bounded by recall.MaxK.
func (l Lab) Gate(ctx context.Context, cases []Case, k int, p Progress) (_ *MergeGate, err error) {
	if len(cases) == 0 {
		return nil, errors.New("make a gate: there are no cases")
	}
	c, err := openCopy(ctx, l.Live, l.Setup, p)
	if err != nil {
		return nil, err
	}
	ready := false
	defer func() {
		if !ready {
			err = errors.Join(err, c.Close())
		}
	}()
	g := &MergeGate{copy: c, reflector: l.Reflector(c.Workbench), cases: cases, k: max(1, min(k, recall.MaxK))}
	s, err := look(ctx, c.Store)
	if err != nil {
		return nil, err
	}
	g.standing = s.standing
	if g.now, err = g.measure(ctx); err != nil {
		return nil, err
	}
	g.base, ready = g.now, true
	return g, nil
}

// Close removes the copy.
func (g *MergeGate) Close() error { return g.copy.Close() }

// Merge applies a proposal to the live store, each group after it was tried.
func (g *MergeGate) Merge(ctx context.Context, live *reflection.Reflector, p reflection.Proposal) (reflection.Merging, error) {
	m, err := live.Merge(ctx, p, g.For(p))
	for i, r := range m.Refused {
		at := slices.IndexFunc(g.refused, func(other reflection.Refusal) bool { return same(r.Group, other.Group) })
		if r.Why == "" && at >= 0 {
			m.Refused[i].Why = g.refused[at].Why
		}
	}
	return m, errors.Join(err, g.settle(ctx, m.Applied))
}

// For returns the gate of one proposal, as reflection wants it. Whoever uses it
// without Merge must use it for one proposal alone.
func (g *MergeGate) For(p reflection.Proposal) reflection.Gate {
	g.accepted, g.refused, g.base = nil, nil, g.now
	return func(ctx context.Context, groups []reflection.Group) (before, after float64, ok bool, err error) {
		if len(groups) == 0 {
			return g.base, g.base, true, nil
		}
		// What we let through may have been refused afterwards, for other reasons.
		if err := g.settle(ctx, groups[:len(groups)-1]); err != nil {
			return 0, 0, false, err
		}
		after, ok, err = g.try(ctx, p, groups[len(groups)-1])
		return g.base, after, ok, err
	}
}

// settle makes the copy what the live store is: the last group that was let
// through stays if it is among those that were applied.
func (g *MergeGate) settle(ctx context.Context, applied []reflection.Group) error {
	if t := g.last; t != nil {
		if slices.ContainsFunc(applied, func(a reflection.Group) bool { return same(a, t.group) }) {
			g.accepted, g.now, g.last = append(g.accepted, t.group), t.after, nil
		} else if err := g.takeBack(ctx); err != nil {
			return err
		}
	}
	if len(applied) != len(g.accepted) {
		return fmt.Errorf("gate the merge: %d groups were applied, the gate knows %d", len(applied), len(g.accepted))
	}
	return nil
}

// try applies a group to the copy and asks.
func (g *MergeGate) try(ctx context.Context, p reflection.Proposal, group reflection.Group) (after float64, ok bool, err error) {
	g.last = &trial{group: group, stands: g.standing}
	g.copy.disk.watch()
	m, err := g.reflector.Merge(ctx, p.Only([]reflection.Group{group}), nil)
	if err == nil {
		err = m.Stale
	}
	if err == nil && len(m.Applied) == 0 { // as the live store would, most likely
		g.refused = append(g.refused, m.Refused...)
		return g.base, false, g.takeBack(ctx)
	}
	if err == nil {
		g.standing = g.standing.with(group, m.Synthesized)
		if _, err = g.copy.Index.EmbedMissing(ctx, 0, nil); err == nil {
			after, err = g.measure(ctx)
		}
	}
	if err != nil || after < g.base {
		return after, false, errors.Join(err, g.takeBack(ctx))
	}
	g.last.after = after
	return after, true, nil
}

// takeBack undoes the last trial.
func (g *MergeGate) takeBack(ctx context.Context) error {
	t := g.last
	g.last, g.standing = nil, t.stands
	touched, err := g.copy.disk.undo()
	if err != nil {
		return fmt.Errorf("take back %s: %w", t.group, err)
	}
	var notes []string
	for _, path := range touched {
		rel, err := filepath.Rel(g.copy.root, path)
		if err != nil || filepath.Ext(path) != ".md" {
			continue
		}
		if rel = filepath.ToSlash(rel); strings.HasPrefix(rel, "memory/") || strings.HasPrefix(rel, "local/") {
			notes = append(notes, rel)
		}
	}
	slices.Sort(notes)
	if err := g.copy.Index.Refresh(context.WithoutCancel(ctx), notes...); err != nil {
		return fmt.Errorf("take back %s: %w", t.group, err)
	}
	return nil
}

// measure is recall@k of the copy as it is.
func (g *MergeGate) measure(ctx context.Context) (float64, error) {
	r, _, err := g.standing.measure(ctx, g.copy.Engine, g.cases, RunOptions{Ks: []int{g.k}, ownWords: true})
	return r.At[g.k], err
}

// with returns the standing after a group was merged.
func (s standing) with(g reflection.Group, synthesized []note.ID) standing {
	by := synthesized
	if g.Action == reflection.Keep {
		by = []note.ID{g.Keeper}
	}
	next := make(standing, len(s)+len(g.Superseded))
	for id, ids := range s {
		next[id] = ids
	}
	for _, id := range g.Superseded {
		next[id] = slices.Concat(next[id], by)
	}
	return next
}

// same reports whether two groups are one.
func same(a, b reflection.Group) bool {
	return a.Action == b.Action && a.Keeper == b.Keeper && a.New == b.New && slices.Equal(a.Superseded, b.Superseded)
}
