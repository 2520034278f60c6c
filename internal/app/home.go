package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/team"
)

// A HomeResult says what an exchange with the server for machines without a store did.
type HomeResult struct {
	Sent  team.Sent   `json:"sent"`
	Taken int         `json:"taken"` // notes that are new or changed here
	Held  int         `json:"held"`  // that wait for a decision
	Known int         `json:"known"` // that say nothing new, or were forgotten
	Left  []team.Held `json:"left"`  // that are no notes, and stay there
	Busy  bool        `json:"busy"`
}

func openHomeServer(ctx context.Context, r *Rooms) (s TeamServer, err error) {
	origin, err := teamOrigin(r)
	if err != nil {
		return s, err
	}
	db, err := postgres.Open(ctx, postgres.Options{
		DSN: r.Config.Index.Server, Origin: origin, Busy: r.Config.Wait(busyTime), Connect: r.Config.Wait(awayCommand), MaxConns: 2,
		Vouches: true,
	})
	return TeamServer{db}, err
}

// ExchangeHome takes home what machines without a store wrote, and brings the portable notes
// of this store to the server that they ask. Without such a server it does nothing. One
// process does it at a time.
func ExchangeHome(ctx context.Context, r *Rooms) (h HomeResult, err error) {
	h.Sent.Held, h.Left = []team.Held{}, []team.Held{}
	if r.Config.Index.Server == "" || Away(r) || r.Store.ReadOnly() {
		return h, nil
	}
	unlock, ok, err := r.Store.TryLock("home")
	if err != nil || !ok {
		h.Busy = err == nil
		return h, err
	}
	defer unlock()
	if err := r.MayRedact(); err != nil {
		return h, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.Config.Wait(teamBudget))
	defer cancel()
	server, err := openHomeServer(ctx, r)
	if err != nil {
		return h, err
	}
	defer func() { _ = server.Close() }()
	h.Sent, err = team.Home(ctx, server, homeSender(r), func(ctx context.Context, c index.Change) (string, error) {
		return takeHome(ctx, r, c, &h)
	})
	if err != nil {
		err = fmt.Errorf("exchange notes with machines without a store: %w", err)
	}
	rec := store.Record{Kind: store.Shared, Count: h.Sent.Put + h.Taken + h.Held}
	if err != nil {
		rec.Error = err.Error()
	}
	if rec.Count > 0 || err != nil {
		_ = r.Store.Events().Log(rec)
	}
	return h, err
}

// homeSender sends the portable notes of this store, of whichever project.
func homeSender(r *Rooms) team.Sender {
	return team.Sender{
		Local: r.Index, Entries: r.Index.Entries, Person: true, Now: r.Store.Now,
		Withhold: func(path string, data []byte) string { return confidential(r, path, data) },
	}
}

// takeHome takes one note through the door, and says why its row is not needed any more.
func takeHome(ctx context.Context, r *Rooms, c index.Change, h *HomeResult) (why string, err error) {
	n, why := homeNote(c)
	if why != "" {
		h.Left = append(h.Left, team.Held{ID: store.StemID(c.Path), Why: why})
		return "", nil
	}
	if layout.Of(c.Path) == layout.Held {
		if err := ingest.InboxOf(r.Ingester).Propose(ctx, n, note.Guest); err != nil {
			return "", err
		}
		h.Held++
		return "it waits for its owner's decision", nil
	}
	if known, err := knownAtHome(ctx, r, c, n); err != nil || known {
		h.Known++
		return "its owner's store has it", err
	}
	out, err := r.Ingester.Admit(ctx, ingest.Draft{
		Note: n, By: ingest.Guest, Here: own(n.Project), Account: n.Type == note.Episodic && n.Kind == "", Reason: store.Update,
	})
	if err != nil {
		return "", err
	}
	switch out.Result {
	case ingest.Dropped:
		h.Known++
		return out.Why, nil
	case ingest.Held:
		h.Held++
		return "it waits for its owner's decision: " + out.Why, nil
	case ingest.Unchanged:
		h.Known++
	default:
		h.Taken++
	}
	return "its owner's store has it", nil
}

// own is the project that a guest works on; a note for all projects names none.
func own(project string) string {
	if project == note.Global {
		return ""
	}
	return project
}

// homeNote reads the note of a row, or says why it is none.
func homeNote(c index.Change) (n *note.Note, why string) {
	if class := layout.Of(c.Path); class != layout.Held && (class != layout.Note || store.ScopeOf(c.Path) != note.Portable) {
		return nil, "its path is that of no note that travels"
	}
	if len(c.Text) > store.MaxNoteSize || sha256.Sum256(c.Text) != c.Hash {
		return nil, "it is not the file that its row names"
	}
	n, err := note.Parse(c.Text)
	if err != nil {
		return nil, "it is no note: " + note.Line(err.Error(), 200)
	}
	if n.ID != store.StemID(c.Path) {
		return nil, "its id is not that of its file"
	}
	n.Scope = note.Portable
	return n, ""
}

// knownAtHome reports whether the store has a note of the id already that says this, or said
// it, or says something newer. Of two that both changed, the older one waits among the conflicts.
func knownAtHome(ctx context.Context, r *Rooms, c index.Change, n *note.Note) (bool, error) {
	ref, err := r.Store.Find(n.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	now, data, _, err := r.Store.Read(ref.Path)
	if err != nil {
		return false, err
	}
	title, body := r.Redactor.Redact(n.Title).String(), r.Redactor.Redact(n.Body).String() // as the door has it
	says := func(x *note.Note) bool { return x.Title == title && x.Body == body }
	switch {
	case note.Equal(now, n):
		return true, nil
	case n.UpdatedAt == now.UpdatedAt:
		return says(now), nil
	case note.Later(n.UpdatedAt, now.UpdatedAt) == n.UpdatedAt:
		return false, nil
	case says(now): // it got tags or evidence since
		return true, nil
	}
	revs, err := r.Store.History(n.ID)
	if err != nil {
		return false, err
	}
	for _, rev := range revs {
		if was, err := r.Store.ReadRevision(n.ID, rev); err == nil && says(was) {
			return true, nil
		}
	}
	_, _, err = ingest.NewIncoming(r.Store).AddConflict(ctx, strings.TrimPrefix(ref.Path, layout.Memory+"/"), data, c.Text)
	return true, err
}
