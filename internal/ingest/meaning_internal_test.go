package ingest

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
)

// brokenMeaning is an index whose vectors cannot be asked.
type brokenMeaning struct{ index.Backend }

func (brokenMeaning) Nearest(context.Context, string, []float32, index.Filter, int, float64) ([]index.Candidate, error) {
	return nil, errors.New("no vectors")
}

func meaningDoor(t *testing.T, broken bool) *Ingester {
	t.Helper()
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		t.Fatal(err)
	}
	r, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	var backend index.Backend = db
	if broken {
		backend = brokenMeaning{db}
	}
	return New(s, index.New(backend, s, index.Embedding{Local: words}), r, Options{HoldSimilar: true})
}

const meantBody = "The auditors look for accounts, and the ledger export is what they get every month from the office."

func TestMeant(t *testing.T) {
	add := func(g *Ingester, title, body, source string) Outcome {
		t.Helper()
		out, err := g.Admit(t.Context(), Draft{By: map[string]Author{note.Human: Person, note.Import: Import}[source], Here: "app", Note: &note.Note{
			Type: note.Semantic, Project: "app", Title: title, Body: body, Provenance: note.Provenance{Source: source, Confidence: 1},
			Evidence: []note.Evidence{{Session: "claude/" + title, Chunk: title}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const again = "Auditors are looking for the accounts, and each month the ledger export is what they are getting from the office."
	for _, tt := range []struct {
		title, body, source string
		want                Result
		broken              bool
	}{
		{"Sort ledger exports by the number of the account", again, note.Import, Held, false},
		{"Sort ledger exports by the number of the account", again, note.Human, Created, false},
		{"Sort ledger exports by the number of the account", again, note.Import, Created, true},
		{"Never sort the ledger export by account number", meantBody, note.Import, Held, false},
		{"Sort ledger exports by the number of the account 7", again, note.Import, Created, false},
		{"Sort ledger exports by the number of the account_id", again, note.Import, Created, false},
	} {
		g := meaningDoor(t, tt.broken)
		first := add(g, "Sort the ledger export by account number", meantBody, note.Human)
		out := add(g, tt.title, tt.body, tt.source)
		if out.Result != tt.want {
			t.Errorf("%q of %s: %s, %s", tt.title, tt.source, out.Result, out.Why)
		}
		if out.Result != Held || out.Effect == Contradicts {
			continue
		}
		n, err := InboxOf(g).MergeDraft(t.Context(), out.Note.ID)
		if err != nil || n.ID != first.Note.ID || n.Sessions() != 2 || len(g.store.Spool().Held()) != 0 {
			t.Errorf("merged: %+v, %v", n, err)
		}
		if _, err := InboxOf(g).MergeDraft(t.Context(), out.Note.ID); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("merged twice: %v", err)
		}
	}
}
