package imports_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/imports"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"

	"github.com/google/go-cmp/cmp"
)

func TestReadList(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a block", "- previous: |\n    ---\n    title: a\n    ---\n\n      deep\n    \"[{\n", "---\ntitle: a\n---\n\n  deep\n\"[{"},
		{"a block that begins with spaces", "- previous: |2-\n      deep\n    less\n", "  deep\nless"},
		{"folded", "- previous: >-\n    one\n    two\n\n    three\n      as it is\n    four\n", "one two\nthree\n  as it is\nfour"},
		{"double quotes", `- previous: "---\ntitle: \"a\"\n\` + "\n    \\  indented \\\n    on\\u00e9 \\U0001F600 \\x41\"\n", "---\ntitle: \"a\"\n  indented oné 😀 A"},
		{"single quotes", "- previous: 'it''s\n\n    a # text'\n", "it's\na # text"},
		{"plain", "- previous: a text\n    of two lines # and why\n", "a text of two lines"},
		{"other keys about it", "- reason: x\n  previous: a\n  nested:\n    previous: b\n  list: [previous]\n", "a"},
		{"marks of a document", "---\n# why\n- previous: a\n...\n", "a"},
		{"a mapping", "- previous: {a: b}\n", ""},
		{"an alias", "- previous: *a\n", ""},
		{"quotes that do not end", "- previous: \"a\\\n", ""},
		{"more behind the quotes", "- previous: 'a' b\n", ""},
		{"a bad escape", `- previous: "\q"` + "\n", ""},
		{"half an escape", `- previous: "\u12"` + "\n", ""},
		{"a block that is not indented", "- previous: |\n  a\n", ""},
		{"a bad head", "- previous: |x\n    a\n", ""},
		{"nothing", "- previous:\n", ""},
	} {
		got, err := imports.ReadList(c.text)
		if err != nil || len(got) != 1 || strings.TrimRight(got[0]["previous"], "\n") != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
	for _, text := range []string{"a: b\n", "text", "{}", "-\n"} {
		if got, err := imports.ReadList(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got, err := imports.ReadList("[]\n"); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
}

// entry is one of a history, as reflect writes it.
func entry(at, text string) string {
	return fmt.Sprintf("- snapshot_at: '%s'\n  reason: rewrite\n  content_hash: 00ff\n  previous: |\n    %s\n", at, strings.ReplaceAll(text, "\n", "\n    "))
}

func learningText(title, rule string) string {
	return "---\nid: lrn-1\ntitle: " + title + "\nrule: " + rule + "\nsource_path: /home/ada/x\n---\n\n## Problem\n\n" + title + " it is.\n"
}

// What a note of reflect said before is in the history of the note that it becomes.
func TestReflectFormer(t *testing.T) {
	r := newRoom(t)
	secret := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	r.write(".learnings/documents/lrn-1.md", learningText("Third", "c"))
	history := entry("2026-01-02T03:04:05+00:00", learningText("First", secret)) + entry("2026-02-03T04:05:06.25Z", learningText("Second", "b"))
	r.write(".learnings/documents/lrn-1.history.yaml", history)
	p := r.reflect()
	if g := group(p, "former versions"); g.Found != 2 || g.Left || len(p.Problems) != 0 {
		t.Errorf("%+v %v", g, p.Problems)
	}
	if revs, _ := r.store.History("lrn-1"); len(revs) != 0 {
		t.Fatal("a plan wrote a history")
	}
	if got := r.apply(p).Former; got != 2 {
		t.Errorf("%d came in", got)
	}
	revs, err := r.store.History("lrn-1")
	if err != nil || len(revs) != 2 || revs[0].Reason != "import" {
		t.Fatalf("%+v %v", revs, err)
	}
	times := []time.Time{time.Date(2026, 2, 3, 4, 5, 6, 250e6, time.UTC), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for i, title := range []string{"Second", "First"} {
		n, err := note.Parse([]byte(r.kept(revs[i].Path)))
		if err != nil || n.Title != title || n.ID != "lrn-1" || n.Provenance.Source != note.Learning || !revs[i].At.Equal(times[i]) {
			t.Errorf("%+v %v %v", n, revs[i].At, err)
		}
	}
	if strings.Contains(r.kept(revs[1].Path), secret[4:]) {
		t.Error("a secret came in with a former version")
	}
	// Again, and with one more.
	if got := r.apply(r.reflect()).Former; got != 0 {
		t.Errorf("%d came in twice", got)
	}
	r.write(".learnings/documents/lrn-1.history.yaml", history+entry("2026-03-04T05:06:07Z", learningText("Between", "d")))
	if got := r.apply(r.reflect()).Former; got != 1 {
		t.Errorf("%d of one more came in", got)
	}
	// It is a form like others.
	if _, changed, err := ingesttest.Restore(r.store, "lrn-1", revs[1].Name); err != nil || !changed || r.titled("First").Rule == "" {
		t.Errorf("%v %v", changed, err)
	}
	// A change in another memory is none that a command here made.
	if forms, err := r.store.FormsBefore(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}); err != nil || len(forms) != 1 || forms[0].Reason == "import" {
		t.Errorf("%+v %v", forms, err)
	}
	// What was deleted or forgotten brings no history back.
	if _, err := tombstone.Forget(storetest.Writer(r.store), "lrn-1"); err != nil {
		t.Fatal(err)
	}
	r.apply(r.reflect())
	if revs, _ := r.store.History("lrn-1"); len(revs) != 0 {
		t.Errorf("%+v", revs)
	}
}

// A note that an earlier program imported gets its history with the next import.
func TestReflectFormerLater(t *testing.T) {
	r := newRoom(t)
	r.write(".learnings/documents/lrn-1.md", learningText("Second", "c"))
	r.apply(r.reflect())
	r.write(".learnings/documents/lrn-1.history.yaml", entry("2026-01-02", learningText("First", "a")))
	if got := r.apply(r.reflect()).Former; got != 1 {
		t.Errorf("%d came in", got)
	}
}

// Histories are somebody's files: bounded, and never in the way of the note.
func TestReflectFormerHostile(t *testing.T) {
	var many strings.Builder
	for i := range 70 {
		many.WriteString(entry(fmt.Sprintf("2026-01-02T03:%02d:05Z", i%60), learningText(fmt.Sprint("Form ", i), "x")))
	}
	for _, c := range []struct {
		name, text string
		former     int
		problem    bool
	}{
		{"many", many.String(), 50, false},
		{"none", "", 0, false},
		{"no list", "a: b\n", 0, true},
		{"huge", strings.Repeat("- previous: x\n", 1<<20), 0, true},
		{"without a time", "- previous: x\n", 0, false},
		{"from the future", entry("2999-01-01", "x"), 0, false},
		{"before time", entry("0001-01-01", "x"), 0, false},
		{"no text", "- snapshot_at: 2026-01-02\n  previous: [a]\n", 0, false},
		{"another id", entry("2026-01-02", "---\nid: ../../evil\ntitle: t\nmachine_id: m\n---\nx"), 1, false},
		{"two of one time", entry("2026-01-02", "x") + entry("2026-01-02", "y"), 2, false},
		{"twice the same", entry("2026-01-02T03:04:05Z", "x") + entry("2026-01-02T03:04:05Z", "x"), 2, false},
		{"nested", "- snapshot_at: 2026-01-02\n  previous: " + strings.Repeat("[", 100_000), 0, false},
		{"lines without end", "- snapshot_at: 2026-01-02\n  previous: \"" + strings.Repeat("\\\n    ", 100_000) + "\"\n", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t)
			r.write(".learnings/documents/lrn-1.md", learningText("Third", "c"))
			r.write(".learnings/documents/lrn-1.history.yaml", c.text)
			p := r.reflect()
			if (len(p.Problems) > 0) != c.problem {
				t.Errorf("problems %v", p.Problems)
			}
			rep := r.apply(p)
			revs, _ := r.store.History("lrn-1")
			if rep.Former != c.former || len(revs) != c.former || r.titled("Third") == nil {
				t.Errorf("%d former, %d in the history", rep.Former, len(revs))
			}
			for _, rev := range revs {
				if n, err := note.Parse([]byte(r.kept(rev.Path))); err != nil || n.ID != "lrn-1" || n.Validate() != nil {
					t.Errorf("%s: %v", rev.Path, err)
				}
			}
			if again := r.apply(r.reflect()); again.Former != 0 {
				t.Errorf("again: %d", again.Former)
			}
		})
	}
}

// What is read of a history is what stands in it, in order.
func FuzzVersions(f *testing.F) {
	f.Add("- snapshot_at: 2026-01-02\n  previous: |\n    a\n     b\n")
	f.Add("- snapshot_at: '2026-01-02T03:04:05Z'\n  previous: \"a\\\n    \\ b\\u1234\"\n- previous: 'x'\n")
	f.Add("- previous: >2-\n\n      a\n   b\n---\n")
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		texts, times, bad, err := imports.ReadVersions(text, now)
		if err != nil {
			return
		}
		if len(texts)+bad > strings.Count(text, "- ") || !slices.IsSortedFunc(times, func(a, b time.Time) int { return a.Compare(b) }) {
			t.Fatalf("%q: %q %v", text, texts, times)
		}
		for i := range texts {
			if times[i].After(now) || strings.ContainsAny(texts[i], "\x00") || len(texts[i]) > 3*len(text)+4 {
				t.Fatalf("%q became %q of %v", text, texts[i], times[i])
			}
		}
		again, _, _, _ := imports.ReadVersions(text, now)
		if d := cmp.Diff(texts, again); d != "" {
			t.Fatal(d)
		}
	})
}

// kept reads a file of the store.
func (r *room) kept(path string) string {
	r.Helper()
	data, err := os.ReadFile(r.store.Path(path))
	if err != nil {
		r.Fatal(err)
	}
	return string(data)
}
