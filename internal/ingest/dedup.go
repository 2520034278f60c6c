package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Duplicate is a note that says what another says.
type Duplicate struct {
	Drop, Keep index.Row
}

// PlanDedup looks for portable notes of one type that say the same
// (note.Fingerprint.Same). Of each group one stays: a global note before one of a project, then the oldest, then the
// smallest id. Notes without a body, notes that are not live and sessions are
// no duplicates. Notes of two projects are duplicates only when a global one
// says the same, unless everywhere is set: what is dropped from a project is not
// shown there any more.
func (g *Ingester) PlanDedup(ctx context.Context, everywhere bool) ([]Duplicate, error) {
	rows, err := g.index.Alike(ctx, index.Filter{
		Scope: note.Portable, Types: []note.Type{note.Procedural, note.Semantic}, Now: g.store.Now(),
	})
	if err != nil {
		return nil, err
	}
	rows, err = g.suspects(ctx, rows)
	if err != nil {
		return nil, err
	}
	groups := make(map[[sha256.Size]byte][]spoken)
	for _, r := range rows {
		n, _, _, err := g.store.Read(r.Ref.Path)
		if err != nil || strings.TrimSpace(n.Body) == "" {
			continue
		}
		what := n.Fingerprint()
		sum := sha256.Sum256([]byte(string(n.Type) + "\x00" + what.Key()))
		groups[sum] = append(groups[sum], spoken{r, what})
	}
	plan := []Duplicate{}
	for _, group := range groups {
		slices.SortFunc(group, func(a, b spoken) int {
			return cmp.Or(cmp.Compare(local(a.row), local(b.row)), a.row.Created.Compare(b.row.Created), cmp.Compare(a.row.ID, b.row.ID))
		})
		for i, r := range group {
			for _, keep := range group[:i] {
				together := everywhere || keep.row.Project == note.Global || keep.row.Project == r.row.Project
				if together && keep.what.Same(&r.what) {
					plan = append(plan, Duplicate{Drop: r.row, Keep: keep.row})
					break
				}
			}
		}
	}
	slices.SortFunc(plan, func(a, b Duplicate) int { return cmp.Compare(a.Drop.ID, b.Drop.ID) })
	return plan, nil
}

// suspects are the rows of which another has the same letters (note.SaidLetters), in their order:
// the others are no duplicates, and what a note says is expensive to work out for all. An index
// may leave all rows to be looked through.
func (g *Ingester) suspects(ctx context.Context, rows []index.Row) ([]index.Row, error) {
	keys := make([][sha256.Size]byte, len(rows))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(rows)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				data, err := g.store.ReadFile(rows[i].Ref.Path, store.MaxNoteSize)
				if err != nil {
					continue
				}
				n, err := note.Parse(data)
				if err != nil {
					continue
				}
				if letters := n.SaidLetters(); letters != "" {
					keys[i] = sha256.Sum256([]byte(letters))
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	count := make(map[[sha256.Size]byte]int, len(rows))
	for _, k := range keys {
		count[k]++
	}
	count[[sha256.Size]byte{}] = 0
	var some []index.Row
	for i, k := range keys {
		if count[k] > 1 {
			some = append(some, rows[i])
		}
	}
	return some, nil
}

// A spoken note is one that is compared with others.
type spoken struct {
	row  index.Row
	what note.Fingerprint
}

func local(r index.Row) int {
	if r.Project == note.Global {
		return 0
	}
	return 1
}

// Dedup carries a plan out and returns how many notes it removed. The note that
// stays gets the tags, the evidence and the entities of the one that goes, and
// every reference to it. What changed since the plan was made is left alone. A
// removed note stands in the history.
func (g *Ingester) Dedup(ctx context.Context, plan []Duplicate) (removed int, err error) {
	w, err := g.store.BeginWrite(ctx)
	if err != nil {
		return 0, err
	}
	defer w.End()
	into := make(map[note.ID]note.ID)
	plan = slices.Clone(plan)
	for i := range plan {
		d := &plan[i]
		for _, other := range plan { // what is kept here may itself go
			if other.Drop.ID == d.Keep.ID {
				d.Keep = other.Keep
			}
		}
		if d.Keep.ID != d.Drop.ID && g.same(d.Drop, d.Keep) {
			into[d.Drop.ID] = d.Keep.ID
		}
	}
	// The references first: a crash in between leaves two equal notes, and the
	// next run finds them again.
	paths, err := g.redirect(w, into)
	for _, d := range plan {
		if err != nil {
			break
		}
		if into[d.Drop.ID] != d.Keep.ID {
			continue
		}
		if err = g.absorbDuplicate(w, d.Drop, d.Keep); err != nil {
			err = fmt.Errorf("remove duplicate %s of %s: %w", d.Drop.ID, d.Keep.ID, err)
			break
		}
		removed++
		paths = append(paths, d.Drop.Ref.Path, d.Keep.Ref.Path)
	}
	if rerr := g.index.Refresh(ctx, paths...); err == nil {
		err = rerr
	}
	return removed, err
}

// same reports whether two notes are what the plan says they are.
func (g *Ingester) same(drop, keep index.Row) bool {
	a, _, _, err := g.store.Read(drop.Ref.Path)
	if err != nil || a.ID != drop.ID {
		return false
	}
	b, _, _, err := g.store.Read(keep.Ref.Path)
	if err != nil || b.ID != keep.ID || a.Type != b.Type {
		return false
	}
	says, other := a.Fingerprint(), b.Fingerprint()
	return says.Same(&other)
}

// absorbDuplicate removes a note that says what another says.
func (g *Ingester) absorbDuplicate(w *store.Writer, drop, keep index.Row) error {
	gone, _, from, err := g.store.Read(drop.Ref.Path)
	if err != nil {
		return err
	}
	stays, _, ref, err := g.store.Read(keep.Ref.Path)
	if err != nil {
		return err
	}
	now := stays.Clone()
	now.AddTags(gone.Tags...)
	unite(now, gone)
	for _, id := range gone.Supersedes {
		if id != now.ID && !slices.Contains(now.Supersedes, id) {
			now.Supersedes = append(now.Supersedes, id)
		}
	}
	if !note.Equal(stays, now) {
		now.UpdatedAt = note.At(g.store.Now())
		if ref, _, err = w.Put(now, ref, store.Update); err != nil {
			return err
		}
	}
	return w.MergeSidecar(from, ref)
}

// redirect makes every reference to a note that goes one to the note that stays.
func (g *Ingester) redirect(w *store.Writer, into map[note.ID]note.ID) (paths []string, err error) {
	if len(into) == 0 {
		return nil, nil
	}
	for ref := range g.store.Walk() {
		was, _, at, err := g.store.Read(ref.Path)
		if err != nil {
			continue
		}
		now := was.Clone()
		for _, list := range []*[]note.ID{&now.Supersedes, &now.DerivedFrom} {
			*list = redirected(*list, into, now.ID)
		}
		if to, ok := into[now.ConflictOf]; ok && to != now.ID {
			now.ConflictOf = to
		}
		if note.Equal(was, now) {
			continue
		}
		now.UpdatedAt = note.At(g.store.Now())
		if _, _, err := w.Put(now, at, store.Update); err != nil {
			return paths, fmt.Errorf("redirect references of note %s: %w", now.ID, err)
		}
		paths = append(paths, ref.Path)
	}
	return paths, nil
}

func redirected(ids []note.ID, into map[note.ID]note.ID, self note.ID) []note.ID {
	var out []note.ID
	for _, id := range ids {
		if to, ok := into[id]; ok {
			id = to
		}
		if id != self && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}
