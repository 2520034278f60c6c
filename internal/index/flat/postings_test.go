package flat_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"anamnesis/internal/index/flat"

	"github.com/google/go-cmp/cmp"
)

// texts makes passages of few words, some of them often.
func texts(rng *rand.Rand, n int) (all []flat.Text) {
	for i := range n {
		t := flat.Text{
			Key: int64(3*i + 1 + rng.IntN(2)), Note: int64(i), Start: rng.IntN(100), End: 100 + rng.IntN(1000), Group: rng.Uint32N(4),
			Class: uint8(rng.IntN(4)),
		}
		for f := range t.Tokens {
			t.Tokens[f] = []uint32{}
			for range rng.IntN(6) {
				t.Tokens[f] = append(t.Tokens[f], rng.Uint32N(50)*rng.Uint32N(50)*0x01234567) // 0 often
			}
		}
		all = append(all, t)
	}
	return all
}

func writePostings(t testing.TB, all []flat.Text) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "postings.bin")
	w, err := flat.WritePostings(name, flat.PostingsHeader{Epoch: 5, Model: 6, Gone: 7})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		w.Add(&all[i])
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	return name
}

// wants are the lists of all tokens.
func wants(all []flat.Text) map[uint32][][1 + flat.Fields]int {
	lists := make(map[uint32][][1 + flat.Fields]int)
	for row, t := range all {
		counts := make(map[uint32][1 + flat.Fields]int)
		for f, tokens := range t.Tokens {
			for _, x := range tokens {
				c := counts[x]
				c[0] = row
				c[1+f]++
				counts[x] = c
			}
		}
		for x, c := range counts {
			lists[x] = append(lists[x], c)
		}
	}
	return lists
}

func listOf(p *flat.Postings, token uint32) (frequency int, rows [][1 + flat.Fields]int, err error) {
	l, err := p.List(token)
	l.Each(func(row int, counts [flat.Fields]int) bool {
		rows = append(rows, [1 + flat.Fields]int{row, counts[0], counts[1], counts[2]})
		return true
	})
	return l.Frequency, rows, err
}

func TestPostings(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		all := texts(rand.New(rand.NewPCG(1, 1)), n)
		p, err := flat.OpenPostings(writePostings(t, all))
		if err != nil {
			t.Fatal(err)
		}
		if p.Epoch != 5 || p.Model != 6 || p.Gone != 7 || p.Rows != n || n > 0 && p.Last != all[n-1].Key {
			t.Errorf("header %+v", p.PostingsHeader)
		}
		for row, want := range all {
			got, err := p.Text(row)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("row %d: %v\n%s", row, err, diff)
			}
			if at, ok := p.Row(want.Key); at != row || !ok {
				t.Errorf("key %d is in row %d, %v, want %d", want.Key, at, ok, row)
			}
			if p.Group(row) != want.Group || p.Class(row) != want.Class {
				t.Errorf("row %d: group %d, class %d", row, p.Group(row), p.Class(row))
			}
		}
		if _, ok := p.Row(2 + int64(4*n)); ok {
			t.Error("a key that is not there is found")
		}
		lists := wants(all)
		for token, want := range lists {
			frequency, got, err := listOf(p, token)
			if err != nil || frequency != len(want) || !slices.Equal(got, want) {
				t.Fatalf("token %x: %d rows %v, %v, want %v", token, frequency, got, err, want)
			}
		}
		if frequency, got, err := listOf(p, 99); frequency != 0 || got != nil || err != nil {
			t.Errorf("a token that is nowhere: %d, %v, %v", frequency, got, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Keys that do not ascend or do not fit make no file, and leave none.
func TestPostingsRefuse(t *testing.T) {
	for _, keys := range [][]int64{{1, 1}, {2, 1}, {-1}, {1 << 32}} {
		name := filepath.Join(t.TempDir(), "postings.bin")
		w, err := flat.WritePostings(name, flat.PostingsHeader{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			w.Add(&flat.Text{Key: k})
		}
		if w.Finish() == nil {
			t.Errorf("keys %v are written", keys)
		}
		if left, _ := os.ReadDir(filepath.Dir(name)); len(left) > 0 {
			t.Errorf("keys %v leave %v", keys, left)
		}
	}
}

// TestPostingsDamaged turns bits everywhere and cuts the file: what is read is what was
// written, or it is an error.
func TestPostingsDamaged(t *testing.T) {
	all := texts(rand.New(rand.NewPCG(2, 2)), 12)
	name := writePostings(t, all)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lists := wants(all)
	try := func(what string, at int, data []byte) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "x.bin")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := flat.OpenPostings(name)
		if err != nil {
			if !errors.Is(err, flat.ErrUnusable) {
				t.Errorf("%s at %d: %v", what, at, err)
			}
			return
		}
		defer func() { _ = p.Close() }()
		for row, want := range all {
			if got, err := p.Text(row); err == nil && !cmp.Equal(want, got) || err != nil && !errors.Is(err, flat.ErrUnusable) {
				t.Errorf("%s at %d: row %d: %v, %v", what, at, row, got, err)
			}
		}
		for token, want := range lists {
			if _, got, err := listOf(p, token); err == nil && !slices.Equal(got, want) || err != nil && !errors.Is(err, flat.ErrUnusable) {
				t.Errorf("%s at %d: token %x: %v, %v", what, at, token, got, err)
			}
		}
	}
	try("nothing", 0, whole)
	for at := range whole {
		data := slices.Clone(whole)
		data[at] ^= 1 << (at % 8)
		try("a bit", at, data)
	}
	for at := 0; at < len(whole); at += 7 {
		try("cut", at, whole[:at])
	}
	try("longer", 0, append(slices.Clone(whole), 0))
}

// FuzzOpenPostings opens anything: what opens can be asked.
func FuzzOpenPostings(f *testing.F) {
	whole, err := os.ReadFile(writePostings(f, texts(rand.New(rand.NewPCG(3, 3)), 5)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:130])
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "x.bin")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := flat.OpenPostings(name)
		if err != nil {
			return
		}
		defer func() { _ = p.Close() }()
		for row := range min(p.Rows, 10) {
			_, _ = p.Text(row)
		}
		_, _, _ = listOf(p, 0)
		_, _, _ = listOf(p, 0x01234567)
		_, _, _ = listOf(p, 1<<32-1)
	})
}
