// Package ingest is the one door in: every change of a note goes through it. An
// Ingester takes what people, agents and runs on this machine do, Incoming what
// other machines and bundles bring. Nobody else asks for a store.Writer.
//
// The order of its steps is the safety of the store: what a machine wrote is
// redacted before anything is compared or written; what was forgotten is
// recognised before it is a twin; a note is on the disk before it is in the
// index; the event is logged last.
//
// Failure policy: a note that reached the disk is never taken back. If the
// index could not be updated, the outcome says so and the next Sync heals it.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/tombstone"
)

// Options say how notes are taken in.
type Options struct {
	MachineID   string // stamped on new notes
	HoldSimilar bool   // hold what a machine wrote and is nearly said, or meant, already
}

// meaning is the cosine of the vectors of a machine's draft and of a note from which on they mean
// the same (docs/learning.md).
const meaning = 0.97

// An Ingester takes notes in. It is safe for concurrent use.
type Ingester struct {
	store    *store.Store
	index    *index.Index
	redactor *redact.Redactor
	opts     Options
	commits  KnownCommits // nil: nobody is asked
}

// New returns an Ingester.
func New(s *store.Store, ix *index.Index, r *redact.Redactor, o Options) *Ingester {
	return &Ingester{store: s, index: ix, redactor: r, opts: o}
}

// A Draft is a note that wants in.
type Draft struct {
	Note   *note.Note // without an id it gets a new one
	Reason string     // for the history, when the note exists: store.Update, store.Capture
	Dir    string     // in whose repository the commits are looked up that it names; "" looks none up
	Force  bool       // its owner wants it written, also if it was forgotten or is similar to another
}

// A Result says what became of a draft.
type Result int

// The results.
const (
	Created   Result = iota // a new note stands on the disk
	Updated                 // an existing note was changed
	Unchanged               // everything in the draft was known
	Held                    // it waits for its owner's decision
	Dropped                 // it was refused; Why says for which reason
)

var resultNames = [...]string{"created", "updated", "unchanged", "held", "dropped"}

func (r Result) String() string { return resultNames[r] }

// MarshalText writes the result's name.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// An Outcome is what became of a draft.
type Outcome struct {
	Result   Result
	Note     *note.Note // as it stands now; nil when Dropped
	Ref      store.Ref
	Twin     *index.Row // the note it equals or resembles, if any
	Why      string     // one sentence, for Held and Dropped
	Redacted bool       // something in the draft was masked
	Revoked  bool       // it was forgotten, and is not any more
	Secrets  []string   // rules that find a secret in a note that a person wrote and that stays as it is
	Stale    error      // the note is safe, the index does not know it yet
}

// Add takes a draft in: it completes a copy of the note, masks the secrets of what
// a machine wrote, and validates it. Under the store lock it then looks for a
// tombstone (Dropped, unless Force), the note of that id (Updated), and a twin: an
// exact one gets the tags and the evidence (Updated, Unchanged), a similar one
// makes a machine's draft wait (Held). Everything else is Created. The index is
// shown under the lock, and Outcome.Stale says when it could not be; one record of
// the kind store.Written follows.
//
// An error means that nothing was written: the note is not valid, the store is
// read-only (store.ErrReadOnly) or locked for too long (store.ErrLocked), or the
// disk refuses.
func (g *Ingester) Add(ctx context.Context, d Draft) (Outcome, error) {
	began := time.Now()
	n := g.complete(d.Note)
	out := Outcome{Note: n}
	if n.Provenance.Source == note.Human {
		out.Secrets = g.secrets(n)
	} else {
		out.Redacted = g.redact(n)
	}
	if g.checkRefs(ctx, n, d.Dir) && n.Provenance.Source == note.Agent && !d.Force {
		out = Outcome{Result: Dropped, Why: "no commit that it names is in the repository: " + strings.Join(n.UnverifiedRefs, ", ")}
		g.log(out, time.Since(began))
		return out, nil
	}
	if err := n.ValidateNew(); err != nil {
		return Outcome{}, fmt.Errorf("add note %q: %w", shorten(n.Title), err)
	}
	if err := locked(ctx, g.store, func(w *store.Writer) error { return g.decide(ctx, w, d, &out) }); err != nil {
		return Outcome{}, fmt.Errorf("add note %q: %w", shorten(n.Title), err)
	}
	g.log(out, time.Since(began))
	return out, nil
}

