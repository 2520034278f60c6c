package team_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/team"
)

// A cutting backend ends the time of an exchange after some transactions.
type cutting struct {
	index.Backend
	left *int
	end  context.CancelFunc
}

func (c cutting) Apply(ctx context.Context, b index.Batch) error {
	if *c.left--; *c.left < 0 {
		c.end()
	}
	return c.Backend.Apply(ctx, b)
}

// An exchange whose time ends within one large change says how far it came, in words of ours,
// and the next one goes on from there.
func TestCutOffExchangeIsResumed(t *testing.T) {
	const notes = 200
	h := newHub()
	alice, bob := newMachine(t, h, "alice"), newMachine(t, h, "bob")
	for i := range notes {
		alice.write(&note.Note{ID: note.ID(fmt.Sprintf("note%03d", i)), Title: fmt.Sprintf("Rule %d", i)})
	}
	alice.push() // one generation

	ctx, end := context.WithCancel(t.Context())
	defer end()
	left := 2
	r := bob.receiver()
	r.Open = func(ctx context.Context, origin string) (index.Backend, error) {
		db, err := sqlite.Open(ctx, sqlite.Options{Path: bob.path, Origin: origin})
		return cutting{db, &left, end}, err
	}
	taken, err := team.Pull(ctx, bob.client, r)
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "sql:") || !strings.Contains(err.Error(), "up to change 0 of") {
		t.Fatalf("%+v, %v", taken, err)
	}
	state, err := team.ReadState(t.Context(), bob.all)
	if err != nil || !state.Behind() || state.Failed.IsZero() || taken.Put == 0 || taken.Put == notes {
		t.Fatalf("%+v, %+v, %v", taken, state, err)
	}
	rest := bob.pull()
	if rest.Put+taken.Put != notes {
		t.Errorf("took %d and then %d of %d", taken.Put, rest.Put, notes)
	}
	if got := len(bob.knows()); got != notes {
		t.Errorf("knows %d notes", got)
	}
	if state, err = team.ReadState(t.Context(), bob.all); err != nil || state.Behind() || !state.Failed.IsZero() {
		t.Errorf("%+v, %v", state, err)
	}
}

// A member who may only read writes nothing, and that is no failure.
func TestReaderWritesNothing(t *testing.T) {
	h := newHub()
	carol := newMachine(t, h, "carol")
	carol.projects = nil
	carol.write(&note.Note{ID: "mine", Title: "Mine alone"})
	before := h.generation
	if sent, err := carol.try(); err != nil || sent.Put+sent.Dropped > 0 || h.generation != before {
		t.Errorf("%+v, %v, %d changes", sent, err, h.generation-before)
	}
}
