package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/doctor"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// maxDelete is the share of the notes that one sync may delete here unasked, if
// it is more than one note: a remote that was emptied by mistake must not empty
// every machine.
const maxDelete = 0.2

// rounds is how often a sync goes through the cycle: once more when
// carrying out what came in changed files that travel.
const rounds = 3

// SyncOptions say how the notes are committed, and whether they go further.
type SyncOptions struct {
	Remote      bool // with the remote too
	Automatic   bool // nobody waits for it
	AllowDelete bool // the remote may delete as much as it wants
	ResetFormat bool // the remote asks for no newer program any more
}

// Sync commits what was written, and exchanges it with the remote if asked.
// Without git the notes are as safe as files are; that is reported, and is no
// failure. One process does it at a time (the lock "sync"), and whoever finds
// another at work returns at once with Busy.
func Sync(ctx context.Context, r *Rooms, o SyncOptions) (s SyncResult, err error) {
	s.Held = []WithheldFile{}
	unlock, ok, err := r.Store.TryLock("sync")
	if err != nil {
		return s, err
	}
	if !ok {
		s.Busy, s.Detail = true, "another sync is at work; what it does not take along goes with the next one"
		return s, nil
	}
	defer unlock()
	began := time.Now()
	installationID(r, true)
	if o.Remote {
		ImportNative(ctx, r)
	}
	stop := false
	if o.Remote && !o.AllowDelete {
		stop, err = overGraves(r, &s)
	}
	if err == nil && !stop {
		err = syncRounds(ctx, r, o, &s)
	}
	err = excuse(r, err, &s)
	if o.Remote && err == nil {
		tellUnseen(r, &s)
	}
	if s.Deleted > 0 {
		s.Detail += fmt.Sprintf("; the pull deleted %s", Plural(s.Deleted, "note"))
	}
	if len(s.Held) > 0 {
		s.Detail += "; `anamnesis review held` shows what does not travel"
	}
	s.Conflicts = r.Store.Conflicts().Count()
	if s.Conflicts > 0 {
		s.Conflicted = true
		s.Detail += fmt.Sprintf("; %s to decide: `anamnesis review conflicts`", Plural(s.Conflicts, "conflict"))
	}
	return s, errors.Join(err, recordSync(r, s, o, err, began))
}

