// Package agenttest is the contract of the interfaces of package agent as a test
// suite. What a harness lacks is not tested.
//
// A harness keeps its fixtures in one folder, written by us in the exact shape
// of real ones: sessions (any files; of a database its statements, .sql), events/ (one payload a file)
// and memories/ (below it as below its home folder). Its own test is ten lines:
//
//	func TestHarnesses(t *testing.T) {
//		for _, h := range agent.All {
//			t.Run(h.Name, func(t *testing.T) {
//				agenttest.Run(t, h, filepath.Join("testdata", h.Name))
//			})
//		}
//	}
package agenttest

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"anamnesis/internal/agent"
)

// Run checks h against the contract with the fixtures in dir.
func Run(t *testing.T, h *agent.Harness, dir string) {
	t.Helper()
	if agent.ByName(h.Name) != h {
		t.Errorf("agent.ByName(%q) does not find this harness", h.Name)
	}
	if got, below := agent.ByPath("/home/x/" + h.Folder + "/a/b"); got != h || below != "a/b" {
		t.Errorf("a file in %s belongs to %v, %q", h.Folder, got, below)
	}
	if h.Sessions != nil {
		t.Run("session files", func(t *testing.T) { patterns(t, h.Sessions.SessionFiles()) })
		t.Run("sessions", func(t *testing.T) {
			each(t, dir, func(t *testing.T, file string, data []byte) {
				if strings.HasSuffix(file, ".sql") {
					file, data = database(t, data), nil
				}
				for _, records := range stored(t, h.Sessions, file, data) {
					session(t, h.Sessions, records)
				}
			})
		})
	}
	if h.Hooks != nil {
		t.Run("events", func(t *testing.T) {
			each(t, filepath.Join(dir, "events"), func(t *testing.T, _ string, data []byte) { event(t, h, data) })
		})
		t.Run("hostile events", func(t *testing.T) {
			each(t, filepath.Join(dir, "events"), func(t *testing.T, _ string, data []byte) { hostile(t, h, data) })
		})
		t.Run("no event", func(t *testing.T) { noEvent(t, h) })
	}
	if h.Memory != nil {
		t.Run("memories", func(t *testing.T) { memories(t, h.Memory) })
	}
}

// patterns checks patterns of files below a home folder.
func patterns(t *testing.T, all []string) {
	if len(all) == 0 {
		t.Error("there are no files")
	}
	for _, p := range all {
		if _, err := path.Match(p, ""); err != nil || path.IsAbs(p) || path.Clean(p) != p || strings.HasPrefix(p, "..") {
			t.Errorf("pattern %q: %v; it has slashes and leads below the home folder", p, err)
		}
	}
}

// memories checks that whatever stands in a file, a reader gives memories with a
// key, a title and a body, or an error.
func memories(t *testing.T, r agent.MemoryReader) {
	patterns(t, r.MemoryFiles())
	for _, pattern := range r.MemoryFiles() {
		name := strings.ReplaceAll(pattern, "*", "x")
		for _, text := range []string{"", "\x00", "# A\n\nb\n", "---\nname: a\n---\nb\n", "---\nname: a\n", "## A\n" + agent.InjectStart + "x"} {
			all, err := r.ReadMemory(name, []byte(text))
			if err == nil && len(all) == 0 || err != nil && !errors.Is(err, agent.ErrNoMemory) {
				t.Errorf("ReadMemory(%s, %q) gives %d memories, error %v", name, text, len(all), err)
			}
			for _, m := range all {
				if m.Key == "" || m.Title == "" || m.Body == "" || strings.Contains(m.Body, agent.InjectStart) {
					t.Errorf("ReadMemory(%s, %q) = %+v", name, text, m)
				}
			}
		}
	}
}

