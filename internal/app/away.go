package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
	"anamnesis/internal/team"
)

// Away reports whether this machine keeps no store: its index is on a server, and what it
// writes goes home from there. Its files are what waits for the server, and a copy.
func Away(r *Rooms) bool { return r.Config.Index.Away }

// What a hook and a command wait for a connection.
const (
	awayHook    = time.Second
	awayCommand = 5 * time.Second
)

// openAway opens the index on the server. It asks nobody: a server that does not answer is an
// index.ErrAway of each question.
func openAway(ctx context.Context, r *Rooms, busy time.Duration) (index.Backend, error) {
	origin, err := teamOrigin(r)
	if err != nil && !r.Store.ReadOnly() {
		return nil, err
	}
	connect := awayCommand
	if r.Host.Brief {
		connect = awayHook
	}
	return postgres.Open(ctx, postgres.Options{
		DSN: r.Config.Index.Server, Origin: team.AwayPrefix + origin, Busy: r.Config.Wait(cmp.Or(busy, busyTime)),
		Connect: r.Config.Wait(connect), ReadOnly: r.Store.ReadOnly(), Lazy: true,
	})
}

// beGuest says to the index what is different on such a machine.
func beGuest(r *Rooms) {
	forgotten := sync.OnceValue(func() map[note.ID]bool {
		ids := make(map[note.ID]bool)
		for _, scope := range []note.Scope{note.Portable, note.Local} {
			stones, _ := tombstone.Read(r.Store, scope) // one that cannot be read keeps a row where it is
			for _, t := range tombstone.InForce(stones) {
				ids[t.ID] = true
			}
		}
		return ids
	})
	gone := func(id note.ID) bool { return forgotten()[id] }
	r.All.Guest(gone)
	r.Index.Guest(gone)
	r.Index.Refuse(func(ref store.Ref, n *note.Note, data []byte) string {
		switch why := cameBack(r, ref, n, data); {
		case why != "":
			return why
		case ref.Scope == note.Local:
			return "it is local to this machine, whose index is on a server"
		}
		return confidential(r, ref.Path, data)
	})
}

// AskServer reports why the server of the index cannot be asked, nil when it answers or the
// index is a file of this machine.
func AskServer(ctx context.Context, r *Rooms) error {
	if !Away(r) {
		return nil
	}
	_, _, _, err := r.All.State(ctx)
	return err
}

// SendDrafts brings what waits for its owner's decision to the server, where no question finds
// it: the owner decides at home.
func SendDrafts(ctx context.Context, r *Rooms) error {
	if !Away(r) || r.Store.ReadOnly() {
		return nil
	}
	drafts := make(map[string]index.Entry)
	var paths []string
	for _, n := range r.Store.Spool().Held() {
		data, path := n.Format(), layout.HeldOf(n.ID)
		if n.Decided() || confidential(r, path, data) != "" {
			continue
		}
		hidden := n.Clone()
		hidden.Quarantine = true // of the row, not of the text
		ref := store.Ref{Path: path, Scope: note.Portable, Size: int64(len(data)), ModTime: r.Store.Now()}
		e := index.NewEntry(hidden, ref, data, nil)
		e.Hash = sha256.Sum256(data)
		drafts[path], paths = e, append(paths, path)
	}
	if len(paths) == 0 {
		return nil
	}
	known, err := r.Index.Files(ctx, paths)
	if err != nil {
		return err
	}
	var b index.Batch
	for _, path := range paths {
		if e := drafts[path]; known[path].Hash != e.Hash {
			b.Put = append(b.Put, e)
		}
	}
	if len(b.Put) == 0 {
		return nil
	}
	return r.Index.Apply(ctx, b)
}

// syncAway brings everything that waits here to the server.
func syncAway(ctx context.Context, r *Rooms, s *SyncResult) {
	if !Away(r) {
		return
	}
	rep, err := r.Index.Sync(ctx, index.SyncOptions{})
	if err = errors.Join(err, SendDrafts(ctx, r)); err != nil {
		r.Notify("%v", err)
		s.Detail += "; what was written here waits for the server of the index"
		return
	}
	s.Detail += fmt.Sprintf("; on the server of the index: sent %d", rep.Indexed)
}

// ServerHealth asks the servers that are set, of this machine's index and of its sync.
func ServerHealth(ctx context.Context, r *Rooms) (lines []string, err error) {
	if Away(r) {
		if err := AskServer(ctx, r); err != nil {
			return nil, err
		}
		lines = append(lines, "the index of this machine is on a server, which answers")
	}
	if r.Config.Index.Server != "" && !Away(r) {
		server, err := openHomeServer(ctx, r)
		if err != nil {
			return lines, err
		}
		defer func() { _ = server.Close() }()
		found, err := server.Found(ctx, team.AwayPrefix, 1000)
		if err != nil {
			return lines, err
		}
		lines = append(lines, fmt.Sprintf("the server for machines without a store answers; %s there for `anamnesis sync`",
			strings.Replace(Plural(len(found), "note")+" wait", "1 note wait", "1 note waits", 1)))
	}
	return lines, nil
}
