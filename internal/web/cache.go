package web

import (
	"context"
	"sync"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/app/diagnose"
	"anamnesis/internal/app/history"
	"anamnesis/internal/recall"
)

// sideAge is how long what stands beside every page may be old.
const sideAge = 5 * time.Second

// A cache holds a value that is dear to make. A request gets the value at once when
// there is one; an old one is rebuilt behind it. It is safe for concurrent use.
type cache[T any] struct {
	make func(context.Context, *app.Rooms) (T, error)

	mu      sync.Mutex
	value   T
	made    time.Time
	known   bool
	making  bool
	working sync.WaitGroup
}

// get returns the value, and waits for it when there is none yet.
func (c *cache[T]) get(ctx context.Context, r *app.Rooms) (T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		v, err := c.make(ctx, r)
		if err == nil {
			c.value, c.made, c.known = v, time.Now(), true
		}
		return v, err
	}
	if time.Since(c.made) > sideAge && !c.making {
		c.making = true
		r = r.Notifying(nil, nil)
		c.working.Go(func() {
			v, err := c.make(context.WithoutCancel(ctx), r)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.making, c.made = false, time.Now()
			if err == nil {
				c.value = v
			}
		})
	}
	return c.value, nil
}

// forget makes the next request wait for a new value.
func (c *cache[T]) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = false
}

// wait waits for what is being made.
func (c *cache[T]) wait() { c.working.Wait() }

// A sidebar is what stands beside every page.
type sidebar struct {
	Facets   history.Facets
	Projects []count // with the most notes first
	Waiting  int     // for a person
	Sync     app.SyncState
	Machine  string
	ReadOnly bool
	Trouble  string // of the index
}

// makeSidebar collects what stands beside every page.
func makeSidebar(ctx context.Context, r *app.Rooms) (*sidebar, error) {
	f, err := history.CountNotes(ctx, r, "")
	if err != nil {
		return nil, err
	}
	side := &sidebar{
		Facets: f, Projects: counts(f.ByProject), Machine: r.Config.MachineID, ReadOnly: r.Store.ReadOnly(), Trouble: r.IndexTrouble(),
	}
	if waits, err := app.CountWaiting(ctx, r); err == nil {
		side.Waiting = waits.Sum()
	}
	side.Sync, err = app.SyncStatus(ctx, r)
	return side, err
}

// A week is what memory did in the last seven days.
type week struct {
	activity diagnose.Activity
	gaps     []recall.Gap
	sessions []*app.SessionLog
}

// makeWeek reads the event log of seven days.
func makeWeek(ctx context.Context, r *app.Rooms) (*week, error) {
	w := new(week)
	var err error
	if w.activity, err = diagnose.Did(r, "7d"); err != nil {
		return nil, err
	}
	log, err := app.Log(ctx, r, app.LogOptions{Since: "7d", Limit: 6})
	if err != nil {
		return nil, err
	}
	w.sessions = log.Sessions
	w.gaps, err = app.OpenGaps(ctx, r)
	return w, err
}

// makeFleet reads the history of the notes.
func makeFleet(ctx context.Context, r *app.Rooms) (*app.MachinesAnswer, error) {
	a, err := app.Machines(ctx, r)
	return &a, err
}

// A kept value is good as long as nothing of the store changes.
type keptValue struct {
	version string
	value   any
}

// maxKept is how many values are kept; all go when there are more.
const maxKept = 64

// keep returns a value that is dear to make, made for the store as it stands. key names
// the value, with all that it depends on besides.
func keep[T any](r *request, key string, make func() (T, error)) (T, error) {
	version := history.Version(r.ctx, r.rooms)
	r.s.keeping.Lock()
	old, ok := r.s.kept[key]
	r.s.keeping.Unlock()
	if v, fits := old.value.(T); ok && fits && old.version == version {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	r.s.keeping.Lock()
	defer r.s.keeping.Unlock()
	if len(r.s.kept) >= maxKept {
		clear(r.s.kept)
	}
	r.s.kept[key] = keptValue{version, v}
	return v, nil
}
