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
	"fmt"
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
	knownIn  KnownIn      // nil: nothing is known of projects
}

// New returns an Ingester.
func New(s *store.Store, ix *index.Index, r *redact.Redactor, o Options) *Ingester {
	return &Ingester{store: s, index: ix, redactor: r, opts: o}
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
	Asked                   // nothing was written: the person has to say what holds (Draft.Rival)
)

var resultNames = [...]string{"created", "updated", "unchanged", "held", "dropped", "asked"}

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
	Effect   Effect
	Of       note.ID     // the note that is confirmed or contradicted, if any
	Near     []Neighbour // notes about the same matter, the nearest first
	Waits    []string    // triggers that wait for a person, whatever became of the note
}

// An Effect says what a draft does to the notes that are in force.
type Effect string

// The effects. Their texts are in the event log.
const (
	Creates     Effect = "creates"     // no note states the same or the opposite
	Confirms    Effect = "confirms"    // a note states it already and gained evidence
	Contradicts Effect = "contradicts" // a note states the opposite and is replaced, or waits for a person
	Known       Effect = "known"       // this stretch of the session was taken in before
)

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
	def((*string)(&n.Scope), string(note.Portable))
	def((*string)(&n.CreatedAt), string(note.At(now)))
	def((*string)(&n.UpdatedAt), string(note.At(now)))
	plain(n)
	n.Title = strings.TrimSpace(n.Title)
	return n
}

// vouched is write for a change that a person makes, or does not: the ledger gets a person's words first.
// What is in quarantine is not the user's word until the user keeps it.
func (g *Ingester) vouched(
	ctx context.Context, w *store.Writer, person bool, n *note.Note, old store.Ref, reason string, out *Outcome,
) error {
	if person && !n.Quarantine {
		if err := w.Vouch(n); err != nil {
			return err
		}
	}
	return g.write(ctx, w, n, old, reason, out)
}

// write puts a note on the disk, then into the index.
func (g *Ingester) write(ctx context.Context, w *store.Writer, n *note.Note, old store.Ref, reason string, out *Outcome) error {
	ref, changed, err := w.Put(n, old, reason)
	if err != nil {
		return err
	}
	n.Trusted = store.Trusts(g.store, n)
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
	stones, err := tombstone.Refusing(g.store, n.Scope)
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
	marks, err := tombstone.Marks(w.Store())
	if err != nil {
		return err
	}
	for _, m := range marks { // what is not erased yet goes now, not later together with n
		if _, ok := tombstone.Match([]tombstone.Tombstone{m.Stone}, n); ok {
			if _, err := tombstone.Forget(w, m.ID); err != nil {
				return err
			}
			if _, err := tombstone.DropMarks(w, m.ID); err != nil {
				return err
			}
		}
	}
	_, err = tombstone.Revoke(w, n)
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

// shorten makes a title fit into a message.
func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