// database makes a database of its statements.
func database(t *testing.T, statements []byte) (file string) {
	file = filepath.Join(t.TempDir(), "sessions.db")
	db, err := sql.Open("sqlite", file)
	if err == nil {
		_, err = db.ExecContext(t.Context(), string(statements))
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// stored checks that the sessions in a file are those that its records tell, and returns
// the records of each.
func stored(t *testing.T, source agent.SessionSource, file string, data []byte) (all [][]byte) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ids, err := source.SessionsIn(file, f)
	if err != nil {
		t.Fatalf("SessionsIn: %v", err)
	}
	for _, id := range ids {
		records, err := source.Open(f, id)
		if err != nil {
			t.Fatalf("Open(%q): %v", id, err)
		}
		s, err := source.ReadSession(records, agent.Limits{})
		if err != nil || s.ID == "" || s.Next != records.Size() {
			t.Errorf("session %q: %v, id %q, read up to %d of %d", id, err, s.ID, s.Next, records.Size())
		}
		if id == "" && records.Size() != int64(len(data)) {
			t.Errorf("a file of %d bytes has records of %d", len(data), records.Size())
		}
		if id != "" && s.ID != id {
			t.Errorf("session %q says that it is %q", id, s.ID)
		}
		text := make([]byte, records.Size())
		if _, err := records.ReadAt(text, 0); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		t.Errorf("%s holds no session", file)
	}
	return all
}

// each runs f on every file of a folder, of which there must be one.
func each(t *testing.T, dir string, f func(t *testing.T, file string, data []byte)) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		files++
		t.Run(e.Name(), func(t *testing.T) {
			file := filepath.Join(dir, e.Name())
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f(t, file, data)
		})
	}
	if files == 0 {
		t.Fatalf("no fixtures in %s", dir)
	}
}

var sessionFields = cmp.Options{cmpopts.IgnoreUnexported(agent.Session{}), cmpopts.EquateEmpty()}

func session(t *testing.T, h agent.SessionSource, data []byte) {
	want, err := h.ReadSession(bytes.NewReader(data), agent.Limits{})
	if err != nil {
		t.Fatalf("ReadSession: %v", err)
	}
	if !agent.ValidID(want.ID) || want.Started.IsZero() || want.Dir == "" {
		t.Errorf("session %q in %q at %v: want an id, a folder and a time", want.ID, want.Dir, want.Started)
	}
	if want.Next != int64(len(data)) {
		t.Errorf("Next = %d, want the end of the file, %d", want.Next, len(data))
	}
	for i, turn := range want.Turns {
		for _, s := range append([]string{turn.Text}, results(turn)...) {
			if strings.Contains(s, agent.InjectStart) || strings.Contains(s, agent.InjectEnd) {
				t.Errorf("turn %d: our own block is in %q", i, s)
			}
		}
		if i > 0 && turn.Offset < want.Turns[i-1].Offset {
			t.Errorf("turn %d stands before the turn before it", i)
		}
		spans(t, i, turn)
	}

	// The way the bytes arrive does not matter.
	got, err := h.ReadSession(iotest.OneByteReader(bytes.NewReader(data)), agent.Limits{})
	if diff := cmp.Diff(want, got, sessionFields); err != nil || diff != "" {
		t.Errorf("byte by byte: %v\n%s", err, diff)
	}
	// A failed read gives what came before it.
	got, err = h.ReadSession(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(errors.New("disk"))), agent.Limits{})
	if diff := cmp.Diff(want, got, sessionFields); err == nil || diff != "" {
		t.Errorf("with a read error: %v\n%s", err, diff)
	}
	// A record that is still being written changes nothing.
	got, err = h.ReadSession(bytes.NewReader(append(bytes.Clone(data), `{"type":"us`...)), agent.Limits{})
	ignore := cmpopts.IgnoreFields(agent.Session{}, "Skipped")
	if diff := cmp.Diff(want, got, sessionFields, ignore); err != nil || diff != "" {
		t.Errorf("with a half-written record: %v\n%s", err, diff)
	}

	peeked, err := h.Peek(bytes.NewReader(data), int64(len(data)), 0, 0, time.Time{})
	if err != nil {
		t.Fatalf("Peek: %v", err)
	}
	if !peeked.Complete {
		t.Errorf("Peek at %d bytes is not complete", len(data))
	}
	if diff := cmp.Diff(PeekResult(want), peeked, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Peek sees something else than ReadSession (-read +peek):\n%s", diff)
	}
	peeked, err = h.Peek(bytes.NewReader(data), int64(len(data)), 0, 0, time.Now().Add(-time.Second))
	if err != nil || !peeked.Late || peeked.Complete {
		t.Errorf("Peek after its deadline: %v, %+v", err, peeked)
	}
}