// syncRounds goes through the cycle as often as needed, each time with what may travel then.
func syncRounds(ctx context.Context, r *Rooms, o SyncOptions, s *SyncResult) error {
	for again, round := true, 0; again && round < rounds; round++ {
		backend, err := openOwnReplica(r, o)
		if err == nil {
			again, err = syncOnce(ctx, r, backend, o, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SyncWhole is Sync with the remote, and then exchanges notes with a team, if there is
// one. That its database does not answer is reported, and is no failure: the notes go with a
// later run.
func SyncWhole(ctx context.Context, r *Rooms, o SyncOptions) (SyncResult, error) {
	o.Remote = true
	home, herr := ExchangeHome(ctx, r) // first, so that git takes along what came home
	s, err := Sync(ctx, r, o)
	syncAway(ctx, r, &s)
	if herr != nil {
		r.Notify("%v", herr)
	}
	if r.Config.Index.Server != "" && !Away(r) && herr == nil {
		s.Detail += fmt.Sprintf("; with machines without a store: sent %d, took in %d", home.Sent.Put, home.Taken+home.Held)
	}
	if err == nil && !s.Busy && hasTeam(r) {
		t, terr := Exchange(ctx, r, ExchangeOptions{Wait: ForegroundWait})
		if terr != nil {
			r.Notify("the team's database or repository: %v", terr)
		}
		s.Detail += fmt.Sprintf("; of the team: sent %d, took in %d", t.Sent.Put, t.Taken.Put+t.Reviewed.Put)
	}
	return s, err
}

// SyncAndIndex syncs with the remote and brings the index into step with what came
// in. It returns how many notes were indexed.
func SyncAndIndex(ctx context.Context, r *Rooms) (s SyncResult, indexed int, err error) {
	if s, err = SyncWhole(ctx, r, SyncOptions{}); err != nil {
		return s, 0, err
	}
	rep, err := r.Index.Sync(ctx, index.SyncOptions{})
	if r.Config.Sync.Remote == "" && !strings.Contains(s.Detail, "remote") {
		s.Detail += "; no remote is configured"
	}
	return s, rep.Indexed, err
}

// ResetFormat removes memory/format.json here, before the store is opened, and SyncOptions.ResetFormat
// does so at the remote. Only a person knows that none of their machines has the version that it asks for.
func ResetFormat(h Host) error {
	if err := ingest.May(h.By, ingest.Decide); err != nil {
		return err
	}
	removed, err := store.ResetFormat(h.storeOptions(h.Config.Home))
	if removed {
		h.Notify("memory/format.json was removed; every version of the program may write the store again")
	}
	return err
}

// openOwnReplica opens the repository of the portable notes.
func openOwnReplica(r *Rooms, o SyncOptions) (replica.Backend, error) {
	return openReplica(replicaOptions(r, o))
}

func openReplica(o replica.Options) (replica.Backend, error) {
	o.Env = config.Environ()
	return replica.Open(o)
}

// excuse turns what is no failure into something to be reported.
func excuse(r *Rooms, err error, s *SyncResult) error {
	switch {
	case errors.Is(err, replica.ErrNoGit):
		r.Notify("%v", err)
		s.Detail = err.Error()
	case errors.Is(err, replica.ErrHeld): // the other notes went
		r.Notify("%v", err)
	case errors.Is(err, replica.ErrBlocked):
		r.Notify("%v", err)
		s.Conflicted, s.Detail = true, "not committed: "+err.Error()
	default:
		return err
	}
	return nil
}

// syncOnce commits, or syncs and carries out what came in. again is true if
// that changed files that travel.
func syncOnce(ctx context.Context, r *Rooms, b replica.Backend, o SyncOptions, s *SyncResult) (again bool, err error) {
	if !o.Remote {
		committed, err := b.Commit(ctx, nil)
		var held *replica.HeldError
		if errors.As(err, &held) {
			s.hold(held.Files)
		}
		if s.Committed = s.Committed || committed; err == nil {
			s.Detail = map[bool]string{true: "committed locally (no sync)", false: "nothing to commit (no sync)"}[s.Committed]
		}
		marked, merr := markEdited(ctx, r, s)
		if marked && merr == nil {
			return true, nil
		}
		return false, errors.Join(err, merr)
	}
	out, err := b.Sync(ctx)
	s.take(out)
	erased, again, derr := applyPulled(ctx, r, out)
	s.Deleted += erased
	marked, merr := markEdited(ctx, r, s)
	return again || marked, errors.Join(err, derr, merr)
}

// markEdited marks the files that were held back only because they are notes of an earlier program that somebody
// edited (ingest.Incoming.MarkEdited): they travel then, as edits by hand do.
func markEdited(ctx context.Context, r *Rooms, s *SyncResult) (marked bool, err error) {
	sums := make(map[string]string) // of the files as they are, by path
	for _, h := range s.Held {
		if strings.HasPrefix(h.Why, claimWhy) { // a file that lost its text must not look like one that this program wrote
			data, _ := r.Store.ReadFile(layout.Memory+"/"+h.Path, store.MaxNoteSize)
			sums[h.Path] = store.Digest(data)
		}
	}
	if len(sums) == 0 {
		return false, nil
	}
	changed, err := ingest.NewIncoming(r.Store).MarkEdited(ctx, slices.Collect(maps.Keys(sums)))
	if len(changed) == 0 {
		return false, err
	}
	s.Detail = "" // the next round says what is held
	return true, errors.Join(err, allowMarked(ctx, r, changed, sums), Reindex(ctx, r, changed))
}

// applyPulled carries out what a sync brought: tombstones are obeyed, a note that
// stands in two places gets one, and the index is updated. The sync may have
// failed after it had brought something. erased is how many notes tombstones took
// that the sync itself had left; again says that files changed that travel.
func applyPulled(ctx context.Context, r *Rooms, out replica.Outcome) (erased int, again bool, err error) {
	if r.Store.ReadOnly() {
		return 0, false, nil
	}
	trace := traceOf(ctx, r, forgotten(r, out.Changed)...) // the index has not been updated yet
	gone := func(paths []string) error {
		erased = len(paths)
		trace = trace.And(traceOf(ctx, r, paths...))
		forgetShared(r, idsOf(paths))
		return disallow(r, paths)
	}
	paths, err := ingest.NewIncoming(r.Store).Finish(ctx, gone, func() bool {
		return len(out.Changed) > 0 || out.Pulled > 0 || twins(ctx, r)
	})
	again = slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, "memory/") })
	for _, path := range out.Changed {
		paths = append(paths, "memory/"+path)
	}
	err = errors.Join(err, Reindex(ctx, r, paths))
	erase(ctx, r, trace)
	return erased, again, err
}

// twins reports whether the index has met a note in two places, as a crash in
// the middle of moving it leaves it.
func twins(ctx context.Context, r *Rooms) bool {
	found, err := r.Index.Problems(ctx)
	return err == nil && slices.ContainsFunc(found, func(pr index.Problem) bool { return strings.HasPrefix(pr.Reason, "same id as ") })
}

// Reindex brings the index into step with the files at paths.
func Reindex(ctx context.Context, r *Rooms, paths []string) error {
	return r.Ingester.Reindex(ctx, paths)
}

// replicaOptions say how the repository of the portable notes is kept.
func replicaOptions(r *Rooms, o SyncOptions) replica.Options {
	opts := replica.Options{
		Dir: r.Store.Path("memory"), MachineID: r.Config.MachineID, Installation: installationID(r, false), Remote: r.Config.Sync.Remote,
		Timeout: time.Duration(r.Config.Sync.Timeout * float64(time.Second)), Now: r.Store.Now,
		Automatic: o.Automatic, MaxDelete: maxDelete, AllowDelete: o.AllowDelete,
		Version: r.Host.Version, ResetFormat: o.ResetFormat,
		Merger: func(theirs replica.Tree) (replica.Merge, error) { return ingest.NewIncoming(r.Store).Merger(theirs) },
		Settle: func(c replica.Conflict) error { return keepLoser(r, c) },
		Apply:  func(changes []replica.Change) ([]string, error) { return applyRemote(r, changes) },
		Hold:   withhold(r, o.Remote), NotYet: notYet(r), Driver: driver(), Title: titleOf, Says: sayings,
		Claims: func(path string, data []byte) string { return claimed(r.Store, path, data) },
		Loss:   loss(r, o.Remote),
		Erases: func(changes []replica.Change) ([]replica.Change, error) { return erases(r, changes) },
	}
	if !r.Config.Sync.On {
		opts.Backend = "none"
	}
	if seals(r) {
		opts.Seal = r.Store.Path(layout.Keys)
	}
	return opts
}

// keepLoser puts what a merge could not keep into conflicts/.
func keepLoser(r *Rooms, c replica.Conflict) error {
	_, _, err := ingest.NewIncoming(r.Store).AddConflict(context.Background(), c.Path, c.Merged, c.Other)
	return err
}

// sayings returns what a note says: with its title and, when it is self-contained, its
// body; nothing for what is no note.
func sayings(data []byte) []string {
	n, err := note.Parse(data)
	if err != nil {
		return nil
	}
	s := n.Fingerprint()
	all := []string{s.Statement}
	if s.Body != "" && note.Marks(n.Title) == "" { // else another title may say the contrary
		all = append(all, "\n"+s.Body) // no statement begins so
	}
	return all
}

// titleOf returns the title of a note, empty when it cannot be read.
func titleOf(data []byte) string {
	n, err := note.Parse(data)
	if err != nil {
		return ""
	}
	return n.Title
}

// applyRemote writes what a merge made.
func applyRemote(r *Rooms, changes []replica.Change) ([]string, error) {
	list := make([]ingest.RemoteChange, len(changes))
	for i, c := range changes {
		list[i] = ingest.RemoteChange(c)
	}
	return ingest.NewIncoming(r.Store).Apply(list)
}

// driver is the command line with which git merges notes for people who pull by
// hand; none for a program in a folder that goes away.
func driver() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	if IsTemporary(self) {
		return ""
	}
	return connect.Quote(self) + " merge-driver %O %A %B %P"
}

// IsTemporary reports whether a program stands where it will be deleted.
func IsTemporary(exe string) bool {
	return doctor.Transient(exe, TempDirs())
}

// TempDirs are the folders for temporary files; TMPDIR may name another than the one in
// which a program was built.
func TempDirs() []string { return []string{os.TempDir(), "/tmp", "/var/tmp"} }
