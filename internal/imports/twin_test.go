package imports_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/imports"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/note"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

const same = "Every release is built on the small machine, because the large one has no keys."

// other writes a memory of another folder, and so of another project.
func (r *room) other(name, title, body string) {
	r.Helper()
	r.write(".claude/projects/-src-blog/memory/"+name+".md", fmt.Sprintf("---\nname: %s\ndescription: %s\nmetadata:\n  type: project\n---\n\n%s\n", name, title, body))
}

// session makes the folder of another project one whose directory is known.
func (r *room) sessions() {
	r.Helper()
	for _, name := range []string{"shop", "blog"} {
		r.write(".claude/projects/-src-"+name+"/s.jsonl", `{"type":"user","sessionId":"s","cwd":"/src/`+name+`","timestamp":"2026-05-01T10:00:00Z","message":{"role":"user","content":"x"}}`+"\n")
	}
}

// Two memories of a project with one text become one note. Of two projects, or
// with two titles where the text is short, they are two.
func TestSameText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		write func(r *room)
		notes int
	}{
		{"a long text", func(r *room) { r.memory("a", "project", "one", same); r.memory("b", "project", "two", same+"  \n\n") }, 1},
		{"a short text, two titles", func(r *room) {
			r.memory("a", "project", "how to release", "See CONTRIBUTING.md.")
			r.memory("b", "project", "how to test", "See CONTRIBUTING.md.")
		}, 2},
		{"a short text, one title", func(r *room) {
			r.memory("a", "project", "how to release", "See CONTRIBUTING.md.")
			r.memory("b", "feedback", "How to release", "See CONTRIBUTING.md.")
		}, 1},
		{"a short text, two projects", func(r *room) {
			r.memory("a", "project", "how to release", "See CONTRIBUTING.md.")
			r.other("b", "how to release", "See CONTRIBUTING.md.")
		}, 2},
		{"a long text, two projects", func(r *room) { r.memory("a", "project", "one", same); r.other("b", "two", same) }, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t)
			r.sessions()
			tt.write(r)
			r.apply(r.native())
			if n := len(r.notes()); n != tt.notes {
				t.Errorf("%d notes, want %d", n, tt.notes)
			}
			p := r.native()
			if got := p.Totals(); got.New+got.Update != 0 || !p.Idle() {
				t.Errorf("again: %+v", p.Items)
			}
		})
	}
}

// What a global note says is shown everywhere: a project need not say it again.
func TestSameTextGlobal(t *testing.T) {
	r := newRoom(t)
	r.sessions()
	r.memory("a", "project", "one", same)
	r.apply(r.native())
	r.edit(r.titled("one").ID, func(n *note.Note) { n.Project = note.Global })
	r.other("b", "two", same)
	r.want(r.native(), "b.md", imports.Skipped, "same text")
}

