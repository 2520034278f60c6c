package imports_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/imports"
	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"

	"github.com/oklog/ulid/v2"
)

func TestNativeMapping(t *testing.T) {
	r := newRoom(t)
	r.memory("rebase", "feedback", "Rebase before you push", "Always rebase.\n\n---\nA line of dashes.")
	r.memory("who", "user", "The user is a data engineer", "Prefers short answers.")
	r.write(claudeMemory+"MEMORY.md", "# Memory\n- [Rebase](rebase.md)\n")
	r.write(claudeMemory+"plain.md", "no front matter at all\n")
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	r.setTime(claudeMemory+"rebase.md", at)
	p := r.native()
	if len(r.notes()) != 0 {
		t.Fatal("a plan wrote notes")
	}
	r.want(p, "MEMORY.md", imports.Skipped, "list of the others")
	r.want(p, "plain.md", imports.Skipped, "no front matter")
	r.apply(p)
	n := r.titled("Rebase before you push")
	if n.Type != note.Procedural || n.Body != "Always rebase.\n\n---\nA line of dashes." || n.Provenance.Source != note.Import || n.Scope != note.Portable ||
		n.MachineID != "box" || !slices.Equal(n.Tags, []string{"import", "kind:feedback"}) || n.CreatedAt != note.At(at) || n.UpdatedAt != note.At(at) {
		t.Errorf("%+v", n)
	}
	if n.ImportHash != ingest.SummaryHash(n.Title, n.Body) || len(n.ID) != 26 {
		t.Errorf("id %s, import_hash %s", n.ID, n.ImportHash)
	}
	if n := r.titled("The user is a data engineer"); n.Type != note.Semantic || !n.HasTag("kind:user") {
		t.Errorf("%+v", n)
	}
}

func TestNativeLenient(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, title, kind string }{
		{"an unquoted colon", "---\nname: x\ndescription: Use sync: not async\nmetadata:\n  type: feedback\n---\nBody.\n", "Use sync: not async", "feedback"},
		{"type at the margin", "---\nname: x\ndescription: T\ntype: reference\n---\nBody.\n", "T", "reference"},
		{"no description", "---\nname: the name\n---\nBody.\n", "the name", "project"},
		{"nothing in the front matter", "---\n---\nBody.\n", "m", "project"},
		{"CRLF and a byte order mark", "\ufeff---\r\nname: x\r\ndescription: T\r\n---\r\nBody.\r\n", "T", "project"},
		{"a folded description", "---\ndescription: >-\n  one\n  two\n---\nBody.\n", "one two", "project"},
		{"quotes", "---\ndescription: \"it's \\\"so\\\"\"\n---\nBody.\n", `it's "so"`, "project"},
		{"invalid UTF-8", "---\ndescription: a\xffb\n---\nBody.\n", "a\ufffdb", "project"},
		{"a kind that is no word", "---\ndescription: T\nmetadata:\n  type: \"a b\\nc\"\n---\nBody.\n", "T", "project"},
		{"an alias bomb", "---\ndescription: T\na: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n---\nBody.\n", "T", "project"},
		{"deep nesting", "---\ndescription: T\nx: " + strings.Repeat("[", 10_000) + "\n---\nBody.\n", "T", "project"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t)
			r.write(claudeMemory+"m.md", tt.text)
			r.memory("good", "user", "a good one", "It stands beside.")
			r.apply(r.native())
			if n := r.titled(tt.title); n.Body != "Body." || !n.HasTag("kind:"+tt.kind) {
				t.Errorf("%q %v", n.Body, n.Tags)
			}
			r.titled("a good one")
		})
	}
}

