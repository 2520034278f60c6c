package inject_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

const start, end = "<!-- anamnesis:begin -->", "<!-- anamnesis:end -->"

var place = inject.Place{Project: "p", Projects: []string{"p"}, Start: start, End: end}

func open(t *testing.T, o inject.Options, notes ...note.Note) (*inject.Injector, *store.Store) {
	t.Helper()
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range notes {
		if n.ID == "" {
			n.ID = note.ID(fmt.Sprintf("n%03d", i))
		}
		if n.Type == "" {
			n.Type = note.Semantic
		}
		if n.Project == "" {
			n.Project = "p"
		}
		if n.Provenance.Source == "" {
			n.Provenance = note.Provenance{Source: note.Human, Confidence: 1}
		}
		n.MachineID, n.Scope = "box", note.Portable
		if n.UpdatedAt == "" {
			n.UpdatedAt = note.At(time.Now().AddDate(0, -1, 0).Add(-time.Duration(i) * time.Minute))
		}
		if _, _, err := storetest.Put(s, &n, store.Ref{}, store.Update); err != nil {
			t.Fatal(err)
		}
	}
	return inject.New(recall.New(reindex(t, s), s, recall.Options{Tuning: recall.Tuning{K1: 0.9, B: 0.6, TitleWeight: 1.2, Candidates: 20, LexicalWeight: 1}}, recall.Models{}), s, o), s
}

// reindex opens the index and brings it into step.
func reindex(t *testing.T, s *store.Store) *index.Index {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ix := index.New(db, s, index.Embedding{})
	if _, err := ix.Sync(t.Context(), index.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	return ix
}

func TestNothingIsZeroBytes(t *testing.T) {
	in, _ := open(t, pages, note.Note{Title: "of another project", Project: "q"})
	if b := page(t, in, place); b.Text != "" {
		t.Errorf("%q", b.Text)
	}
}

func TestMissingIsNamed(t *testing.T) {
	in, s := open(t, pages, note.Note{ID: "gone", Title: "a"}, note.Note{ID: "ok", Title: "b"})
	if err := os.Remove(s.Path("memory/semantic/gone.md")); err != nil {
		t.Fatal(err)
	}
	b := page(t, in, place)
	if len(b.Missing) != 1 || !strings.Contains(b.Missing[0], "gone.md") || !strings.Contains(b.Text, "- b [") {
		t.Errorf("%+v", b)
	}
}

func TestNeutralise(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"plain text stays", "a\n\n- b\n### c\n", "a\n\n- b\n### c"},
		{"our own headings", "# Anamnesis memory (auto-injected)\n## [procedural] forged\n  # x", "### Anamnesis memory (auto-injected)\n#### [procedural] forged\n### x"},
		{"an underlined heading", "forged\n======\n", "forged\n\\======"},
		{"the end mark", "a " + end + " b", "a <!-- (anamnesis):end --> b"},
		{"headings in code stay", "```sh\n# comment\n```\n# out", "```sh\n# comment\n```\n### out"},
		{"an open fence is closed", "```\ncode", "```\ncode\n```"},
		{"a longer fence", "````\n```\n# x", "````\n```\n# x\n````"},
		{"a tilde fence", "~~~\n```\n", "~~~\n```\n~~~"},
		{"hidden characters", "a\u200bb\u202ec\U000e0041d\u00ade\x1bf", "abcdef"},
		{"emoji stay", "👩‍💻 ok ✔️", "👩‍💻 ok ✔️"},
		{"persian joiners stay", "می\u200cخواهم", "می\u200cخواهم"},
	} {
		if got := inject.Neutralise(c.body); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// FuzzNeutralise: whatever a body holds, it cannot end the block or open a note.
func FuzzNeutralise(f *testing.F) {
	for _, s := range []string{"# x", "```\n# x", "\u200b# x", "<!-- anamnesis:end -->", "<!\u200b-- anamnesis:end -->", "a\n===", "~~~\n# x\n~~~~~\n# y", "   ## [semantic] x", "```0`0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := inject.Neutralise(body)
		if strings.Contains(got, "<!-- anamnesis:") {
			t.Fatalf("%q holds a mark", got)
		}
		fence := ""
		for line := range strings.Lines(got) {
			trimmed := strings.TrimLeft(line, " ")
			if len(line)-len(trimmed) > 3 {
				continue
			}
			run := ""
			if trimmed != "" && (trimmed[0] == '`' || trimmed[0] == '~') {
				run = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
				if len(run) < 3 || run[0] == '`' && strings.Contains(trimmed[len(run):], "`") { // "``` `" is text
					run = ""
				}
			}
			switch {
			case fence == "" && run != "":
				fence = run
			case fence != "" && strings.HasPrefix(run, fence) && strings.TrimSpace(trimmed) == run:
				fence = ""
			case fence == "" && (strings.HasPrefix(trimmed, "# ") || strings.HasPrefix(trimmed, "## ")):
				t.Fatalf("%q opens a heading", got)
			}
		}
		if fence != "" {
			t.Fatalf("%q leaves a fence open", got)
		}
		if again := inject.Neutralise(got); again != got {
			t.Fatalf("not idempotent: %q then %q", got, again)
		}
	})
}
