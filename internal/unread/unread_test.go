package unread_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/learn"
	"anamnesis/internal/store"
	"anamnesis/internal/unread"
)

// A world is a store with a clock that the test moves.
type world struct {
	*testing.T
	store *store.Store
	queue unread.Queue
	now   time.Time
}

func open(t *testing.T) *world {
	w := &world{T: t, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	s, err := store.Open(store.Options{Root: filepath.Join(t.TempDir(), "store"), Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	w.store, w.queue = s, unread.Of(s)
	return w
}

// typed makes turns of texts, a minute apart.
func (w *world) typed(from time.Time, texts ...string) (said []learn.Said) {
	for i, text := range texts {
		at := from.Add(time.Duration(i) * time.Minute)
		said = append(said, learn.Said{Turn: i, At: at, Text: text, Hash: fmt.Sprintf("%d-%s", at.Unix(), text)})
	}
	return said
}

func (w *world) put(session string, ago time.Duration, c unread.Captured, texts ...string) []learn.Said {
	w.Helper()
	started := w.now.Add(-ago)
	if c.Said == nil {
		c.Said = w.typed(started, texts...)
	}
	c.Origin = learn.Origin{Harness: "claude", Session: session, Project: "shop", Started: started}
	c.Ended = started.Add(time.Duration(len(c.Said)) * time.Minute)
	if err := w.queue.Put(c); err != nil {
		w.Fatal(err)
	}
	return c.Said
}

// ask hands out at a start.
func (w *world) ask(client string, change ...func(*unread.Ask)) unread.Handout {
	w.Helper()
	a := unread.Ask{Projects: []string{"shop"}, Client: client, Room: 1200, Most: 2, Start: true, Rest: 10 * time.Minute}
	for _, f := range change {
		f(&a)
	}
	h, err := w.queue.HandOut(a)
	if err != nil {
		w.Fatal(err)
	}
	return h
}

func (w *world) answer(h unread.Handout, empty bool) {
	w.Helper()
	if err := w.queue.Answer(h.ID, unread.Agent, empty); err != nil {
		w.Fatal(err)
	}
}

func (w *world) count() unread.Count {
	w.Helper()
	c, err := w.queue.Count("shop")
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// TestSilenceClosesNothing: what got no answer is handed out again, to one reader at a time, and after three sessions
// that worked and did not answer it waits for the user.
func TestSilenceClosesNothing(t *testing.T) {
	w := open(t)
	w.put("one", 2*time.Hour, unread.Captured{}, "No, we use pnpm here", "thanks", "never commit the key files")
	for i := range 3 {
		h := w.ask(fmt.Sprint("client", i))
		if !strings.Contains(h.Record, "pnpm") || strings.Contains(h.Record, "thanks") || h.Turns != 2 {
			t.Fatalf("start %d: %+v", i, h)
		}
		if other := w.ask("other"); other.ID != "" {
			t.Errorf("start %d: handed out twice: %+v", i, other)
		}
		if again := w.ask(fmt.Sprint("client", i)); again.ID == "" {
			t.Errorf("start %d: after /clear the same session is given nothing", i)
		}
		if err := w.queue.Ended(fmt.Sprint("client", i), true, "shop"); err != nil {
			t.Fatal(err)
		}
	}
	if h := w.ask("client4"); h.ID != "" {
		t.Errorf("a fourth start: %+v", h)
	}
	if c := w.count(); c.Turns != 2 || c.Waiting != 1 {
		t.Errorf("%+v", c)
	}
	if h := w.ask("catching up", func(a *unread.Ask) { a.Start = false }); h.Turns != 2 {
		t.Errorf("asked for: %+v", h)
	}
}

// TestAnswerClosesWhatWasShown: what did not fit stays unread, and so does what is typed later.
func TestAnswerClosesWhatWasShown(t *testing.T) {
	w := open(t)
	long := strings.Repeat("This sentence is one of very many that describe the task. ", 30)
	said := w.put("one", 2*time.Hour, unread.Captured{}, long, "use tabs here", "amounts are integer cents")
	first := w.ask("a", func(a *unread.Ask) { a.Room = 300 })
	if !strings.Contains(first.Record, "tabs") || !strings.Contains(first.Record, "cents") {
		t.Fatalf("what is short comes first: %s", first.Record)
	}
	w.answer(first, false)
	more := append(slices.Clone(said), w.typed(w.now, "and sort the imports")...)
	more[3].Turn = 3
	w.put("one", 2*time.Hour, unread.Captured{Said: more})
	seen := first.Record
	for i := 0; w.count().Turns > 0; i++ {
		h := w.ask("a")
		if h.ID == "" || i > 10 {
			t.Fatalf("not all of it is handed out: %+v", w.count())
		}
		if strings.Contains(h.Record, "use tabs") {
			t.Errorf("handed out twice: %s", h.Record)
		}
		seen += h.Record
		w.answer(h, false)
	}
	if n := strings.Count(seen, "one of very many"); n != 30 {
		t.Errorf("%d of 30 sentences were handed out", n)
	}
	if !strings.Contains(seen, "sort the imports") {
		t.Error("what was typed after a resume is lost")
	}
	if h := w.ask("b"); h.ID != "" {
		t.Errorf("read, and handed out: %+v", h)
	}
}

// TestReadOnce: a session that is captured again, forked or copied is read once.
func TestReadOnce(t *testing.T) {
	w := open(t)
	said := w.typed(w.now.Add(-2*time.Hour), "use tabs here", "amounts are integer cents")
	said[0].Did, said[0].Asked, said[0].Options = "wrote the parser in Rust", "", "Which one? 1. the parser in Rust 2. the lexer"
	w.put("one", 2*time.Hour, unread.Captured{Said: said})
	fork := append(slices.Clone(said[:1]), w.typed(w.now.Add(-time.Hour), "name branches after tickets")...)
	fork[1].Turn = 1
	w.put("fork", 2*time.Hour, unread.Captured{Said: fork})
	h := w.ask("a")
	if strings.Count(h.Record, "use tabs") != 1 || !strings.Contains(h.Record, "branches") || h.Sessions != 2 {
		t.Fatalf("%+v", h)
	}
	w.answer(h, false)
	w.put("one", 2*time.Hour, unread.Captured{Said: said})
	w.put("second-fork", 2*time.Hour, unread.Captured{Said: said})
	if c := w.count(); c.Turns != 0 {
		t.Errorf("unread again: %+v", c)
	}
	files, err := filepath.Glob(filepath.Join(w.store.Root(), "spool", "unread", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if data, err := os.ReadFile(f); err != nil || strings.Contains(string(data), `"text":"a`) || strings.Contains(string(data), "Rust") {
			t.Errorf("%s keeps words that were read: %s, %v", f, data, err)
		}
	}
}

// TestTakenBack: a turn that the user took back is not handed out, and one of which the agent kept something is not either.
func TestTakenBack(t *testing.T) {
	w := open(t)
	said := w.put("one", 2*time.Hour, unread.Captured{}, "use tabs here", "use spaces", "keep the log short")
	w.put("one", 2*time.Hour, unread.Captured{Said: []learn.Said{said[0], said[2]}, Gone: []string{said[1].Hash}, Kept: []int{2}})
	if h := w.ask("a"); strings.Contains(h.Record, "spaces") || strings.Contains(h.Record, "log") || h.Turns != 1 {
		t.Errorf("%+v", h)
	}
}

// TestNotHandedOut: sessions of another agent, of the reader, that are open, and that are old.
func TestNotHandedOut(t *testing.T) {
	w := open(t)
	file := filepath.Join(t.TempDir(), "open.jsonl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	set := func(ago time.Duration) {
		if err := os.Chtimes(file, w.now.Add(-ago), w.now.Add(-ago)); err != nil {
			t.Fatal(err)
		}
	}
	set(time.Minute)
	w.put("one", time.Hour, unread.Captured{Open: true, Transcript: file}, "use tabs here")
	if h := w.ask("a"); h.ID != "" {
		t.Errorf("it is open: %+v", h)
	}
	set(time.Hour)
	if h := w.ask("a", func(a *unread.Ask) { a.Agent = "codex" }); h.ID != "" {
		t.Errorf("another agent's: %+v", h)
	}
	if h := w.ask("one"); h.ID != "" {
		t.Errorf("its own: %+v", h)
	}
	if h := w.ask("a", func(a *unread.Ask) { a.Safe = func(string) bool { return false } }); h.Turns != 1 {
		t.Errorf("%+v", h)
	}
	w.put("old", 15*24*time.Hour, unread.Captured{}, "name branches after tickets")
	if h := w.ask("a"); strings.Contains(h.Record, "branches") || h.Older != 1 {
		t.Errorf("%+v", h)
	}
}

// TestEmptyAnswer: an answer without an item can be read once more, not before a week later, and not a third time.
func TestEmptyAnswer(t *testing.T) {
	w := open(t)
	w.put("one", time.Hour, unread.Captured{}, "use tabs here")
	w.answer(w.ask("a"), true)
	if h := w.ask("b"); h.ID != "" {
		t.Errorf("at once: %+v", h)
	}
	w.now = w.now.Add(8 * 24 * time.Hour)
	h := w.ask("c")
	if !strings.Contains(h.Record, "tabs") {
		t.Fatalf("a week later: %+v", h)
	}
	w.answer(h, true)
	w.now = w.now.Add(8 * 24 * time.Hour)
	if h := w.ask("d"); h.ID != "" {
		t.Errorf("a third time: %+v", h)
	}
}

// TestErase: words that the user forgets are gone, and a later capture does not bring them back.
func TestErase(t *testing.T) {
	w := open(t)
	said := w.put("one", time.Hour, unread.Captured{}, "use tabs here", "my password is in the vault")
	n, err := w.queue.Erase(func(_ *unread.Session, x *unread.Turn) bool { return strings.Contains(x.Text, "vault") }, nil)
	if n != 1 || err != nil {
		t.Fatal(n, err)
	}
	w.put("one", time.Hour, unread.Captured{Said: said})
	if h := w.ask("a"); strings.Contains(h.Record, "vault") || h.Turns != 1 {
		t.Errorf("%+v", h)
	}
}

// TestDamagedFile: a file that cannot be read costs its session alone, and a capture makes it again.
func TestDamagedFile(t *testing.T) {
	w := open(t)
	said := w.put("one", time.Hour, unread.Captured{}, "use tabs here")
	w.put("two", 3*time.Hour, unread.Captured{}, "name branches after tickets")
	files, _ := filepath.Glob(filepath.Join(w.store.Root(), "spool", "unread", "*", "*"))
	slices.Sort(files)
	if err := os.WriteFile(files[len(files)-1], []byte(`{"v":1,"turns":[{"te`), 0o600); err != nil {
		t.Fatal(err)
	}
	if h := w.ask("a"); h.Turns != 1 || !strings.Contains(h.Record, "branches") {
		t.Errorf("%+v", h)
	}
	w.put("one", time.Hour, unread.Captured{Said: said})
	if h := w.ask("a"); !strings.Contains(h.Record, "tabs") {
		t.Errorf("%+v", h)
	}
}

// TestLateAnswer: a session that ended and is resumed may still answer, until another reader was given the same.
func TestLateAnswer(t *testing.T) {
	w := open(t)
	w.put("one", time.Hour, unread.Captured{}, "use tabs here")
	h := w.ask("a")
	if err := w.queue.Ended("a", false, "shop"); err != nil {
		t.Fatal(err)
	}
	if all, err := w.queue.Leased(h.ID); err != nil || len(all) != 1 || all[0].Missed != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	other := w.ask("b")
	if all, err := w.queue.Leased(h.ID); err != nil || len(all) != 0 || other.ID == "" {
		t.Errorf("%+v, %v; %+v", all, err, other)
	}
	w.answer(h, false)
	if c := w.count(); c.Turns != 1 {
		t.Errorf("an answer for what another reader has closed it: %+v", c)
	}
}

// TestOtherProject: a session whose project has another key when it is captured again is read once.
func TestOtherProject(t *testing.T) {
	w := open(t)
	said := w.put("one", time.Hour, unread.Captured{}, "use tabs here")
	w.answer(w.ask("a"), false)
	started := w.now.Add(-time.Hour)
	err := w.queue.Put(unread.Captured{
		Origin: learn.Origin{Harness: "claude", Session: "one", Project: "github.com/ada/shop", Started: started}, Ended: w.now, Said: said,
	})
	if err != nil {
		t.Fatal(err)
	}
	if h := w.ask("b", func(a *unread.Ask) { a.Projects = []string{"shop", "github.com/ada/shop"} }); h.ID != "" {
		t.Errorf("%+v", h)
	}
}
