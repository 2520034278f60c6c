package tombstone_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

// prose returns a statement of a title and a number of words.
func prose(r *rand.Rand, words int) string {
	var b strings.Builder
	b.WriteString("a title of words\n")
	for range words {
		fmt.Fprintf(&b, "word%d ", r.IntN(5000))
	}
	return b.String()
}

// buried returns a store with a thousand tombstones, and what a note says that none of them minds.
func buried(b *testing.B) (*store.Store, note.Fingerprint) {
	b.Helper()
	s, err := store.Open(store.Options{Root: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		stone := tombstone.New(note.ID(fmt.Sprintf("n%04d", i)), prose(r, 40+r.IntN(40)), time.Now())
		if err := tombstone.Write(storetest.Writer(s), note.Portable, stone); err != nil {
			b.Fatal(err)
		}
	}
	return s, note.FingerprintOf(prose(r, 60))
}

// BenchmarkForgotten is what a hook pays beside a thousand tombstones: it reads
// them and asks each.
func BenchmarkForgotten(b *testing.B) {
	s, said := buried(b)
	for b.Loop() {
		stones, err := tombstone.For(s, note.Local)
		if err != nil || slices.ContainsFunc(stones, func(t tombstone.Tombstone) bool { return t.Recognises(said) }) {
			b.Fatal("recognised", err)
		}
	}
}

// BenchmarkRecognises asks a thousand tombstones that are read already.
func BenchmarkRecognises(b *testing.B) {
	s, said := buried(b)
	stones, err := tombstone.For(s, note.Local)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if slices.ContainsFunc(stones, func(t tombstone.Tombstone) bool { return t.Recognises(said) }) {
			b.Fatal("recognised")
		}
	}
}