// What is not a memory is named, and the others come in.
func TestNativeHostile(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.memory("good", "user", "a good one", "It stands beside.")
	r.write(claudeMemory+"huge.md", "---\nname: x\n---\n"+strings.Repeat("x", 10<<20))
	r.write(claudeMemory+"open.md", "---\nname: x\n")
	r.write(claudeMemory+"heads.md", "---\n"+strings.Repeat("key: value\n", 100_000)+"---\nx\n")
	r.write(claudeMemory+"nul.md", "---\ndescription: a\x00b\n---\nwith a \x00 in it\n")
	r.write(claudeMemory+".hidden.md", "---\nname: hidden\n---\nx\n")
	r.write(claudeMemory+"..md", "---\nname: dots\n---\nx\n")
	r.write(claudeMemory+"big.md", "---\nname: big\n---\n"+strings.Repeat("word ", 300_000))
	if err := os.MkdirAll(filepath.Join(r.home, claudeMemory, "x.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	secret := r.write("secret.md", "---\nname: secret\n---\nout of the tree\n")
	links := os.Symlink(secret, filepath.Join(r.home, claudeMemory, "link.md")) == nil &&
		os.Symlink(filepath.Dir(secret), filepath.Join(r.home, ".claude/projects/linked")) == nil
	p := r.native()
	r.want(p, "huge.md", imports.Refused, "too large")
	r.want(p, "open.md", imports.Skipped, "no front matter")
	r.want(p, "heads.md", imports.Skipped, "no front matter")
	r.want(p, "x.md", imports.Refused, "not a regular file")
	r.want(p, "big.md", imports.Refused, "1 MiB")
	if links {
		r.want(p, "link.md", imports.Refused, "symbolic link")
		r.want(p, "linked", imports.Refused, "symbolic link")
	} else if runtime.GOOS != "windows" {
		t.Error("no symbolic links on this system?")
	}
	r.apply(p)
	all := r.notes()
	if r.titled("a good one"); len(all) != 2 {
		t.Errorf("%d notes", len(all))
	}
	for _, n := range all {
		if strings.Contains(n.Body, "out of the tree") || strings.ContainsRune(n.Body, 0) {
			t.Errorf("%+v", n)
		}
	}
}

// Secrets are masked before anything is compared, so that a second plan does
// not take the mask for an edit.
func TestNativeRedacts(t *testing.T) {
	r := newRoom(t)
	key := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	r.memory("token", "reference", "token "+key, "Use "+key+" for it.")
	p := r.native()
	if strings.Contains(p.Items[0].Title, key) {
		t.Error("the plan shows a secret")
	}
	r.apply(p)
	for _, n := range r.notes() {
		if strings.Contains(n.Title+n.Body, key) {
			t.Errorf("%+v", n)
		}
	}
	r.want(r.native(), "token.md", imports.Unchanged, "")
}

func TestNativeUpdate(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.memory("a", "project", "how it is deployed", "With make deploy.")
	r.apply(r.native())
	was := r.titled("how it is deployed")

	// What was decided here survives a change of the source.
	r.edit(was.ID, func(n *note.Note) {
		n.AddTags("reviewed", "merged")
		n.Supersedes, n.Project = []note.ID{"older"}, "another"
	})
	r.want(r.native(), "a.md", imports.Unchanged, "")
	r.memory("a", "project", "how it is deployed", "With make ship.")
	p := r.native()
	r.want(p, "a.md", imports.Updates, "")
	rep := r.apply(p)
	n := r.notes()[was.ID]
	if len(rep.Updated) != 1 || n.Body != "With make ship." || !n.HasTag("reviewed") || !n.HasTag("merged") || len(n.Supersedes) != 1 || n.Project != "another" || n.CreatedAt != was.CreatedAt {
		t.Errorf("%+v", n)
	}
	// Another kind is a change too.
	r.memory("a", "feedback", "how it is deployed", "With make ship.")
	r.apply(r.native())
	if n := r.notes()[was.ID]; n.Type != note.Procedural || !n.HasTag("kind:feedback") || n.HasTag("kind:project") || !n.HasTag("reviewed") {
		t.Errorf("%s %v", n.Type, n.Tags)
	}
	r.want(r.native(), "a.md", imports.Unchanged, "")
	if revs, err := r.store.History(was.ID); err != nil || len(revs) < 2 {
		t.Errorf("%d revisions, %v", len(revs), err)
	}
}

func TestNativeLocalEdit(t *testing.T) {
	r := newRoom(t)
	r.memory("a", "project", "the port", "It listens on 8080.")
	r.apply(r.native())
	id := r.titled("the port").ID
	r.edit(id, func(n *note.Note) { n.Body = "It listens on 8080, since May on 9090." })
	r.want(r.native(), "a.md", imports.Unchanged, "edited here")
	r.memory("a", "project", "the port", "It listens on 7070.")
	p := r.native()
	r.want(p, "a.md", imports.Refused, "edited here and its source changed too; take in what is new with `anamnesis edit "+string(id)+"`")
	r.apply(p)
	if n := r.notes()[id]; n.Body != "It listens on 8080, since May on 9090." {
		t.Errorf("%q", n.Body)
	}
	// Whoever takes in by hand what the source says has settled it.
	r.edit(id, func(n *note.Note) { n.Body = "It listens on 7070." })
	r.apply(r.native())
	r.want(r.native(), "a.md", imports.Unchanged, "")
}

func TestNativeStaysAway(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		away func(r *room, id note.ID)
		why  string
	}{
		{"forgotten", func(r *room, id note.ID) {
			r.must(func() error { _, err := tombstone.Forget(storetest.Writer(r.store), id); return err })
		}, "forgotten"},
		{"deleted by hand", func(r *room, id note.ID) {
			ref, err := r.store.Find(id)
			if err == nil {
				err = os.Remove(r.store.Path(ref.Path))
			}
			if err != nil {
				r.Fatal(err)
			}
		}, "deleted"},
		{"archived", func(r *room, id note.ID) {
			r.must(func() error {
				_, _, err := ingesttest.Archive(r.store, id, "old")
				return err
			})
		}, "archived"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t)
			r.memory("a", "project", "the port", "It listens on 8080.")
			r.apply(r.native())
			before := r.titled("the port")
			tt.away(r, before.ID)
			for range 2 {
				r.apply(r.native())
				if n := r.notes()[before.ID]; n != nil && n.Status != "archived" {
					t.Errorf("it came back: %+v", n)
				}
				r.memory("a", "project", "the port", "It listens on another port by now: 8443.")
				r.want(r.native(), "a.md", imports.Skipped, tt.why)
			}
			if len(r.notes()) > 1 {
				t.Errorf("%d notes", len(r.notes()))
			}
		})
	}
}

