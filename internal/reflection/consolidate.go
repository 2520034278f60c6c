package reflection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Due says whether there is enough that is new to consolidate.
type Due struct {
	New   int       // learnings since the last pass
	Since time.Time // the last pass; zero when there was none
	Now   bool
	Why   string
}

// consolidateAge is how long what is new waits at most.
const consolidateAge = 7 * 24 * time.Hour

// consolidateAt is how many learnings that are new are enough for a pass (docs/learning.md).
const consolidateAt = 30

// ConsolidationDue counts the learnings since the last pass of this machine. The counter is
// a fold of the event log and of the notes, so it survives the index: what this machine
// learnt since, and what was written since on another.
func (r *Reflector) ConsolidationDue(ctx context.Context) (d Due, err error) {
	fresh := make(map[note.ID]bool)
	var seen time.Time // when the newest learning of the last pass
	files, err := r.Store.Events().Files()
	if err != nil {
		return d, err
	}
	for _, file := range files {
		if _, err := r.Store.Events().Records(file, 0, func(rec store.Record) {
			switch {
			case rec.Kind == store.Consolidated:
				if at, err := time.Parse(time.RFC3339, rec.At); err == nil {
					d.Since = at
				}
				// A clock that was ahead: what the pass saw is not new for ever.
				if at, err := time.Parse(time.RFC3339, rec.Text); err == nil && at.After(d.Since) {
					seen = at
				}
				clear(fresh)
			case rec.Kind == store.Learnt && rec.Error == "" && len(rec.Notes) > 0 && rec.Text != string(ingest.Confirms):
				fresh[rec.Notes[0]] = true
			}
		}); err != nil {
			return d, err
		}
	}
	rows, err := r.learnt(ctx)
	if err != nil {
		return d, err
	}
	var oldest time.Time
	for i := range rows {
		if !fresh[rows[i].ID] && (!rows[i].Created.After(d.Since) || !rows[i].Created.After(seen)) {
			continue
		}
		d.New++
		if at := rows[i].Created; oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	since := d.Since
	if since.IsZero() {
		since = oldest
	}
	switch {
	case d.New >= consolidateAt:
		d.Now, d.Why = true, fmt.Sprintf("%d learnings are new, and %d are enough", d.New, consolidateAt)
	case d.New > 0 && r.Store.Now().Sub(since) >= consolidateAge:
		d.Now, d.Why = true, fmt.Sprintf("%d are new, and the last pass is seven days ago", d.New)
	}
	return d, nil
}

// learnt lists what stands that sessions taught.
func (r *Reflector) learnt(ctx context.Context) ([]index.Row, error) {
	rows, err := r.index.Select(ctx, index.Filter{
		Types: []note.Type{note.Semantic, note.Procedural}, Sources: note.LearntSources,
		WithoutKinds: []note.Kind{note.Observation}, Now: r.Store.Now(),
	}, 0)
	if err != nil {
		return nil, fmt.Errorf("count the learnings: %w", err)
	}
	return rows, nil
}

// A Consolidation is what a pass did.
type Consolidation struct {
	Foldings []Folding
	Observed []note.ID // observations that were made or added to, and notes of the user that were confirmed
	Replaced int       // learnings that they stand for
	Retired  []note.ID // observations that nothing supports any more
	Stale    error     // all is written, and the index does not know it yet
	Err      error     // the model was of no use; what needs none is done
}

// PlanConsolidation says what a pass would fold, of one project or with "" of all. It asks no
// model, writes nothing, and does not restart the count.
func (r *Reflector) PlanConsolidation(ctx context.Context, project string) (c Consolidation, err error) {
	err = r.eachProject(ctx, project, func(key string) error {
		all, err := r.learnings(ctx, key)
		if err != nil {
			return err
		}
		c.Foldings = append(c.Foldings, foldings(key, all)...)
		c.Retired = append(c.Retired, r.orphans(all)...)
		return nil
	})
	return c, err
}

// Consolidate folds learnings into observations: those that say the same, and with a model
// what several show together. An error of the model changes nothing of the rest. A pass over
// all projects restarts the count of ConsolidationDue.
func (r *Reflector) Consolidate(ctx context.Context, project string) (c Consolidation, err error) {
	unlock, err := r.lock()
	if err != nil {
		return c, err
	}
	defer unlock()
	began := r.Store.Now()
	err = r.eachProject(ctx, project, func(key string) error {
		all, err := r.learnings(ctx, key)
		if err != nil {
			return err
		}
		for _, f := range foldings(key, all) {
			if err := r.writeFolding(ctx, f, "", &c); err != nil {
				return err
			}
		}
		if err := r.retire(ctx, r.orphans(all), &c); err != nil {
			return err
		}
		if ask := r.Model != nil && c.Err == nil; ask {
			return r.showTogether(ctx, key, &c)
		}
		return nil
	})
	if len(c.Observed) > 0 {
		err = errors.Join(err, r.Store.Events().Log(store.Record{
			Kind: store.Reflected, Project: project, Text: "observe", Count: c.Replaced, Notes: c.Observed,
		}))
	}
	if err == nil && project == "" {
		err = r.passed(ctx, &c, began)
	}
	return c, err
}

// passed restarts the count.
func (r *Reflector) passed(ctx context.Context, c *Consolidation, began time.Time) error {
	rows, err := r.learnt(ctx)
	if err != nil {
		return err
	}
	var newest time.Time
	for i := range rows {
		if rows[i].Created.After(newest) {
			newest = rows[i].Created
		}
	}
	rec := store.Record{
		Kind: store.Consolidated, Count: len(c.Observed), Notes: c.Observed, MS: float64(r.Store.Now().Sub(began).Milliseconds()),
	}
	if !newest.IsZero() {
		rec.Text = newest.UTC().Format(time.RFC3339)
	}
	return r.Store.Events().Log(rec)
}

// showTogether lets the model find what the learnings of a project show together. That it
// is of no use stands in c.Err, and it is not asked about further projects then.
func (r *Reflector) showTogether(ctx context.Context, project string, c *Consolidation) error {
	all, err := r.learnings(ctx, project)
	if err != nil {
		return err
	}
	found, bad := r.askObservations(ctx, project, all)
	c.Err = bad
	for _, f := range found {
		if err := r.writeFolding(ctx, f, r.Model.Name(), c); err != nil {
			return err
		}
	}
	return nil
}

// eachProject calls f for one project, or for all that have learnings.
func (r *Reflector) eachProject(ctx context.Context, project string, f func(key string) error) error {
	keys := []string{project}
	if project == "" {
		counts, err := r.index.PerProject(ctx, index.Filter{Sources: note.LearntSources, Now: r.Store.Now()})
		if err != nil {
			return fmt.Errorf("list the projects: %w", err)
		}
		keys = nil
		for key := range counts {
			keys = append(keys, key)
		}
		slices.Sort(keys)
	}
	for _, key := range keys {
		if err := f(key); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// writeFolding writes one folding. An observation that its owner retired, and one that is known
// whole already, count for nothing.
func (r *Reflector) writeFolding(ctx context.Context, f Folding, model string, c *Consolidation) error {
	if f.Keeper != "" {
		done, stale, err := r.keep(ctx, f)
		if c.Stale = errors.Join(c.Stale, stale); done && err == nil {
			c.Foldings, c.Observed, c.Replaced = append(c.Foldings, f), append(c.Observed, f.Keeper), c.Replaced+len(f.Replaces)
		}
		return err
	}
	out, err := r.observe(ctx, f, model)
	if err != nil {
		return err
	}
	if out.Stale != nil {
		c.Stale = errors.Join(c.Stale, out.Stale)
	}
	if out.Result == ingest.Created || out.Result == ingest.Updated {
		f.Stands = out.Note.ID
		c.Foldings, c.Observed, c.Replaced = append(c.Foldings, f), append(c.Observed, out.Note.ID), c.Replaced+len(f.Replaces)
	}
	return nil
}

func (r *Reflector) retire(ctx context.Context, ids []note.ID, c *Consolidation) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := r.ingester.Archive(ctx, ids, "the learnings that it was made of are gone")
	if behind := new(ingest.StaleError); errors.As(err, &behind) {
		c.Stale, err = errors.Join(c.Stale, behind.Err), nil
	}
	if err == nil {
		c.Retired = append(c.Retired, ids...)
	}
	return err
}
