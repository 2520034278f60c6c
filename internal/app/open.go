package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"anamnesis/internal/capture"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/session"
	"anamnesis/internal/store"
	"anamnesis/internal/store/tombstone"
)

// OpenStore opens the files alone: all that a capture hook needs.
func OpenStore(h Host) (*store.Store, error) {
	if h.Store != nil {
		return h.Store, nil
	}
	return store.Open(h.storeOptions(h.Config.Home))
}

func (h Host) storeOptions(root string) store.Options {
	return store.Options{
		Root: root, Home: h.Config.UserHome, Disk: h.Disk, Now: h.Now, LockTimeout: h.Config.Wait(store.LockTimeout), Version: h.Version,
	}
}

// OpenFiles opens all but the index, and what stands on it.
func OpenFiles(h Host) (*Rooms, error) {
	s, err := OpenStore(h)
	if err != nil {
		return nil, err
	}
	r := &Rooms{Config: h.Config, Store: s, Kept: session.New(s, h.Config.Sessions), Host: h}
	r.Kept.Hide(func() func(*session.Head) bool {
		forgetting, _ := tombstone.Forgetting(s) // whoever forgets reports what is wrong with the marks
		return func(h *session.Head) bool { return forgetting(note.EpisodicID(h.Started, h.Agent, h.Session)) }
	})
	if r.Redactor, err = OpenRedactor(s); err != nil {
		r.Rules = err // reading goes on; what a machine wrote waits (MayRedact)
		if r.Redactor, err = redact.New(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// busyTime is how long a command waits for another writer of the index.
const busyTime = 5 * time.Second

// Open opens everything, and looks at no file of a note. busy is how long to
// wait for another writer of the index, 0 the usual.
func Open(ctx context.Context, h Host, busy time.Duration) (*Rooms, error) {
	r, err := OpenFiles(h)
	if err != nil {
		return nil, err
	}
	s, c := r.Store, r.Config
	db, err := openIndex(ctx, r, busy)
	if err != nil {
		return nil, err
	}
	models, embedding, err := OpenModels(r)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	r.All = index.New(db, s, embedding)
	r.Index = r.All
	if hasTeam(r) || Away(r) {
		r.Index = index.New(index.OwnOnly(db), s, embedding)
	}
	r.door = tombstone.NewDoor(s)
	r.Index.Refuse(func(ref store.Ref, n *note.Note, data []byte) string { return cameBack(r, ref, n, data) })
	r.All.Believe(func() map[string]bool { return trustedIDs(s) })
	if Away(r) {
		beGuest(r)
	}
	r.Ingester = ingest.New(s, r.Index, r.Redactor, c.Ingest)
	r.Engine = recall.New(r.All, s, c.Recall, models)
	r.Injector = inject.New(r.Engine, s, c.Inject)
	r.Recorder = capture.New(s, r.Ingester, r.Redactor, c.Capture).Keeping(r.Kept)
	askRepositories(r)
	askProjects(r)
	return r, nil
}

// openIndex opens the index of the store.
func openIndex(ctx context.Context, r *Rooms, busy time.Duration) (index.Backend, error) {
	s, h := r.Store, r.Host
	if h.Backend != nil {
		return h.Backend(ctx, s.Path(""))
	}
	if Away(r) {
		return openAway(ctx, r, busy)
	}
	db, err := sqlite.Open(ctx, sqlite.Options{
		Path: s.Path("index.db"), ReadOnly: s.ReadOnly(), Busy: r.Config.Wait(cmp.Or(busy, busyTime)), Keep: h.Peek,
		Brief:    h.Brief,
		Degraded: func(line string) { h.Notifyf("%s", line) },
	})
	if err != nil {
		return nil, err
	}
	r.Notice, r.degraded = db.Notice(), db.Degraded
	return db, nil
}

// WalkBudget is how long a command looks for changed files before it answers.
const WalkBudget = 50 * time.Millisecond

// OpenWalked opens everything for a command and brings the index into step, as
// far as that goes at once. What is left is done by a run in the background. A command on
// more than walkedAtOnce notes answers from the index as it is.
func OpenWalked(ctx context.Context, h Host) (*Rooms, error) {
	return openWithin(ctx, h, h.Config.Wait(WalkBudget))
}

// OpenWhole is OpenWalked for commands that decide about many notes at once:
// they wait until the index knows all of them.
func OpenWhole(ctx context.Context, h Host) (*Rooms, error) { return openWithin(ctx, h, 0) }

// OpenServed opens everything for a server, which says hello before it looks at notes: its
// client waits a second or two and goes on without it. The first call looks for what
// changed, and fills an index that never was (hooks.Refresher).
func OpenServed(ctx context.Context, h Host) (*Rooms, error) {
	r, err := Open(ctx, h, 0)
	if err != nil {
		return nil, err
	}
	if _, _, _, err := r.Index.State(ctx); err == nil {
		return r, nil
	}
	r.Close()
	return OpenWalked(ctx, h)
}

// openWithin is OpenWalked with a time for the walk; 0 has no end.
func openWithin(ctx context.Context, h Host, budget time.Duration) (*Rooms, error) {
	r, err := Open(ctx, h, 0)
	if err != nil {
		return nil, err
	}
	whole := budget == 0
	_, files, walked, err := r.Index.State(ctx)
	if errors.Is(err, index.ErrAway) { // what is written now waits in the files
		r.Notify("%v; what is written now waits on this machine", err)
		r.Stale = -1
		return r, nil
	}
	if err == nil && walked.IsZero() {
		budget = 0 // a new index: an answer from nothing would be wrong
	}
	lost := errors.Is(err, index.ErrLost)
	if err == nil && budget > 0 && files > walkedAtOnce && !r.Index.IsGuest() {
		answerFirst(r, walked)
		return r, nil
	}
	if r.Notice != "" {
		r.Notify("%s", r.Notice)
	}
	bar := r.Progress("indexing notes")
	rep, err := r.Index.Sync(ctx, index.SyncOptions{Budget: budget, Progress: bar.Step})
	bar.Done()
	if errors.Is(err, index.ErrBusy) && !whole { // files changed, and another process writes the index
		rep.Stale, err = -1, nil
		r.Notify("another process is writing the index, so changed notes may be missing from the answer")
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	r.Stale = rep.Stale
	for _, u := range rep.Unread {
		r.Notify("%s cannot be read (%s), so notes in it may be missing from the answer; `anamnesis doctor` says what to do",
			r.Store.Path(u.Path), u.Reason)
	}
	if (rep.Healed || lost) && r.Notice == "" && r.IndexTrouble() == "" && !r.Store.ReadOnly() {
		r.Notify("the index was damaged and has been rebuilt from the notes")
	}
	if rep.Stale != 0 && !r.Store.ReadOnly() {
		if rep.Stale > 0 { // a walk that was cut cannot tell whether anything changed
			r.Notify("%d changed notes are not in the answer yet; they are being indexed in the background", rep.Stale)
		}
		_ = r.Detach("drain")
	}
	return r, nil
}

// OpenRedactor makes the redactor with the user's own rules.
func OpenRedactor(s *store.Store) (*redact.Redactor, error) {
	name := s.Path("redact.toml")
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return redact.New()
	}
	if err != nil {
		return nil, fmt.Errorf("read redaction rules: %w", err)
	}
	rules, err := redact.ParseRules(name, data)
	if err != nil {
		return nil, err
	}
	return redact.New(rules...)
}

// Again calls a use case that only reads. When the index is lost at the same time, because its
// file is damaged or the disk has become full, it is filled from the notes, and the use
// case is called once more.
func Again[T any](ctx context.Context, r *Rooms, use func(context.Context, *Rooms) (T, error)) (T, error) {
	v, err := use(ctx, r)
	if !errors.Is(err, index.ErrLost) || ctx.Err() != nil {
		return v, err
	}
	if _, err := r.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return v, err
	}
	return use(ctx, r)
}
