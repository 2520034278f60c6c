package team

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
)

// A Receiver is where Pull puts what others share.
type Receiver struct {
	Open      func(ctx context.Context, origin string) (index.Backend, error) // the local index for the tree of another machine
	Foreign   func(n *note.Note, ref store.Ref, data []byte, facts index.SidecarFacts) index.Entry
	Forgotten func(n *note.Note) bool // its owner here does not want to see it again
	Canonical func(project string) string
	Proof     func(index.Change) note.Proof         // of who shares a note; nil proves nothing
	Withhold  func(path string, data []byte) string // as of Sender
	Own       index.Backend                         // keeps the State, and knows the notes of this machine
	Workspace string
	Reserved  string // an origin that a server may not speak for, "" for none
	Now       func() time.Time
}

// A Taken says what Pull did.
type Taken struct {
	Put     int      `json:"put"`
	Dropped int      `json:"dropped"`
	Left    []Held   `json:"left_out"` // notes of others that are not taken, and why
	Members []string `json:"members"`  // who wrote what was put
	More    bool     `json:"more"`     // the time was over before the end
}

// pullBatch is about how many changes are fetched at once.
const pullBatch = 512

// takeBatch is how many of them are put in one transaction. What was put before an exchange is
// cut off is not put again by the next.
const takeBatch = 64

// maxText is how long the file of another's note may be, in bytes.
const maxText = 1 << 20

// Pull takes in what other origins changed since the last time. When ctx ends it stops
// after the batch in work: what was taken in stays, and More says that there is more.
func Pull(ctx context.Context, server Server, r Receiver) (t Taken, err error) {
	t.Left, t.Members = []Held{}, []string{}
	state, err := ReadState(ctx, r.Own)
	if err != nil {
		return t, err
	}
	if state.Workspace != r.Workspace {
		if err := Leave(ctx, r.Own, r.Open); err != nil {
			return t, err
		}
		state = State{Workspace: r.Workspace}
	}
	defer func() { err = r.cutOff(ctx, &state, err) }()
	now, err := server.Generation(ctx)
	if err != nil {
		return t, err
	}
	if now < state.Since { // the server was put back to an older state: nothing says what of it is still so
		if err := Leave(ctx, r.Own, r.Open); err != nil {
			return t, err
		}
		state = State{Workspace: r.Workspace}
	}
	state.Known = now
	for {
		changes, next, err := server.Changes(ctx, state.Since, pullBatch)
		if err != nil {
			t.More = ctx.Err() != nil
			return t, err
		}
		changes = state.Part.after(changes)
		for len(changes) > 0 {
			n := slices.IndexFunc(changes, func(c index.Change) bool { return c.Origin != changes[0].Origin })
			if n < 0 {
				n = len(changes)
			}
			n = min(n, takeBatch)
			if err := r.take(ctx, changes[:n], &state, &t); err != nil {
				t.More = ctx.Err() != nil
				return t, err
			}
			state.Part = partOf(changes[n-1])
			changes = changes[n:]
		}
		done := next <= state.Since
		state.Since, state.At, state.Failed, state.Part = max(next, state.Since), r.Now().UTC(), time.Time{}, Part{}
		state.Known = max(state.Known, state.Since)
		if err := state.write(ctx, r.Own); err != nil && !errors.Is(err, index.ErrBusy) { // the next time takes it again
			return t, err
		}
		if done {
			return t, nil
		}
	}
}

// cutOff keeps how far an exchange came that ended in err, and says it. ctx may have ended.
func (r Receiver) cutOff(ctx context.Context, state *State, err error) error {
	if err == nil {
		return nil
	}
	state.Failed = r.Now().UTC()
	if werr := state.write(context.WithoutCancel(ctx), r.Own); werr != nil && !errors.Is(werr, index.ErrBusy) {
		err = errors.Join(err, werr)
	}
	return cut{state.Since, state.Known, err}
}

// A cut is the error of an exchange that did not come to its end.
type cut struct {
	since, known int64
	err          error
}

func (c cut) Unwrap() error { return c.err }

func (c cut) Error() string {
	why := c.err.Error()
	switch {
	case errors.Is(c.err, context.DeadlineExceeded):
		why = "there was no more time"
	case errors.Is(c.err, context.Canceled):
		why = "it was stopped"
	}
	if c.since >= c.known {
		return "take in the notes of others: " + why
	}
	return fmt.Sprintf("take in the notes of others: %s; they are known up to change %d of %d, and the next exchange goes on from there",
		why, c.since, c.known)
}