// A statement that was forgotten is recognised under another name as well.
func TestNativeForgottenTwin(t *testing.T) {
	r := newRoom(t)
	r.memory("a", "project", "the port", "It listens on 8080.")
	r.apply(r.native())
	id := r.titled("the port").ID
	r.must(func() error { _, err := tombstone.Forget(storetest.Writer(r.store), id); return err })
	r.memory("b", "project", "The port", "It listens on 8080")
	r.want(r.native(), "b.md", imports.Skipped, "forgotten")
}

// A near-copy of what another agent said waits, and is not offered again.
func TestNativeHeld(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	var words []string
	for i := range 60 {
		words = append(words, fmt.Sprintf("word%c%c", 'a'+i%26, 'a'+i/26))
	}
	said := strings.Join(words, " ")
	if _, err := r.ingester.Admit(t.Context(), ingest.Draft{By: ingest.Person, Note: &note.Note{Type: note.Semantic, Title: "payment tests", Body: said, Project: "shop"}}); err != nil {
		t.Fatal(err)
	}
	r.write(".claude/projects/-src-shop/s.jsonl", `{"type":"user","sessionId":"s","cwd":"/src/shop","timestamp":"2026-05-01T10:00:00Z","message":{"role":"user","content":"x"}}`+"\n")
	for i := range 20 { // which near-copies the door finds is its own business; some it does
		r.memory(fmt.Sprintf("a%d", i), "project", "payment tests", said+fmt.Sprintf(" more%c", 'a'+i))
	}
	rep := r.apply(r.native())
	if rep.Totals[imports.Held] == 0 {
		t.Fatalf("nothing was held: %v", rep.Totals)
	}
	held := 0
	for _, it := range r.native().Items {
		if it.Action == imports.Skipped && strings.Contains(it.Why, "held") {
			held++
		}
	}
	if held != rep.Totals[imports.Held] {
		t.Errorf("%d of %d are known as held", held, rep.Totals[imports.Held])
	}
}