// What becomes of a note becomes of every memory that did not come in because of
// it; what none of them says any more comes in.
func TestTwinFollows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   func(r *room, id note.ID)
		b    imports.Action // what becomes of the other memory
		why  string
	}{
		{"nothing", func(*room, note.ID) {}, imports.Unchanged, "says it"},
		{"forgotten", func(r *room, id note.ID) {
			r.must(func() error { _, err := tombstone.Forget(storetest.Writer(r.store), id); return err })
		}, imports.Skipped, "it was forgotten here"},
		{"forgotten, and its own memory is gone", func(r *room, id note.ID) {
			r.must(func() error { _, err := tombstone.Forget(storetest.Writer(r.store), id); return err })
			_ = os.Remove(r.write(claudeMemory+"a.md", ""))
		}, imports.Skipped, "it was forgotten here"},
		{"forgotten, and the other changed", func(r *room, id note.ID) {
			r.must(func() error { _, err := tombstone.Forget(storetest.Writer(r.store), id); return err })
			r.memory("b", "project", "two", same+" So they say.")
		}, imports.Skipped, "forgotten here"}, // as the note, or by its text: tombstones compare nearly equal texts by a random key
		{"deleted by hand", func(r *room, id note.ID) {
			ref, err := r.store.Find(id)
			if err == nil {
				err = os.Remove(r.store.Path(ref.Path))
			}
			if err != nil {
				r.Fatal(err)
			}
		}, imports.Skipped, "deleted here, as note"},
		{"archived", func(r *room, id note.ID) {
			r.must(func() error {
				_, _, err := ingesttest.Archive(r.store, id, "old")
				return err
			})
		}, imports.Unchanged, "says it"},
		{"archived, and the other changed", func(r *room, id note.ID) {
			r.must(func() error {
				_, _, err := ingesttest.Archive(r.store, id, "old")
				return err
			})
			r.memory("b", "project", "two", same+" So they say.")
		}, imports.Skipped, "archived here, as note"},
		{"edited here", func(r *room, id note.ID) {
			r.edit(id, func(n *note.Note) { n.Body = "On the large machine, since May." })
		}, imports.Unchanged, "says it"},
		{"its own memory says something else", func(r *room, _ note.ID) {
			r.memory("a", "project", "one", "The large machine has keys now, and so it is used for every release.")
			r.apply(r.native())
		}, imports.Adds, ""},
		{"the other says something else", func(r *room, _ note.ID) {
			r.memory("b", "project", "two", "The small machine is gone, and so is all that was ever built on it.")
		}, imports.Adds, ""},
		{"both say the same something else", func(r *room, _ note.ID) {
			r.memory("a", "project", "one", same+" So they say.")
			r.memory("b", "project", "two", same+" So they say.")
		}, imports.Skipped, "same text"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t)
			r.sessions()
			r.memory("a", "project", "one", same)
			r.apply(r.native())
			r.memory("b", "project", "two", same)
			p := r.native() // as for a store of before: the twin is new, and nothing else is
			if r.want(p, "b.md", imports.Skipped, "same text"); p.Idle() {
				t.Error("there is something to remember")
			}
			r.apply(p)
			id := r.titled("one").ID
			if ids, err := r.Batch(""); err != nil || slices.Contains(ids, item(t, p, "b.md").ID) {
				t.Errorf("%v %v", ids, err)
			}
			tt.do(r, id)
			for range 2 {
				p := r.native()
				r.want(p, "b.md", tt.b, tt.why)
				if tt.b == imports.Adds || tt.why == "same text" {
					break
				}
				r.apply(p)
			}
		})
	}
}

// A memory whose twin was refused by the door has not come in by it.
func TestTwinOfNothing(t *testing.T) {
	r := newRoom(t)
	r.sessions()
	r.memory("a", "project", "one", same)
	r.memory("b", "project", "two", same)
	p := r.native()
	p.Items = slices.DeleteFunc(p.Items, func(it imports.Item) bool { return strings.HasSuffix(it.Source, "a.md") })
	r.apply(p)
	if err := os.Remove(r.write(claudeMemory+"a.md", "")); err != nil {
		t.Fatal(err)
	}
	r.want(r.native(), "b.md", imports.Adds, "")
}

// Reflect's folder may hold anything: what is no text is named, and the others come in.
func TestLearningsOfBytes(t *testing.T) {
	r := newRoom(t)
	for _, tt := range []struct{ name, text, why string }{
		{"picture", "\x89PNG\r\n\x1a\n\xff\xfe", "not UTF-8"},
		{"latin1", "---\ntitle: caf\xe9\n---\nOne.\n", "not UTF-8"},
		{"nul", "---\ntitle: a\n---\nb\x00c\n", "a NUL"},
		{"utf16", "a\x00b\x00", "a NUL"},
		{"controls", "\x01\x02\x03 words\n", "control characters"},
		{"empty", "", "no word"},
		{"dashes", "---\n---\n\n", "no word"},
		{"colours", "\x1b[31mred\x1b[0m is how it warns\n", ""},
		{"stray", "---\ntitle: a bell\n---\nIt rings \a here.\n", ""},
		{"marked", "\ufeff---\r\ntitle: with a mark\r\n---\r\nTwo.\r\n", ""},
	} {
		r.write(".learnings/documents/"+tt.name+".md", tt.text)
		want := imports.Adds
		if tt.why != "" {
			want = imports.Refused
		}
		r.want(r.reflect(), tt.name+".md", want, tt.why)
	}
	if rep := r.apply(r.reflect()); rep.Totals[imports.Created] != 3 {
		t.Errorf("%v", rep.Totals)
	}
}
