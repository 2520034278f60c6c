package store_test

import (
	"os"
	"strings"
	"testing"

	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
)

func TestBatches(t *testing.T) {
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := s.Spool().Batches(); err != nil || len(all) != 0 {
		t.Errorf("a new store has %v, %v", all, err)
	}
	want := []store.Batch{
		{V: 1, ID: "ffffffffffffffff", At: "2026-11-20T10:00:00+00:00", Project: "p", Model: "m", Sources: []store.Source{{ID: "s", Hash: "h"}}, Notes: []string{"---\n"}},
		{V: 1, ID: "0000000000000000", At: "2026-11-20T11:00:00+00:00", Project: "q"},
	}
	for _, b := range []store.Batch{want[1], want[0]} {
		if err := s.Spool().SaveBatch(b); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Spool().Batches()
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for _, id := range []string{"", "abc", "../../config", "ABCDEF0123", strings.Repeat("a", 65)} {
		if err := s.Spool().SaveBatch(store.Batch{ID: id}); err == nil {
			t.Errorf("%q: kept", id)
		}
		if err := s.Spool().DropBatch(id); err == nil {
			t.Errorf("%q: dropped", id)
		}
	}
	if err := s.Spool().SaveBatch(store.Batch{ID: "0123456789abcdef", Notes: []string{strings.Repeat("x", 17<<20)}}); err == nil {
		t.Error("a batch without end was kept")
	}
	for name, text := range map[string]string{
		"1111111111111111.json": "half of a {",
		"2222222222222222.json": `{"v":1,"id":"3333333333333333"}`,
		"not-an-id.json":        `{"v":1,"id":"not-an-id"}`,
		"README":                "mine",
	} {
		if err := os.WriteFile(s.Path("spool/batches/"+name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Spool().Batches(); err != nil || len(got) != 2 || len(s.Spool().Poisoned()) != 3 {
		t.Errorf("%d batches, %v, set aside %v", len(got), err, s.Spool().Poisoned())
	}
	for range 2 { // the second finds nothing to drop
		if err := s.Spool().DropBatch(want[0].ID); err != nil {
			t.Error(err)
		}
	}
	if got, _ := s.Spool().Batches(); len(got) != 1 {
		t.Errorf("%d batches", len(got))
	}
}