// What a note here says already, without the full stop, does not come in again.
func TestNativeTwin(t *testing.T) {
	r := newRoom(t)
	r.memory("a", "project", "The port", "It listens on 8080.")
	twin, err := r.ingester.Admit(t.Context(), ingest.Draft{By: ingest.Person, Note: &note.Note{Type: note.Semantic, Title: "the port", Body: "It listens on 8080", Project: item(t, r.native(), "a.md").Project}})
	if err != nil {
		t.Fatal(err)
	}
	rep := r.apply(r.native())
	if len(r.notes()) != 1 || len(rep.Created) != 0 {
		t.Errorf("%d notes, %v", len(r.notes()), rep.Totals)
	}
	r.want(r.native(), "a.md", imports.Unchanged, string(twin.Note.ID))
	if err := os.Remove(r.store.Path(twin.Ref.Path)); err != nil {
		t.Fatal(err)
	}
	r.want(r.native(), "a.md", imports.Skipped, "deleted")
}

func legacyID(key string) note.ID {
	sum := sha256.Sum256([]byte(key))
	return note.ID(ulid.ULID(sum[:16]).String())
}

// Notes that the program before imported are recognised by the id it made.
func TestNativeLegacy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, machine, source, body string
		action                      imports.Action
		old                         bool // whether the old id is used
	}{
		{"its own", "box", note.Import, "With make.", imports.Unchanged, true},
		{"its own, one of both changed", "box", note.Import, "With ninja.", imports.Refused, true},
		{"of another machine", "laptop", note.Import, "With ninja.", imports.Adds, false},
		{"not an import", "box", note.Human, "With ninja.", imports.Adds, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t)
			id := legacyID("-src-shop/a")
			old := &note.Note{
				ID: id, Type: note.Semantic, Title: "the build", Body: tt.body, Project: "shop", MachineID: tt.machine, Scope: note.Portable,
				UserID: "self", WorkspaceID: "personal", Provenance: note.Provenance{Source: tt.source, Confidence: 1}, Tags: []string{"kind:project"},
				CreatedAt: "2026-01-01T00:00:00+00:00", UpdatedAt: "2026-01-01T00:00:00+00:00",
			}
			r.must(func() error { _, _, err := storetest.Put(r.store, old, store.Ref{}, store.Update); return err })
			r.memory("a", "project", "the build", "With make.")
			p := r.native()
			r.want(p, "a.md", tt.action, "")
			if it := item(t, p, "a.md"); (it.ID == id) != tt.old {
				t.Errorf("id %s", it.ID)
			}
			r.apply(p)
			if tt.action == imports.Unchanged { // from now on a change of the source is known as one
				r.memory("a", "project", "the build", "With bazel.")
				r.apply(r.native())
				if n := r.notes()[id]; n.Body != "With bazel." {
					t.Errorf("%q", n.Body)
				}
			}
		})
	}
}

// Two machines with equal paths do not write into each other's notes.
func TestNativeMachines(t *testing.T) {
	a, b := newRoomOf(t, "desk"), newRoomOf(t, "lap")
	for _, r := range []*room{a, b} {
		r.memory("a", "project", "the build", "With make.")
		r.apply(r.native())
	}
	if a.titled("the build").ID == b.titled("the build").ID {
		t.Error("one id on two machines")
	}
}

