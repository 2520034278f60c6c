package recall_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

func TestParseCorpusFilter(t *testing.T) {
	for spec, want := range map[string]string{
		"tag:a,b tags:c d category:X":            "a b c d|X|||",
		"proj:p since:2026-01-31 UNTIL:2026-2-3": "error",
		"project_id:p cat:y until:2026-02-03":    "|y|p||2026-02-03",
		"what:ever go":                           "what:ever go||||",
		"":                                       "||||",
		"since:yesterday":                        "error",
		"since:2026-02-30":                       "error",
		"project:":                               "error",
	} {
		f, err := recall.ParseCorpusFilter(spec)
		got := strings.Join([]string{strings.Join(f.Tags, " "), f.Category, f.Project, f.Since, f.Until}, "|")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: got %q %v, want %q", spec, got, err, want)
		}
	}
}

func TestSafeName(t *testing.T) {
	seen := make(map[string]string)
	for raw, want := range map[string]string{
		"": "corpus", "auth": "auth", "v1.2_x-y": "v1.2_x-y", "a/b": "a-b-", "a b": "a-b-", "../../etc": "etc-", "日本": "corpus-", "???": "corpus-",
		".hidden": "hidden-", "nul": "corpus-nul-", "CON.x": "corpus-CON.x-", strings.Repeat("x", 300): strings.Repeat("x", 100) + "-", "-": "corpus-",
	} {
		got := recall.SafeName(raw)
		if ok := strings.HasSuffix(want, "-") && strings.HasPrefix(got, want) && len(got) == len(want)+6; got != want && !ok {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q are one", raw, other)
		}
		seen[got] = raw
	}
}

func TestCorpus(t *testing.T) {
	at := func(day int) note.Stamp { return note.At(time.Date(2026, 6, day, 12, 0, 0, 0, time.UTC)) }
	_, s := open(t,
		note.Note{ID: "a", Title: "walrus a", Tags: []string{"Auth", "db"}, Category: "howto", CreatedAt: at(1)},
		note.Note{ID: "b", Title: "walrus b", Tags: []string{"db"}, Category: "HowTo", CreatedAt: at(5), Body: strings.Repeat("long ", 500)},
		note.Note{ID: "c", Title: "walrus c", Tags: []string{"ui"}, Project: "q", CreatedAt: at(9)},
		note.Note{ID: "d", Title: "walrus d", Tags: []string{"auth"}, Quarantine: true, CreatedAt: at(9)},
	)
	e, ix := engine(t, s, product, recall.Models{})
	for spec, want := range map[string]string{
		"": "a b c", "tag:auth": "a", "db": "a b", "tag:auth,ui": "a c", "category:howto": "a b", "project:Q": "c", "since:2026-06-05": "b c",
		"until:2026-06-05": "a b", "since:2026-06-02 until:2026-06-08 db": "b", "tag:none": "",
	} {
		f, err := recall.ParseCorpusFilter(spec)
		if err != nil {
			t.Fatal(err)
		}
		c, err := e.BuildCorpus(t.Context(), "my corpus", f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, entry := range c.Entries {
			got = append(got, string(entry.ID))
		}
		if strings.Join(got, " ") != want || c.Count != len(got) {
			t.Errorf("%q: got %v, want %s", spec, got, want)
		}
		only, err := e.CorpusIDs("my corpus")
		if err != nil || len(only) != max(1, len(got)) || want == "" && only[0] != "" {
			t.Errorf("%q: %v %v", spec, only, err)
		}
	}
	if _, err := e.CorpusIDs("nobody"); !errors.Is(err, recall.ErrNoCorpus) || !strings.Contains(err.Error(), "anamnesis list corpus list") {
		t.Errorf("an unknown corpus: %v", err)
	}

	if _, err := e.BuildCorpus(t.Context(), "db", recall.CorpusFilter{Tags: []string{"db"}}); err != nil {
		t.Fatal(err)
	}
	drift := func() recall.Drift {
		t.Helper()
		c, err := e.Corpus("db")
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.Drift(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := drift(); d.Stale {
		t.Errorf("at once: %+v", d)
	}
	n, _, ref, err := s.Read("memory/semantic/a.md")
	if err != nil {
		t.Fatal(err)
	}
	n.Tags = []string{"auth"}
	if _, _, err := storetest.Put(s, n, ref, store.Update); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.Path("memory/semantic/b.md")); err != nil {
		t.Fatal(err)
	}
	added := note.Note{ID: "e", Title: "walrus e", Type: note.Semantic, Scope: note.Portable, Project: "p", Tags: []string{"db"}, UpdatedAt: at(1), Provenance: note.Provenance{Source: note.Human}}
	if _, _, err := storetest.Put(s, &added, store.Ref{}, store.Update); err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	if d := drift(); !d.Stale || len(d.Changed) != 1 || d.Changed[0] != "a" || len(d.Gone) != 1 || d.Gone[0] != "b" {
		t.Errorf("after changes: %+v", d)
	}
	if c, err := e.RebuildCorpus(t.Context(), "db"); err != nil || c.Count != 1 || c.Entries[0].ID != "e" {
		t.Errorf("rebuilt: %+v %v", c, err)
	}
	if d := drift(); d.Stale {
		t.Errorf("rebuilt: %+v", d)
	}

	if err := os.WriteFile(s.Path("corpora/broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := e.Corpora()
	if len(all) != 2 || all[0].Name != "db" || all[1].Name != "my corpus" || err == nil || !strings.Contains(err.Error(), "broken.json") {
		t.Errorf("list: %v %v", all, err)
	}
	if err := e.DeleteCorpus("db"); err != nil {
		t.Error(err)
	}
	if err := e.DeleteCorpus("db"); !errors.Is(err, recall.ErrNoCorpus) {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := e.RebuildCorpus(t.Context(), "db"); !errors.Is(err, recall.ErrNoCorpus) {
		t.Errorf("rebuilt what is gone: %v", err)
	}
}