// take puts changes of one origin into the local index.
func (r Receiver) take(ctx context.Context, changes []index.Change, state *State, t *Taken) error {
	origin := changes[0].Origin
	if origin == "" || origin == r.Own.Origin() || origin == r.Reserved { // it would be taken for a note of this machine, or of the repository
		return nil
	}
	state.add(origin, changes[0].Member)
	last := make(map[string]index.Change, len(changes)) // a path may have changed twice
	var paths []string
	for _, c := range changes {
		if _, again := last[c.Path]; !again {
			paths = append(paths, c.Path)
		}
		last[c.Path] = c
	}
	var b index.Batch
	taken := make(map[string]bool)
	for _, path := range paths {
		c := last[path]
		e, why := r.entry(ctx, c)
		if why != "" {
			t.Left = append(t.Left, Held{store.StemID(path), why})
		}
		if c.Dropped || why != "" || taken[strings.ToLower(string(e.Note.ID))] {
			b.Drop = append(b.Drop, path)
			continue
		}
		taken[strings.ToLower(string(e.Note.ID))] = true
		b.Put = append(b.Put, e)
		if !slices.Contains(t.Members, c.Member) {
			t.Members = append(t.Members, c.Member)
		}
	}
	backend, err := r.Open(ctx, origin)
	if err != nil {
		return err
	}
	err = errors.Join(backend.Apply(ctx, b), backend.Close())
	if err == nil {
		t.Put += len(b.Put)
		t.Dropped += len(b.Drop)
	}
	return err
}

// entry makes the entry of a change, or says why the note is not taken.
func (r Receiver) entry(ctx context.Context, c index.Change) (e index.Entry, why string) {
	if c.Dropped {
		return e, ""
	}
	id := store.StemID(c.Path)
	if id == "" || store.ScopeOf(c.Path) != note.Portable || len(c.Path) > 300 || strings.ContainsAny(c.Path, "\\\x00") ||
		slices.Contains(strings.Split(c.Path, "/"), "..") || !strings.HasPrefix(c.Path, "memory/") {
		return e, "its path is that of no shared note"
	}
	if len(c.Text) > maxText {
		return e, "it is longer than a note may be"
	}
	n, err := note.Parse(c.Text)
	if err != nil {
		return e, "it is no note: " + err.Error()
	}
	n.Scope, n.Project, n.UserID = note.Portable, r.Canonical(n.Project), c.Member
	n.Proof = r.proof(c)
	switch {
	case n.ID != id:
		return e, "its id is not that of its file"
	case n.Project == note.Global || n.Project == "":
		return e, "it is of no project"
	case n.Quarantine || redact.PromptInjection(n.Title+"\n"+n.Body) || redact.PromptInjection(n.Statement()):
		return e, "it reads like orders to an agent"
	case r.Forgotten(n):
		return e, "it was forgotten here"
	case r.Withhold(c.Path, c.Text) != "":
		return e, "it holds what looks like a secret"
	}
	n.Supersedes = r.supersedes(ctx, n, c.Origin)
	ref := store.Ref{Path: c.Path, Scope: note.Portable, Size: c.Size, ModTime: time.Unix(0, c.ModTime)}
	e = r.Foreign(n, ref, c.Text, index.SidecarFacts{Entities: c.Entities, Declared: c.Declared, Edges: c.Edges})
	e.Hash = sha256.Sum256(c.Text)
	return e, ""
}

// proof returns how it is proven who shares the note of a change.
func (r Receiver) proof(c index.Change) note.Proof {
	if r.Proof == nil {
		return ""
	}
	return r.Proof(c)
}

// supersedes returns those of the notes that a note replaces which the same person
// wrote, or whom nobody here knows: nobody takes the note of another out of force.
func (r Receiver) supersedes(ctx context.Context, n *note.Note, origin string) (mine []note.ID) {
	for _, id := range n.Supersedes {
		row, there, err := r.Own.Lookup(ctx, id)
		if err == nil && (!there || row.Origin == origin || row.Origin != "" && row.UserID == n.UserID) {
			mine = append(mine, id)
		}
	}
	return mine
}

// Replace makes the local index of an origin equal to the notes of a source that is read
// as a whole, as a repository is: what is not among them is dropped there. Only what
// differs is written.
func (r Receiver) Replace(ctx context.Context, origin string, all []index.Change) (t Taken, err error) {
	t.Left, t.Members = []Held{}, []string{}
	backend, err := r.Open(ctx, origin)
	if err != nil {
		return t, err
	}
	known, err := backend.Files(ctx, nil)
	if err = errors.Join(err, backend.Close()); err != nil {
		return t, err
	}
	var todo []index.Change
	for _, c := range all {
		c.Origin = origin
		state, there := known[c.Path]
		delete(known, c.Path)
		switch e, why := r.entry(ctx, c); {
		case why != "":
			t.Left = append(t.Left, Held{store.StemID(c.Path), why})
			if there { // a rule came since, or it was forgotten here
				todo = append(todo, index.Change{Origin: origin, Path: c.Path, Dropped: true})
			}
		case !there || state.Hash != sha256.Sum256(c.Text) || state.Proof != e.Note.Proof:
			todo = append(todo, c)
		}
	}
	for path := range known {
		todo = append(todo, index.Change{Origin: origin, Path: path, Dropped: true})
	}
	if len(todo) == 0 {
		return t, nil
	}
	return t, r.take(ctx, todo, new(State), &t)
}

// Leave takes everything of others out of the local index.
func Leave(ctx context.Context, own index.Backend, open func(context.Context, string) (index.Backend, error)) error {
	state, err := ReadState(ctx, own)
	if err != nil || state.Workspace == "" {
		return err
	}
	for _, o := range state.Origins {
		b, err := open(ctx, o.Name)
		if err != nil {
			return err
		}
		if err := errors.Join(b.Reset(ctx), b.Close()); err != nil {
			return err
		}
	}
	return State{}.write(ctx, own)
}