func TestNativeProject(t *testing.T) {
	r := newRoom(t)
	real := filepath.Join(r.home, "src", "my-shop.v2")
	if err := os.MkdirAll(real, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(r.home, "src", "my"), 0o700); err != nil {
		t.Fatal(err)
	}
	slug := strings.NewReplacer("/", "-", ".", "-", "_", "-", `\`, "-", ":", "-").Replace(real)
	text := "---\ndescription: %\n---\n% is what it says.\n"
	put := func(folder, title string) {
		r.write(".claude/projects/"+folder+"/memory/m.md", strings.ReplaceAll(text, "%", title))
	}
	put(slug, "decoded")
	put(slug+"-gone", "gone")
	put("-src-told", "told")
	r.write(".claude/projects/-src-told/a.jsonl", "not json\n")
	r.write(".claude/projects/-src-told/b.jsonl", `{"type":"user","sessionId":"b","cwd":"/src/told-by.session","timestamp":"2026-05-01T10:00:00Z","message":{"role":"user","content":"x"}}`+"\n")
	put("---", "strange")
	r.apply(r.native())
	for title, want := range map[string]string{"decoded": "my-shop.v2", "gone": "gone", "told": "told-by.session"} {
		if got := r.titled(title).Project; got != want {
			t.Errorf("%s: project %q, want %q", title, got, want)
		}
	}
	if got := r.titled("strange").Project; got == note.Global {
		t.Error("a project became global by accident")
	}
}

// Users keep an agent's folder elsewhere and link it. Such a folder is read; one that is somebody else's, that a repository
// redirects, or that holds the agent's folder is named and not read. What is in the folder is no link.
func TestNativeLinkedFolder(t *testing.T) {
	const text = "---\nname: a\n---\nBody.\n"
	r := newRoom(t)
	link := func(to, from string) {
		t.Helper()
		from = filepath.Join(r.home, from)
		if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
			t.Fatal(err)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(r.home, to)
		}
		if err := os.Symlink(to, from); err != nil {
			t.Skip("there are no symbolic links here:", err)
		}
	}
	secret := r.write("secret.md", text)
	r.write("dropbox/projects/-src-shop/memory/a.md", text)
	r.write("dropbox/mem/b.md", text)
	link(secret, "dropbox/mem/link.md")
	link(".ssh", "dropbox/mem/folder.md")
	r.write("checkout/.git/HEAD", "ref: refs/heads/main\n")
	r.write("checkout/mine/c.md", text)
	r.write("elsewhere/d.md", text)
	link("elsewhere", "checkout/redirected")
	link("dropbox/projects", ".claude/projects")
	link("dropbox/mem", "dropbox/projects/-src-linked/memory")
	link("checkout/mine", "dropbox/projects/-src-checkout/memory")
	link("checkout/redirected", "dropbox/projects/-src-redirected/memory")
	link("hop", "dropbox/projects/-src-hop/memory")
	link("checkout/redirected", "hop")
	link(".", "dropbox/projects/-src-home/memory")
	link("nowhere", "dropbox/projects/-src-nowhere/memory")
	link("loop", "loop")
	link("loop", "dropbox/projects/-src-loop/memory")
	link(secret, "dropbox/projects/-src-file/memory")
	p := r.native()
	r.want(p, "-src-shop/memory/a.md", imports.Adds, "")
	r.want(p, "-src-linked/memory/b.md", imports.Adds, "")
	r.want(p, "-src-linked/memory/link.md", imports.Refused, "symbolic link")
	r.want(p, "-src-linked/memory/folder.md", imports.Refused, "symbolic link")
	r.want(p, "-src-checkout/memory/c.md", imports.Adds, "")
	r.want(p, "-src-redirected/memory", imports.Refused, "one of a repository")
	r.want(p, "-src-hop/memory", imports.Refused, "one of a repository")
	r.want(p, "-src-home/memory", imports.Refused, "holds this one")
	r.want(p, "-src-nowhere/memory", imports.Refused, "nowhere")
	r.want(p, "-src-loop/memory", imports.Refused, "too many")
	r.want(p, "-src-file/memory", imports.Refused, "symbolic link")
	if len(p.Items) != 11 {
		t.Errorf("%d items: %+v", len(p.Items), p.Items)
	}
	if os.Geteuid() == 0 {
		foreign := filepath.Join(r.home, "foreign")
		r.write("foreign/e.md", text)
		if err := os.Chown(foreign, 12345, 12345); err != nil {
			t.Skip(err)
		}
		link("foreign", "dropbox/projects/-src-foreign/memory")
		r.want(r.native(), "-src-foreign/memory", imports.Refused, "somebody else")
	}
}

func TestNativeNothingThere(t *testing.T) {
	r := newRoom(t)
	if p := r.native(); len(p.Items) != 0 || len(p.Problems) != 0 {
		t.Errorf("%+v", p)
	}
	r.write(".claude", "a file, not a folder")
	if p := r.native(); len(p.Problems) != 1 {
		t.Errorf("%+v", p)
	}
}

const codexMemory = `# Task Group: acme/shop / checkout deploys
scope: deploying the checkout
applies_to: cwd=/src/shop; reuse_rule=safe for this checkout

## Task 1: roll back a release
- Run ` + "`make rollback`" + `, then flush the cache.

` + "```sh\n# not a heading\nmake rollback\n```" + `

# Task Group: unrelated chores
applies_to: cwd=relative/path; reuse_rule=none

- Rotate the logs.
`

func TestCodexMemories(t *testing.T) {
	r := newRoom(t)
	r.write(".codex/memories/MEMORY.md", codexMemory)
	r.write(".codex/memories/memory_summary.md", "v1\n\n## User Profile\n\nAda writes Go.\n\n## What's in Memory\n\n- an index\n")
	r.write(".codex/memories/raw_memories.md", "# Raw\n\nnot read\n")
	r.write(".codex/memories/rollout_summaries/2026-05-01T10-00-00-abcd-rollback.md",
		"thread_id: 0197-ab\nupdated_at: 2026-05-01T10:30:00+00:00\ncwd: /src/shop\n\n# Rolled back the release\n\nIt went well.\n")
	r.write(".codex/memories/skills/deploy/SKILL.md", "---\nname: deploy\ndescription: How a release is deployed\n---\n\nStep by step.\n")
	r.apply(r.native())
	if len(r.notes()) != 5 {
		t.Errorf("%d notes", len(r.notes()))
	}
	task := r.titled("acme/shop / checkout deploys")
	if task.Type != note.Procedural || task.Project != "shop" || !strings.Contains(task.Body, "# not a heading") || !task.HasTag("codex") || !task.HasTag("kind:task") {
		t.Errorf("%+v", task)
	}
	if n := r.titled("unrelated chores"); n.Project != note.Global || strings.Contains(n.Body, "roll back") {
		t.Errorf("%+v", n)
	}
	if n := r.titled("Rolled back the release"); n.Type != note.Episodic || n.Provenance.Session != "0197-ab" || n.Project != "shop" {
		t.Errorf("%+v", n)
	}
	if n := r.titled("User Profile"); n.Type != note.Semantic {
		t.Errorf("%+v", n)
	}
	if n := r.titled("How a release is deployed"); n.Type != note.Procedural {
		t.Errorf("%+v", n)
	}
	// Sections are known by their headings, wherever they stand.
	r.write(".codex/memories/MEMORY.md", "# Task Group: new\n\nFirst now.\n\n"+strings.Replace(codexMemory, "Rotate the logs", "Rotate the logs daily", 1))
	r.write(".codex/memories/rollout_summaries/2026-05-01T10-00-00-abcd-rollback.md",
		"thread_id: 0197-ab\ncwd: /src/shop\n\n# Rolled back the release\n\nIt went well, and was rolled forward.\n")
	rep := r.apply(r.native())
	if len(rep.Created) != 1 || len(rep.Updated) != 2 {
		t.Errorf("created %v, updated %v", rep.Created, rep.Updated)
	}
	if n := r.titled("Rolled back the release"); !strings.Contains(n.Body, "rolled forward") {
		t.Errorf("%q", n.Body)
	}
}