// decide brings a draft to its end.
func (g *Ingester) decide(ctx context.Context, w *store.Writer, d Draft, out *Outcome) error {
	n := out.Note
	forgotten, err := g.forgotten(n)
	if err != nil {
		return err
	}
	if forgotten != "" && !d.Force {
		out.Result, out.Note, out.Why = Dropped, nil, "this was forgotten on "+forgotten+" and does not come back on its own"
		return nil
	}
	out.Revoked = forgotten != ""
	old, err := g.find(ctx, n.ID)
	if err != nil {
		return err
	}
	if old.Path != "" {
		return g.update(ctx, w, old, d, out)
	}
	if twin, err := g.twin(ctx, n); err != nil {
		return err
	} else if twin != nil {
		out.Twin = &twin.Row
		switch {
		case twin.Exact:
			same := n.Clone()
			same.ID = twin.Row.ID
			if err := revoke(w, out, same); err != nil {
				return err
			}
			return g.absorb(ctx, w, twin.Row, out)
		case g.opts.HoldSimilar && n.Provenance.Source != note.Human && !d.Force:
			out.Result = Held
			out.Why = nearly(&twin.Row)
			return w.Hold(n)
		}
	}
	out.Result = Created
	if err := revoke(w, out, n); err != nil {
		return err
	}
	return g.write(ctx, w, n, store.Ref{}, store.Update, out)
}

// nearly says why a draft waits.
func nearly(r *index.Row) string {
	return fmt.Sprintf("nearly the same as %s %q", r.ID, shorten(r.Title))
}

// complete fills in what a draft may leave out, on a copy.
func (g *Ingester) complete(draft *note.Note) *note.Note {
	n := draft.Clone()
	now := g.store.Now()
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	if n.ID == "" {
		n.ID = note.NewID(now)
	}
	def(&n.Project, note.Global)
	def(&n.MachineID, g.opts.MachineID)
	def(&n.UserID, "self")
	def(&n.WorkspaceID, "personal")
	def(&n.Provenance.Source, note.Human)
	def((*string)(&n.Scope), string(note.Portable))
	def((*string)(&n.CreatedAt), string(note.At(now)))
	def((*string)(&n.UpdatedAt), string(note.At(now)))
	plain(n)
	n.Title = strings.TrimSpace(n.Title)
	return n
}

// write puts a note on the disk, then into the index.
func (g *Ingester) write(ctx context.Context, w *store.Writer, n *note.Note, old store.Ref, reason string, out *Outcome) error {
	ref, changed, err := w.Put(n, old, reason)
	if err != nil {
		return err
	}
	out.Ref = ref
	if !changed {
		out.Result = Unchanged
		return nil
	}
	paths := []string{ref.Path}
	if old.Path != "" && old.Path != ref.Path {
		paths = append(paths, old.Path)
	}
	out.Stale = g.index.Refresh(ctx, paths...)
	return nil
}

// find looks for the file of an id, in the index and, where that knows nothing,
// where such a note would stand.
func (g *Ingester) find(ctx context.Context, id note.ID) (store.Ref, error) {
	row, ok, err := g.index.Lookup(ctx, id)
	if err == nil && ok && layout.IsNotePath(row.Ref.Path) {
		if row.ID != id {
			return store.Ref{}, fmt.Errorf("id %s differs from the existing %s in case only; choose another", id, row.ID)
		}
		if ref, err := g.store.Stat(row.Ref.Path); err == nil {
			return ref, nil
		}
	}
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		for _, t := range note.Types {
			if ref, err := g.store.Stat(store.NotePath(scope, t, id)); err == nil {
				return ref, nil
			}
		}
	}
	return store.Ref{}, nil
}

// forgotten returns the day on which the statement of n was forgotten, or "".
func (g *Ingester) forgotten(n *note.Note) (string, error) {
	stones, err := tombstone.For(g.store, n.Scope)
	if err != nil {
		return "", err
	}
	t, ok := tombstone.Match(stones, n)
	if !ok {
		return "", nil
	}
	day, _, _ := strings.Cut(t.At, "T")
	return day, nil
}

// revoke takes the tombstones back that match a note, which its owner wants written
// as it is. They go first: what stands below one may be erased.
func revoke(w *store.Writer, out *Outcome, n *note.Note) error {
	if !out.Revoked {
		return nil
	}
	_, err := tombstone.Revoke(w, n)
	return err
}

// log records the outcome. A log that cannot be written loses a counter, no note.
func (g *Ingester) log(out Outcome, took time.Duration) {
	r := store.Record{Kind: store.Written, Text: out.Result.String(), MS: float64(took.Microseconds()) / 1000}
	if out.Note != nil {
		r.Notes, r.Project, r.Session = []note.ID{out.Note.ID}, out.Note.Project, out.Note.Provenance.Session
	}
	if out.Stale != nil {
		r.Error = out.Stale.Error()
	}
	_ = g.store.Events().Log(r)
}

// Keep decides on a held draft: write it as a separate note. The error is
// fs.ErrNotExist when none of that id waits.
func (g *Ingester) Keep(ctx context.Context, id note.ID) (Outcome, error) {
	n, err := g.store.Spool().HeldDraft(id)
	if err != nil {
		return Outcome{}, err
	}
	n.Reopen()
	n.Tags = slices.DeleteFunc(n.Tags, func(t string) bool { return t == note.CandidateTag })
	out, err := g.Add(ctx, Draft{Note: n, Force: true})
	if err == nil && out.Result == Dropped {
		err = errors.New(out.Why)
	}
	if err != nil {
		return out, err
	}
	return out, locked(ctx, g.store, func(w *store.Writer) error { return w.Release(id) })
}

// shorten makes a title fit into a message.
func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
