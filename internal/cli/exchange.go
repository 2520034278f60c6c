package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
)

// maxDelete is the share of the notes that one sync may delete here unasked, if
// it is more than one note: a remote that was emptied by mistake must not empty
// every machine.
const maxDelete = 0.2

// rounds is how often a settlement goes through the cycle: once more when
// carrying out what came in changed files that travel.
const rounds = 3

// An exchange says how the notes are committed, and whether they go further.
type exchange struct {
	remote      bool // with the remote too
	automatic   bool // nobody waits for it
	allowDelete bool // the remote may delete as much as it wants
}

// settle commits what was written, and syncs if asked. Without git the notes
// are as safe as files are; that is told, and is no failure. One process does
// it at a time, and whoever finds another at work leaves.
func (p *program) settle(ctx context.Context, m *memory, x exchange) (s settled, err error) {
	s.Held = []heldFile{}
	unlock, ok, err := m.store.TryLock("sync")
	if err != nil {
		return s, err
	}
	if !ok {
		s.busy, s.Detail = true, "another sync is at work; what it does not take along goes with the next one"
		return s, nil
	}
	defer unlock()
	began := time.Now()
	if x.remote {
		m.takeNative(ctx)
	}
	backend, err := p.replica(m, x)
	for round := 0; err == nil && round < rounds; round++ {
		again := false
		if again, err = p.exchangeOnce(ctx, m, backend, x, &s); !again {
			break
		}
	}
	err = p.excuse(err, &s)
	if s.Deleted > 0 {
		s.Detail += fmt.Sprintf("; the pull deleted %s", plural(s.Deleted, "note"))
	}
	s.Conflicts = m.store.CountConflicts()
	if s.Conflicts > 0 {
		s.Conflicted = true
		s.Detail += fmt.Sprintf("; %s to decide: `anamnesis conflicts`", plural(s.Conflicts, "conflict"))
	}
	return s, errors.Join(err, m.noteSync(s, x, err, began))
}

// excuse turns what is no failure into something to be told.
func (p *program) excuse(err error, s *settled) error {
	switch {
	case errors.Is(err, replica.ErrNoGit):
		p.note("%v", err)
		s.Detail = err.Error()
	case errors.Is(err, replica.ErrHeld): // the other notes went
		p.note("%v", err)
	case errors.Is(err, replica.ErrBlocked):
		p.note("%v", err)
		s.Conflicted, s.Detail = true, "not committed: "+err.Error()
	default:
		return err
	}
	return nil
}

// exchangeOnce commits, or syncs and carries out what came in. again is true if
// that changed files that travel.
func (p *program) exchangeOnce(ctx context.Context, m *memory, b replica.Backend, x exchange, s *settled) (again bool, err error) {
	if !x.remote {
		committed, err := b.Commit(ctx, nil)
		var held *replica.HeldError
		if errors.As(err, &held) {
			s.hold(held.Files)
		}
		if s.Committed = committed; err == nil {
			s.Detail = s.line(true)
		}
		return false, err
	}
	out, err := b.Sync(ctx)
	s.take(out)
	again, derr := m.digest(ctx, out)
	return again, errors.Join(err, derr)
}

// digest carries out what a sync brought: tombstones are obeyed, a note that
// stands in two places gets one, and the index is told. The sync may have
// failed after it had brought something. again says that files changed that travel.
func (m *memory) digest(ctx context.Context, out replica.Outcome) (again bool, err error) {
	if m.store.ReadOnly() {
		return false, nil
	}
	unlock, err := m.store.Lock(ctx)
	if err != nil {
		return false, err
	}
	paths, err := m.store.Obey()
	if err == nil {
		err = m.disallow(paths)
	}
	if err == nil && (len(out.Changed) > 0 || out.Pulled > 0 || m.twins(ctx)) {
		var moved []string
		moved, err = m.store.Settle()
		paths = append(paths, moved...)
	}
	unlock()
	again = slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, "memory/") })
	for _, path := range out.Changed {
		paths = append(paths, "memory/"+path)
	}
	return again, errors.Join(err, m.reread(ctx, paths))
}

// twins reports whether the index has met a note in two places, as a crash in
// the middle of moving it leaves it.
func (m *memory) twins(ctx context.Context) bool {
	found, err := m.index.Problems(ctx)
	return err == nil && slices.ContainsFunc(found, func(pr index.Problem) bool { return strings.HasPrefix(pr.Reason, "same id as ") })
}

// many is the number of changed files from which on a walk is quicker than to look at each.
const many = 2000

// reread brings the index into step with the files at paths.
func (m *memory) reread(ctx context.Context, paths []string) error {
	_, _, walked, err := m.index.State(ctx)
	if err != nil || walked.IsZero() || len(paths) > many {
		_, err := m.index.Sync(ctx, index.SyncOptions{})
		return err
	}
	var notes []string
	for _, path := range paths {
		if stem, ok := strings.CutSuffix(path, ".entities.yaml"); ok {
			path = stem + ".md"
		}
		if _, rest, ok := strings.Cut(path, "/"); ok && strings.HasSuffix(path, ".md") && !strings.HasPrefix(rest, "slots/") {
			notes = append(notes, path)
		}
	}
	if len(notes) == 0 {
		return nil
	}
	slices.Sort(notes)
	return m.index.Refresh(ctx, slices.Compact(notes)...)
}

// replicaOptions say how the repository of the portable notes is kept.
func (m *memory) replicaOptions(x exchange) replica.Options {
	o := replica.Options{
		Dir: m.store.Path("memory"), MachineID: m.p.cfg.MachineID, Remote: m.p.cfg.Sync.Remote,
		Timeout: time.Duration(m.p.cfg.Sync.Timeout * float64(time.Second)), Now: time.Now,
		Automatic: x.automatic, MaxDelete: maxDelete, AllowDelete: x.allowDelete,
		Merger: func(theirs fs.FS) (replica.Merge, error) { return m.store.Merger(theirs) }, Settle: m.keepLoser, Apply: m.adopt, Hold: m.holder(), Driver: driver(), Title: titleOf, Says: sayings,
	}
	if !m.p.cfg.Sync.On {
		o.Backend = "none"
	}
	return o
}

// keepLoser puts what a merge could not keep into conflicts/.
func (m *memory) keepLoser(c replica.Conflict) error {
	unlock, err := m.store.Lock(context.Background())
	if err != nil {
		return err
	}
	defer unlock()
	_, _, err = m.store.AddConflict(c.Path, c.Merged, c.Other)
	return err
}

// sayings returns what a note says: with its title and, when it speaks alone, its
// body; nothing for what is no note.
func sayings(data []byte) []string {
	n, err := note.Parse(data)
	if err != nil {
		return nil
	}
	s := n.Saying()
	all := []string{s.Statement}
	if s.Body != "" {
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

// adopt writes what a merge made.
func (m *memory) adopt(changes []replica.Change) ([]string, error) {
	unlock, err := m.store.Lock(context.Background())
	if err != nil {
		return nil, err
	}
	defer unlock()
	list := make([]store.Change, len(changes))
	for i, c := range changes {
		list[i] = store.Change(c)
	}
	return m.store.Adopt(list)
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
	if temporary(self) {
		return ""
	}
	return agent.Quote(self) + " merge-driver %O %A %B %P"
}