// PeekResult is what a complete peek at s must see.
func PeekResult(s *agent.Session) *agent.PeekResult {
	return &agent.PeekResult{
		ID: s.ID, Dir: s.Dir, Branch: s.Branch, Version: s.Version, Title: s.Title, Headless: s.Headless, Failed: s.Failed, Named: s.Named,
		Started: s.Started, Ended: s.Ended,
		FirstPrompt: s.FirstPrompt(), FilesTouched: s.FilesTouched(),
		Dialogue: s.Dialogue(), Complete: true,
	}
}

func results(t agent.Turn) (out []string) {
	for _, u := range t.Tools {
		out = append(out, u.Result, string(u.Input))
	}
	return out
}

func event(t *testing.T, h *agent.Harness, data []byte) {
	// The writer keeps its end open, as a harness may: the event must come anyway.
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	go func() { _, _ = w.Write(data) }()
	e, err := agent.ReadEvent(h, r, 0, time.Minute)
	if err != nil {
		t.Fatalf("ReadEvent: %v", err)
	}
	if e.Harness != h.Name || e.Name == "" || e.SessionID == "" || e.TranscriptPath == "" && h.Transcript == nil || e.Dir == "" {
		t.Errorf("incomplete event: %+v", e)
	}
	for _, other := range agent.All {
		if other != h && other.Hooks != nil && other.Hooks.Recognises(agent.NewPayload(data)) {
			t.Errorf("%s takes the payload for its own", other.Name)
		}
	}
	more := append([]byte(`{"zz_unknown":{"deep":[1,null]},"":"x",`), bytes.TrimPrefix(bytes.TrimSpace(data), []byte("{"))...)
	if same, err := agent.ReadEvent(h, bytes.NewReader(more), 0, 0); err != nil {
		t.Errorf("with members that nobody knows: %v", err)
	} else if diff := cmp.Diff(e, same); diff != "" {
		t.Errorf("with members that nobody knows (-without +with):\n%s", diff)
	}
	replies(t, h, e)
	if kind, ok := h.Hooks.Kind(e.Name); !ok || kind == "" {
		t.Errorf("Kind does not know %q", e.Name)
	}
	if !h.Hooks.Recognises(agent.NewPayload(data)) {
		t.Error("the agent does not recognise its own payload")
	}
	if got := h.Hooks.Reply(e, " \n"); len(got) != 0 {
		t.Errorf("reply without a text is %q, want zero bytes", got)
	}
	if got := h.Hooks.Reply(e, "say <this> & \"that\""); len(got) > 0 && got[len(got)-1] != '\n' {
		t.Errorf("reply %q does not end its line", got)
	}
}

func noEvent(t *testing.T, h *agent.Harness) {
	if kind, ok := h.Hooks.Kind("no-such-event"); ok {
		t.Errorf("Kind takes a name that is none for %q", kind)
	}
	for _, in := range []string{"", " \n", "null", "[]", "42", `"x"`, "{", `{"a":1}}`, "\x00\xff", "hello"} {
		e, err := agent.ReadEvent(h, strings.NewReader(in), 0, 0)
		if diff := cmp.Diff(agent.Event{Harness: h.Name}, e); err == nil || diff != "" {
			t.Errorf("ReadEvent(%q): error %v, want one and an empty event:\n%s", in, err, diff)
		}
	}
	r, w := io.Pipe() // nothing ever comes
	defer func() { _ = w.Close() }()
	if _, err := agent.ReadEvent(h, r, 0, 20*time.Millisecond); err == nil {
		t.Error("ReadEvent from a silent reader: no error")
	}
}
