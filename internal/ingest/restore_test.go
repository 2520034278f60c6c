package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/store"
)

func TestRecollect(t *testing.T) {
	s := at(t, 10)
	write(t, s.Path("memory/semantic/n1.md"), string(noteBytes("n1", "now")))
	day := func(d int, key string) ingest.FormerVersion {
		n := draft("n1")
		n.Body = "form " + key
		return ingest.FormerVersion{At: time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC), Key: key, Form: n}
	}
	if added, err := ingest.New(s, nil, nil, ingest.Options{}).ImportRevisions(context.Background(), "n1", []ingest.FormerVersion{day(2, "b"), day(1, "a"), day(2, "b")}); added != 2 || err != nil {
		t.Fatal(added, err)
	}
	// The key tells what it is, whatever is made of it now.
	other := day(1, "a")
	other.Form.Title = "told otherwise"
	if added, err := ingest.New(s, nil, nil, ingest.Options{}).ImportRevisions(context.Background(), "n1", []ingest.FormerVersion{other}); added != 0 || err != nil {
		t.Error(added, err)
	}
	revs, _ := s.History("n1")
	if len(revs) != 2 || revs[0].At.Day() != 2 || revs[1].Reason != store.Imported {
		t.Errorf("%+v", revs)
	}
	// A change that follows is the newest, also when it takes such a form back.
	ref, changed, err := ingesttest.Restore(s, "n1", revs[1].Name)
	if n, _, _, _ := s.Read(ref.Path); err != nil || !changed || n.Body != "form a" {
		t.Errorf("%+v %v", n, err)
	}
	if revs, _ := s.History("n1"); len(revs) != 3 || revs[0].Reason != store.Restored {
		t.Errorf("%+v", revs)
	}
	stone(t, s, "old", "t\nform z")
	if added, err := ingest.New(s, nil, nil, ingest.Options{}).ImportRevisions(context.Background(), "n1", []ingest.FormerVersion{day(3, "z")}); added != 0 || err != nil {
		t.Errorf("what was forgotten came with a history: %d %v", added, err)
	}
	var many []ingest.FormerVersion
	for i := range 80 {
		many = append(many, day(4, fmt.Sprint(i)))
	}
	if added, err := ingest.New(s, nil, nil, ingest.Options{}).ImportRevisions(context.Background(), "n1", many); added != 48 || err != nil {
		t.Error(added, err)
	}

	write(t, s.Path("memory/semantic/n2.md"), string(noteBytes("n2", "now")))
	for name, change := range map[string]func(*ingest.FormerVersion){
		"another id":      func(r *ingest.FormerVersion) { r.Form.ID = "n3" },
		"the future":      func(r *ingest.FormerVersion) { r.At = s.Now().Add(time.Hour) },
		"before all time": func(r *ingest.FormerVersion) { r.At = time.Time{} },
		"no note":         func(r *ingest.FormerVersion) { r.Form.Type = "../x" },
	} {
		good, bad := day(1, "a"), day(2, "b")
		good.Form.ID, bad.Form.ID = "n2", "n2"
		change(&bad)
		if added, err := ingest.New(s, nil, nil, ingest.Options{}).ImportRevisions(context.Background(), "n2", []ingest.FormerVersion{good, bad}); err == nil || added != 0 {
			t.Errorf("%s: %d %v", name, added, err)
		}
	}
	if revs, _ := s.History("n2"); len(revs) != 0 {
		t.Errorf("half of it was written: %+v", revs)
	}
	if _, err := ingest.New(s, nil, nil, ingest.Options{}).ImportRevisions(context.Background(), "gone", []ingest.FormerVersion{day(1, "a")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a history without a note: %v", err)
	}
}
