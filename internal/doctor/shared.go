package doctor

import (
	"context"
	"os"
	"sync"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
)

// A shared holds what several checks look at, so that it is looked at once.
type shared struct {
	walk  func() []store.Ref
	look  func() looked
	log   func() (eventLog, error)
	p     *Target
	mu    sync.Mutex
	asked bool
	sync  replica.SyncState
	err   error
}

// A looked is what a look at the trees found that a walk over the notes does not yield.
type looked struct {
	unseen          []store.Unseen
	links, sidecars []string
}

func newShared(p *Target) *shared {
	g := &shared{p: p}
	g.walk = sync.OnceValue(func() []store.Ref {
		var refs []store.Ref
		for ref := range p.Store.Walk() {
			refs = append(refs, ref)
		}
		return refs
	})
	g.look = sync.OnceValue(func() (l looked) {
		l.unseen, l.links, l.sidecars = store.LookUnseen(p.Store)
		return l
	})
	g.log = sync.OnceValues(func() (eventLog, error) { return readLog(p.Store, p.now()) })
	return g
}

// syncState asks once how the sync stands.
func (g *shared) syncState(ctx context.Context) (replica.SyncState, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.asked {
		g.sync, g.err = g.p.Sync(ctx)
		g.asked = ctx.Err() == nil
	}
	return g.sync, g.err
}

// An eventLog is what the end of the event log says.
type eventLog struct {
	last     map[string]time.Time    // of each kind
	count    map[string]int          // in the last days
	failures map[string]int          // of hooks in the last days, by what they said
	became   map[note.ID]store.Tally // of notes that sessions were shown, in these months
	started  map[string]int          // sessions of each agent in the last days
	damaged  map[string]damage       // files of sessions that could not be read in the last days
	newest   time.Time
}

// A damage is what could not be read of a file.
type damage struct {
	lines int
	err   string // why the whole file could not
}

const (
	logDays = 7 * 24 * time.Hour
	logTail = 1 << 20 // bytes of each of the two newest months

	maxBecame = 10000 // notes
)

// readLog reads the end of the log: its last two months, bounded.
func readLog(s *store.Store, now time.Time) (eventLog, error) {
	l := eventLog{
		last: make(map[string]time.Time), count: make(map[string]int), failures: make(map[string]int),
		became: make(map[note.ID]store.Tally), started: make(map[string]int), damaged: make(map[string]damage),
	}
	files, err := s.Events().Files()
	if err != nil {
		return l, err
	}
	for _, name := range files[max(0, len(files)-2):] {
		var from int64
		if fi, err := os.Stat(s.Path("events/" + name)); err == nil && fi.Size() > logTail {
			from = fi.Size() - logTail
		}
		if _, err := s.Events().Records(name, from, func(r store.Record) { l.add(r, now) }); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (l *eventLog) add(r store.Record, now time.Time) {
	at, err := time.Parse(time.RFC3339, r.At)
	if err != nil {
		return
	}
	if at.After(l.newest) {
		l.newest = at
	}
	if kind := clean(r.Kind, 20); len(l.last) < 100 && at.After(l.last[kind]) {
		l.last[kind] = at
	}
	if r.Kind == store.FollowedUp && len(l.became) < maxBecame {
		r.Add(l.became)
	}
	if now.Sub(at) > logDays {
		return
	}
	if len(l.count) < 100 {
		l.count[clean(r.Kind, 20)]++
	}
	if r.Kind == store.Started && len(l.started) < 100 {
		l.started[clean(r.Model, 20)]++
	}
	if r.Kind == store.Damaged && (len(l.damaged) < 200 || l.damaged[r.Text] != damage{}) {
		l.damaged[r.Text] = damage{r.Count, clean(r.Error, maxLine)}
	}
	if text := clean(r.Text+": "+r.Error, maxLine); r.Kind == store.HookFailure && (len(l.failures) < 200 || l.failures[text] > 0) {
		l.failures[text]++
	}
}
