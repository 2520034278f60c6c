package capture_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
)

type room struct {
	*testing.T
	*capture.Recorder
	store    *store.Store
	dir      string
	ingester *ingest.Ingester
	redactor *redact.Redactor
}

func newRoom(t *testing.T) *room {
	t.Helper()
	return newRoomAt(t, nil)
}

// newRoomAt returns a room in which it is what now says; nil is now.
func newRoomAt(t *testing.T, now func() time.Time) *room {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(store.Options{Root: filepath.Join(dir, "store"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	r, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	g := ingest.New(s, index.New(db, s, index.Embedding{}), r, ingest.Options{MachineID: "box"})
	return &room{T: t, Recorder: capture.New(s, g, r, capture.Options{MachineID: "box"}), store: s, dir: dir, ingester: g, redactor: r}
}

// A line of a session in the shape of Claude Code's.
func user(at int, text string) string {
	return fmt.Sprintf(`{"type":"user","sessionId":"s1","cwd":"/src/app","gitBranch":"main","timestamp":"2026-05-01T10:00:%02dZ","message":{"role":"user","content":%q}}`+"\n", at, text)
}

func assistant(at int, text string) string {
	return fmt.Sprintf(`{"type":"assistant","sessionId":"s1","timestamp":"2026-05-01T10:00:%02dZ","message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`+"\n", at, text)
}

func edit(at int, tool, key, file string) string {
	return fmt.Sprintf(`{"type":"assistant","sessionId":"s1","timestamp":"2026-05-01T10:00:%02dZ","message":{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":%q,"input":{%q:%q}}]}}`+"\n", at, at, tool, key, file)
}

func (r *room) file(name, text string) string {
	r.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
	return path
}

func (r *room) capture(text string) capture.Capture {
	r.Helper()
	c, err := r.Capture(r.Context(), capture.Request{Harness: agent.Default(), Transcript: r.file("s1.jsonl", text), Source: "session-end"})
	if err != nil {
		r.Fatal(err)
	}
	return c
}

func TestHeuristic(t *testing.T) {
	long := strings.Repeat("wört ", 200)
	for _, c := range []struct {
		name, session, title, body string
	}{
		{
			"everything", user(0, "Fix the login\nplease") + edit(1, "Edit", "file_path", "/src/app/login.go") + edit(2, "NotebookEdit", "notebook_path", "/src/app/x.ipynb") +
				edit(3, "Write", "file_path", "/src/app/login.go") + assistant(4, "Fixed, the cookie was wrong."),
			"Fix the login",
			"**Ask:** Fix the login please\n\n**Files touched (2):** login.go, x.ipynb\n\n**Outcome:** Fixed, the cookie was wrong.",
		},
		{
			"long texts", user(0, long) + assistant(1, long),
			strings.TrimSpace(strings.Repeat("wört ", 13)) + "…",
			"**Ask:** " + strings.TrimSpace(strings.Repeat("wört ", 31)) + "…\n\n**Outcome:** " + strings.TrimSpace(strings.Repeat("wört ", 33)) + "…",
		},
		{
			"no prompt", edit(1, "MultiEdit", "file_path", "a.go"), "Changes to a.go",
			"**Files touched (1):** a.go",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t)
			n := r.capture(c.session).Outcome.Note
			if n.Title != c.title || n.Body != c.body {
				t.Errorf("title %q\nwant  %q\nbody %q\nwant %q", n.Title, c.title, n.Body, c.body)
			}
			if !slices.Equal(n.Tags, []string{"session", "session-end"}) || n.Provenance.Source != note.SessionEnd || n.Provenance.Session != "s1" || n.Type != note.Episodic {
				t.Errorf("%+v", n)
			}
		})
	}
}

func TestTrivial(t *testing.T) {
	long := "an outcome that is clearly longer than forty characters"
	for _, c := range []struct {
		name, session string
		trivial       bool
	}{
		{"empty", "", true},
		{"binary", "\x00\x01\xff\xfe garbage\n\n{", true},
		{"a file was touched", edit(0, "Edit", "file_path", "/a"), false},
		{"no prompt, short outcome", assistant(0, "ok"), true},
		{"no prompt, long outcome", assistant(0, long), false},
		{"a slash command", user(0, "/clear") + assistant(1, "ok"), true},
		{"a wrapped slash command", user(0, "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"), true},
		{"a slash command with an outcome", user(0, "/review") + assistant(1, long), false},
		{"a question without an answer", user(0, "why is the sky blue"), false},
		{"a command with words", user(0, "/fix the bug"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(t)
			got := r.capture(c.session)
			if got.Trivial != c.trivial {
				t.Errorf("trivial %v", got.Trivial)
			}
			n := 0
			for range r.store.Walk() {
				n++
			}
			if (n == 0) != c.trivial {
				t.Errorf("%d notes", n)
			}
		})
	}
}

// A session that contains only what we injected leaves nothing.
func TestNoEcho(t *testing.T) {
	r := newRoom(t)
	block := agent.InjectStart + "\n# Anamnesis memory (auto-injected)\n\n## [semantic] an old fact\n\nold words\n" + agent.InjectEnd
	if c := r.capture(user(0, block) + assistant(1, block)); !c.Trivial {
		t.Errorf("an echo became %+v", c.Outcome.Note)
	}
	if c := r.capture(user(0, block+"\nnow fix it") + assistant(1, "done")); c.Trivial || strings.Contains(c.Outcome.Note.Body, "old words") {
		t.Errorf("%+v", c.Outcome.Note)
	}
}

// Redaction comes before cutting: a key that the cut would halve is masked whole.
func TestRedactBeforeCut(t *testing.T) {
	key := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	r := newRoom(t)
	text := strings.Repeat("x", 585) + " " + key
	c := r.capture(user(0, text+"\n"+key) + assistant(1, text))
	for _, part := range []string{key, key[:12]} {
		if strings.Contains(c.Outcome.Note.Body, part) || strings.Contains(c.Outcome.Note.Title, part) {
			t.Errorf("%q stands in the note", part)
		}
	}
}

func TestOneNoteASession(t *testing.T) {
	r := newRoom(t)
	first := r.capture(user(0, "fix the tax") + assistant(1, "half done"))
	second := r.capture(user(0, "fix the tax") + assistant(1, "half done") + assistant(2, "all done"))
	if first.Outcome.Note.ID != second.Outcome.Note.ID || second.Outcome.Result != ingest.Updated {
		t.Errorf("%v %v", second.Outcome.Result, second.Outcome.Note.ID)
	}
	if third := r.capture(user(0, "fix the tax") + assistant(1, "half done") + assistant(2, "all done")); third.Outcome.Result != ingest.Unchanged {
		t.Errorf("%v", third.Outcome.Result)
	}
	// The same session on another machine, at another path, is the same note.
	other := newRoom(t)
	if c := other.capture(user(0, "fix the tax") + assistant(1, "half done")); c.Outcome.Note.ID != first.Outcome.Note.ID {
		t.Errorf("%s and %s", c.Outcome.Note.ID, first.Outcome.Note.ID)
	}
}

// The file of a resumed session begins with records of the session before: it
// is a separate session all the same, and does not take the other's note.
func TestResumedSession(t *testing.T) {
	r := newRoom(t)
	old := user(0, "fix the tax") + assistant(1, "all of it is done")
	first := r.capture(old)
	resumed := r.file("s2.jsonl", old+strings.ReplaceAll(user(5, "go on")+assistant(6, "that is done as well"), `"s1"`, `"s2"`))
	byHand, err := r.Capture(t.Context(), capture.Request{Harness: agent.Default(), Transcript: resumed})
	if err != nil {
		t.Fatal(err)
	}
	byHook, err := r.Capture(t.Context(), capture.Request{Harness: agent.Default(), Transcript: resumed, Session: "s2"})
	if err != nil {
		t.Fatal(err)
	}
	if a, b, c := first.Outcome.Note.ID, byHand.Outcome.Note.ID, byHook.Outcome.Note.ID; a == b || b != c {
		t.Errorf("ids %s, by hand %s, by hook %s", a, b, c)
	}
}

func TestCaptureRefuses(t *testing.T) {
	r := newRoom(t)
	for _, name := range []string{filepath.Join(r.dir, "absent.jsonl"), r.dir} {
		_, err := r.Capture(t.Context(), capture.Request{Harness: agent.Default(), Transcript: name})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func (r *room) notice(file, session, source string, sync bool) {
	r.Helper()
	e := agent.Event{Name: "SessionEnd", SessionID: session, TranscriptPath: file, Dir: "/src/app"}
	if err := r.Enqueue(agent.Default(), e, source, "app", sync); err != nil {
		r.Fatal(err)
	}
}

func TestDrain(t *testing.T) {
	r := newRoom(t)
	long := r.file("long.jsonl", user(0, "fix the tax")+assistant(1, "all of it is done"))
	r.notice(long, "s1", "precompact", false)
	r.notice(long, "s1", "precompact", false)
	r.notice(long, "s1", "session-end", true)
	r.notice(r.file("clear.jsonl", user(0, "/clear")), "s2", "session-end", false)
	r.notice(filepath.Join(r.dir, "absent.jsonl"), "s3", "session-end", false)
	r.notice(r.dir, "s4", "session-end", false) // a folder
	d, err := r.Drain(t.Context(), nil)
	if err != nil || len(d.Captured) != 2 || len(d.Failed) != 1 || d.Left != 0 || !d.Sync {
		t.Fatalf("%+v %v", d, err)
	}
	var notes []*note.Note
	for ref := range r.store.Walk() {
		n, _, _, err := r.store.Read(ref.Path)
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, n)
	}
	if len(notes) != 1 || !slices.Equal(notes[0].Tags, []string{"session", "precompact", "session-end"}) || notes[0].Project != "app" {
		t.Errorf("%+v", notes)
	}
	if d, err := r.Drain(t.Context(), nil); err != nil || len(d.Captured) != 0 {
		t.Errorf("again: %+v %v", d, err)
	}
}

// What fails now is tried again by the next run, not in a circle by this one.
func TestDrainKeepsWhatFails(t *testing.T) {
	r := newRoom(t)
	if _, err := queue.Of(r.store).Enqueue(queue.Capture, "", capture.Job{Harness: "of a later version", Session: "s1", Transcript: r.file("s.jsonl", "")}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		d, err := r.Drain(t.Context(), nil)
		if err != nil || len(d.Failed) != 1 || d.Left != 1 {
			t.Fatalf("%+v %v", d, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Drain(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestPreview(t *testing.T) {
	r := newRoom(t)
	session := user(0, "fix the tax") + strings.Repeat(assistant(1, "still at it"), 2000) + edit(2, "Edit", "file_path", "/a.go") + assistant(3, "all of it is done")
	r.notice(r.file("a.jsonl", session), "s1", "session-end", false)
	r.notice(r.file("b.jsonl", user(0, "/clear")), "s2", "session-end", false)
	notes := r.Preview([]string{"app"}, time.Now().Add(time.Hour))
	if len(notes) != 1 {
		t.Fatalf("%d notes", len(notes))
	}
	if _, err := r.Drain(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for ref := range r.store.Walk() {
		n, _, _, err := r.store.Read(ref.Path)
		if err != nil || n.ID != notes[0].ID || n.Title != notes[0].Title || n.Body != notes[0].Body {
			t.Errorf("the drain wrote %+v, the preview was %+v", n, notes[0])
		}
	}
	if got := r.Preview([]string{"other"}, time.Now().Add(time.Hour)); len(got) != 0 {
		t.Errorf("of another project: %v", got)
	}
}

func TestPreviewKeepsItsDeadline(t *testing.T) {
	r := newRoom(t)
	for i := range 20 {
		r.notice(r.file(fmt.Sprintf("s%d.jsonl", i), user(0, "fix the tax")+strings.Repeat(assistant(1, strings.Repeat("x", 500)), 5000)), fmt.Sprintf("s%d", i), "session-end", false)
	}
	all := r.Preview([]string{"app"}, time.Now().Add(time.Hour))
	some := r.Preview([]string{"app"}, time.Now().Add(5*time.Millisecond)) // nobody reads 50 MB in that
	none := r.Preview([]string{"app"}, time.Now().Add(-time.Second))
	if len(all) != 20 || len(some) >= len(all) || len(none) != 0 {
		t.Errorf("%d in an hour, %d in 5 ms, %d in no time", len(all), len(some), len(none))
	}
}

// TestProjectOfForeignFolder: a session in a folder that is not here is filed by the remote that its client recorded, else by the folder's
// name, and never under the folder in which the program runs.
func TestProjectOfForeignFolder(t *testing.T) {
	for name, c := range map[string]struct{ cwd, git, want string }{
		"Windows":             {`C:\Users\me\src\shop`, "", "shop"},
		"Windows, a remote":   {`C:\Users\me\src\shop`, "git@github.com:acme/shop.git", "github.com/acme/shop"},
		"gone":                {"/gone/src/shop", "", "shop"},
		"gone, a remote":      {"/gone/src/shop", "https://github.com/acme/shop", "github.com/acme/shop"},
		"here":                {"HERE", "https://github.com/acme/shop", "work"},
		"gone, no address":    {"/gone/src/shop", "  ", "shop"},
		"gone, named global":  {"/gone/src/shop", "global", "shop"},
		"a server of Windows": {`\\host\share\billing`, "", "billing"},
	} {
		t.Run(name, func(t *testing.T) {
			if filepath.Separator == '\\' {
				t.Skip("such paths are not foreign there")
			}
			r := newRoom(t)
			t.Chdir(r.dir)
			if c.cwd == "HERE" {
				c.cwd = filepath.Join(r.dir, "work")
				if err := os.MkdirAll(c.cwd, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			meta, err := json.Marshal(map[string]any{"timestamp": "2026-11-10T10:00:00Z", "type": "session_meta", "payload": map[string]any{
				"id": "01a0c0de-1111-7aaa-8bbb-000000000001", "cwd": c.cwd, "source": "cli", "git": map[string]any{"repository_url": c.git},
			}})
			if err != nil {
				t.Fatal(err)
			}
			text := string(meta) + "\n"
			for role, say := range map[string]string{"user": "Round the tax of each line, half up, in the cart", "assistant": "The tax is rounded for each line now."} {
				kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
				text += fmt.Sprintf(`{"timestamp":"2026-11-10T10:01:00Z","type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}}`+"\n", role, kind, say)
			}
			file := filepath.Join(r.dir, "rollout-2026-11-10T10-00-00-01a0c0de-1111-7aaa-8bbb-000000000001.jsonl")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := r.Capture(t.Context(), capture.Request{Harness: agent.ByName("codex"), Transcript: file, Source: "session-end"})
			if err != nil || got.Project != c.want {
				t.Errorf("%q, %v; want %q", got.Project, err, c.want)
			}
		})
	}
}
