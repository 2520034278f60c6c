// Package reflection makes few good notes out of many: it distils the sessions
// of a project into facts and how-tos (distil.go), and lets one note stand for
// several that say the same (merge.go).
//
// It writes notes by the door that everybody uses (ingest), and keeps nothing
// but the batch that is being written (Batch). What models were
// asked, and what that cost, is counted from the event log (budget.go).
//
// Failure policy: reflection aborts, it never fabricates. A model that cannot be
// reached, and an answer that is not exactly what was asked for, change nothing
// at all. From the moment an answer is accepted the opposite holds: it is on the
// disk before its first note is, and a run that was killed is finished by the
// next one, without asking again. One project that fails does not stop the
// others.
package reflection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
)

// Options are the settings of reflection.
type Options struct {
	Auto        bool   // distil when a session has been captured
	MinSessions int    // sessions that are worth a distillation; 0 means LeastSessions
	MinDurable  int    // notes among which it is worth to look for repetitions; 0 means leastNotes
	MaxTokens   int    // of a prompt; four bytes count as one, and 0 means 120000
	Directive   string // what a model is shown besides, such as the language to write in; "" for nothing
	DailyCalls  int    // answers of models a day; 0 means no limit
	DailyTokens int    // tokens of prompts and answers a day; 0 means no limit

	Consolidate  bool // fold learnings in the background, when enough are new, and mend files of entities
	SkillPatches bool // look in the background whether rules say something else than the skills of this machine
	Expire       bool // archive, in the background, notes whose forget_after has passed
	QuotaGate    bool // ask nothing while the vendor's quota is nearly used up
}

// What is worth the work, chosen by hand (docs/reflection.md, docs/eval.md).
const (
	LeastSessions = 5 // sessions of a project that are worth a distillation
	leastNotes    = 5 // notes of a project among which it is worth to look for repetitions
	GateHits      = 8 // hits among which a merge must leave the right note of each question of the eval set
)

// A Reflector distils and merges notes. Two runs at a time, in one process or
// in several, are prevented by a lock: the second gets store.ErrLocked.
type Reflector struct {
	learn.Rewriter
	index    *index.Index
	ingester *ingest.Ingester
	opts     Options
}

// New returns a Reflector. Without a model (nil) it plans, shows requests and
// finishes what an earlier run began; whatever has to be asked is
// learn.ErrNoModel.
func New(s *store.Store, ix *index.Index, g *ingest.Ingester, r *redact.Redactor, model llm.Generator, o Options) *Reflector {
	w := learn.Rewriter{Store: s, Redactor: r, Model: model, Directive: o.Directive, MaxTokens: o.MaxTokens}
	return &Reflector{w, ix, g, o}
}

// confidence is what a note has that a model wrote and nobody has looked at.
const confidence = 0.6

// The tags of reflection.
const (
	tagDistilled = "reflection" // on a note that a model distilled
	tagReflected = "reflected"  // on a session that has been distilled
	tagMerge     = "merge"      // on a note that a model wrote in place of others
	tagMerged    = "merged"     // on a note that stands for others as well
)

// lock makes sure that one run at a time reflects on this store.
func (r *Reflector) lock() (unlock func(), err error) {
	unlock, ok, err := r.Store.TryLock("reflect")
	if err == nil && !ok {
		err = fmt.Errorf("another reflection is running: %w", store.ErrLocked)
	}
	return unlock, err
}

// revise changes notes under the store lock. What the index could not be updated is no
// failure: it is added to stale.
func (r *Reflector) revise(ctx context.Context, stale *error, change func(*ingest.Revision) error) error {
	err := r.ingester.Revise(ctx, change)
	if behind := new(ingest.StaleError); errors.As(err, &behind) {
		*stale, err = errors.Join(*stale, behind.Err), nil
	}
	return err
}

// byContent returns what tells a set of notes apart from others: their ids and
// contents in sorted lines. newest is when the last of them was changed.
func byContent(notes []*note.Note) (lines string, newest time.Time) {
	var all []string
	for _, n := range notes {
		all = append(all, string(n.ID)+" "+contentHash(n))
		if t, ok := n.UpdatedAt.Time(); ok && t.After(newest) {
			newest = t
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n"), newest
}

// contentHash tells two states of a note apart by what it says.
func contentHash(n *note.Note) string {
	sum := sha256.Sum256([]byte(n.Title + "\x00" + n.Body))
	return hex.EncodeToString(sum[:16])
}

// sourceOf is the note as a model is about to see it.
func sourceOf(n *note.Note) source { return source{ID: n.ID, Hash: contentHash(n)} }
