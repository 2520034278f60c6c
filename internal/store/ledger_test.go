package store_test

import (
	"context"
	"os"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

func openAt(t *testing.T, root string) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// vouched writes a note for which a person vouches, in the place of the one at old.
func vouched(t *testing.T, s *store.Store, n *note.Note, old store.Ref) (store.Ref, []byte) {
	t.Helper()
	w, err := s.BeginWrite(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer w.End()
	if err := w.Vouch(n); err != nil {
		t.Fatal(err)
	}
	ref, _, err := w.Put(n, old, store.Update)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(s.Path(ref.Path))
	if err != nil {
		t.Fatal(err)
	}
	return ref, data
}

func trusted(t *testing.T, s *store.Store, id note.ID) bool {
	t.Helper()
	n, _, err := store.Get(s, id)
	if err != nil {
		t.Fatal(err)
	}
	return n.Trusted
}

// A wording that a person replaced is nobody's word when another program puts it back.
func TestLedgerKnowsTheLastWording(t *testing.T) {
	s := openAt(t, t.TempDir())
	n := storetest.Draft("a")
	n.Provenance.Source = note.Human
	ref, first := vouched(t, s, n, store.Ref{})
	now := n.Clone()
	now.Body = "Not any more."
	_, second := vouched(t, s, now, ref)
	for _, tt := range []struct {
		data []byte
		want bool
	}{{second, true}, {first, false}, {second, true}} {
		storetest.WriteFile(t, s.Path(ref.Path), string(tt.data))
		if got := trusted(t, s, "a"); got != tt.want {
			t.Errorf("trusted %v, want %v, of:\n%s", got, tt.want, tt.data)
		}
	}
}

// A machine that stops between the ledger and the note leaves the former wording the person's, and the new one
// too until the next writer. What that one finds counts.
func TestLedgerAfterACrash(t *testing.T) {
	s := openAt(t, t.TempDir())
	n := storetest.Draft("a")
	n.Provenance.Source = note.Human
	ref, first := vouched(t, s, n, store.Ref{})
	now := n.Clone()
	now.Body = "Not any more."
	other := openAt(t, t.TempDir())
	_, second := vouched(t, other, now.Clone(), store.Ref{})

	w, err := s.BeginWrite(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Vouch(now); err != nil { // and then it stops: no Put, no End
		t.Fatal(err)
	}
	again := openAt(t, s.Root())
	if !trusted(t, again, "a") {
		t.Error("the former wording is not the person's any more")
	}
	w.End() // gives the lock back; the ledger is as the next writer of the file would leave it
	if !trusted(t, again, "a") {
		t.Error("the wording that the note has is not the person's any more")
	}
	storetest.WriteFile(t, s.Path(ref.Path), string(second))
	if trusted(t, openAt(t, s.Root()), "a") {
		t.Error("a wording that was never written is the person's")
	}
	storetest.WriteFile(t, s.Path(ref.Path), string(first))
	if !trusted(t, again, "a") {
		t.Error("the wording that the person wrote is not theirs any more")
	}
}
