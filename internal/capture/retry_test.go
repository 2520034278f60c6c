package capture_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/ingest/ingesttest"
	"anamnesis/internal/llm"
	"anamnesis/internal/llm/llmtest"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/store/storetest"
	"anamnesis/internal/store/tombstone"
)

// An outage is a room whose model is down, whose clock is set by hand, and in
// which a session was drained.
type outage struct {
	*room
	model *llmtest.Server
	now   time.Time
	id    note.ID // of the session's note
	file  string  // its transcript
}

func newOutage(t *testing.T) *outage {
	t.Helper()
	o := &outage{now: time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)}
	dir := t.TempDir()
	s, err := store.Open(store.Options{Root: filepath.Join(dir, "store"), Now: func() time.Time { return o.now }})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	red, err := redact.New()
	if err != nil {
		t.Fatal(err)
	}
	o.room = &room{T: t, store: s, dir: dir, redactor: red, ingester: ingest.New(s, index.New(db, s, index.Embedding{}), red, ingest.Options{MachineID: "box"})}
	o.model = o.withModel(summarised)
	o.down()
	o.file = o.room.file("s1.jsonl", user(0, "Fix the tax")+assistant(1, "It is rounded once now."))
	o.notice(o.file, "s1", "session-end", false)
	d := o.drain(0)
	if len(d.Captured) != 1 || d.Captured[0].Fallback == nil {
		t.Fatalf("%+v", d)
	}
	o.id = d.Captured[0].Outcome.Note.ID
	return o
}

func (o *outage) down() { o.model.Always(llmtest.Fails(403, "")) }

func (o *outage) up() {
	o.model.Always(llmtest.Good)
	says(o.model, fine)
}

// drain drains after a time and counts what it asked.
func (o *outage) drain(after time.Duration) capture.Drain {
	o.Helper()
	o.now = o.now.Add(after)
	o.model.Forget()
	d, err := o.Drain(o.Context(), nil)
	if err != nil {
		o.Fatal(err)
	}
	return d
}

func (o *outage) waits() bool {
	o.Helper()
	all, _, err := queue.Of(o.store).Look(queue.Summary)
	if err != nil {
		o.Fatal(err)
	}
	return len(all) > 0
}

// A summary that failed is asked for again, and takes the place of the heuristic.
func TestRetry(t *testing.T) {
	o := newOutage(t)
	o.up()
	if d := o.drain(50 * time.Minute); d.Summarised != 0 || len(o.model.Received()) != 0 {
		t.Errorf("before its time: %+v", d)
	}
	if d := o.drain(15 * time.Minute); d.Summarised != 1 || len(d.Captured) != 0 {
		t.Errorf("%+v", d)
	}
	n := o.note(o.id)
	if n.Title != "Taxes are rounded once" || n.Provenance.Model != "local/m" || n.ImportHash != ingest.SummaryHash(n.Title, n.Body) {
		t.Errorf("%+v", n)
	}
	if revs, _ := o.store.History(o.id); len(revs) != 1 {
		t.Errorf("what the heuristic wrote is not in the history: %+v", revs)
	}
	if d := o.drain(48 * time.Hour); o.waits() || d.Summarised != 0 || len(o.model.Received()) != 0 {
		t.Errorf("asked once more: %+v", d)
	}
}

// Three times, with longer and longer breaks, and no more.
func TestRetryEnds(t *testing.T) {
	o := newOutage(t)
	for i, after := range []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour} {
		if o.drain(after - time.Minute); len(o.model.Received()) != 0 {
			t.Errorf("try %d: too early", i+1)
		}
		if o.drain(time.Minute); len(o.model.Received()) == 0 {
			t.Errorf("try %d was not made", i+1)
		}
	}
	o.up()
	if d := o.drain(100 * time.Hour); o.waits() || d.Summarised != 0 || len(o.model.Received()) != 0 {
		t.Errorf("a fourth try: %+v", d)
	}
	if n := o.note(o.id); n.Title != "Fix the tax" {
		t.Errorf("%+v", n)
	}
}

// What was touched, or is gone, stays as it is, and nobody is asked.
func TestRetryLeavesAlone(t *testing.T) {
	put := func(o *outage, change func(*note.Note)) {
		n := o.note(o.id)
		change(n)
		ref, _ := o.store.Find(o.id)
		if _, _, err := storetest.Put(o.store, n, ref, store.Update); err != nil {
			o.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		do   func(*outage)
	}{
		{"edited", func(o *outage) { put(o, func(n *note.Note) { n.Body = "What really happened." }) }},
		{"with another title", func(o *outage) { put(o, func(n *note.Note) { n.Title = "Tax" }) }},
		{"summarised meanwhile", func(o *outage) { put(o, func(n *note.Note) { n.Provenance.Model = "other/m" }) }},
		{"distilled", func(o *outage) { put(o, func(n *note.Note) { n.AddTags("reflected") }) }},
		{"archived", func(o *outage) { put(o, func(n *note.Note) { n.Status = "archived" }) }},
		{"in quarantine", func(o *outage) { put(o, func(n *note.Note) { n.Quarantine = true }) }},
		{"deleted", func(o *outage) {
			ref, _ := o.store.Find(o.id)
			if err := os.Remove(o.store.Path(ref.Path)); err != nil {
				o.Fatal(err)
			}
		}},
		{"forgotten", func(o *outage) {
			if _, err := tombstone.Forget(storetest.Writer(o.store), o.id); err != nil {
				o.Fatal(err)
			}
			if o.waits() {
				o.Error("the retry of a forgotten note is still there")
			}
		}},
		{"without a transcript", func(o *outage) {
			if err := os.Remove(o.file); err != nil {
				o.Fatal(err)
			}
		}},
		{"with a transcript that is a folder", func(o *outage) {
			_ = os.Remove(o.file)
			if err := os.Mkdir(o.file, 0o700); err != nil {
				o.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOutage(t)
			o.T = t
			o.up()
			c.do(o)
			before := ""
			if ref, err := o.store.Find(o.id); err == nil {
				data, _ := os.ReadFile(o.store.Path(ref.Path))
				before = string(data)
			}
			if d := o.drain(2 * time.Hour); d.Summarised != 0 || len(o.model.Received()) != 0 || o.waits() {
				t.Errorf("%+v, asked %d times", d, len(o.model.Received()))
			}
			after := ""
			if ref, err := o.store.Find(o.id); err == nil {
				data, _ := os.ReadFile(o.store.Path(ref.Path))
				after = string(data)
			}
			if after != before {
				t.Errorf("it became\n%s", after)
			}
		})
	}
}

// Somebody edits the note while the model thinks.
func TestRetryRace(t *testing.T) {
	o := newOutage(t)
	o.up()
	o.model.Answer = func(string, string) string {
		n := o.note(o.id)
		n.Body = "What really happened."
		ref, _ := o.store.Find(o.id)
		if _, _, err := storetest.Put(o.store, n, ref, store.Update); err != nil {
			t.Error(err)
		}
		return fine
	}
	if d := o.drain(2 * time.Hour); d.Summarised != 0 || o.waits() {
		t.Errorf("%+v", d)
	}
	if n := o.note(o.id); n.Body != "What really happened." || n.Provenance.Model != "" {
		t.Errorf("%+v", n)
	}
	if said := o.lastCaptured(); !strings.Contains(said, "too late") {
		t.Errorf("the log says %q", said)
	}
}

// Somebody archives the note while the model thinks.
func TestRetryRaceArchived(t *testing.T) {
	o := newOutage(t)
	o.up()
	o.model.Answer = func(string, string) string {
		if _, _, err := ingesttest.Archive(o.store, o.id, "old"); err != nil {
			t.Error(err)
		}
		return fine
	}
	if d := o.drain(2 * time.Hour); d.Summarised != 0 || o.waits() {
		t.Errorf("%+v", d)
	}
	if n := o.note(o.id); n.Title != "Fix the tax" || n.Status != "archived" {
		t.Errorf("%+v", n)
	}
}

// lastCaptured returns what the event log says of the last try.
func (o *outage) lastCaptured() (said string) {
	o.Helper()
	files, err := o.store.Events().Files()
	if err != nil {
		o.Fatal(err)
	}
	for _, f := range files {
		if _, err := o.store.Events().Records(f, 0, func(r store.Record) {
			if r.Kind == store.Captured {
				said = r.Text + r.Error
			}
		}); err != nil {
			o.Fatal(err)
		}
	}
	return said
}

// stingy is a model with a budget that may be spent.
type stingy struct {
	llm.Generator
	spent bool
}

func (s *stingy) Generate(ctx context.Context, p llm.Prompt) (string, error) {
	if s.spent {
		return "", fmt.Errorf("ask local/m: %w: 5 of 5 answers", llm.ErrSpent)
	}
	return s.Generator.Generate(ctx, p)
}

// A try that the daily budget refuses is none: the next day the model is asked.
func TestRetryBudget(t *testing.T) {
	o := newOutage(t) // at noon
	g, err := llm.NewGenerator(llm.GeneratorOptions{Provider: llm.Local, URL: o.model.URL, Model: "m", Timeout: 120}, llm.Network{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &stingy{Generator: g, spent: true}
	o.Recorder = o.WithModel(s)
	o.up()
	for day := range 5 { // more days than tries
		o.drain(time.Hour)
		all, _, err := queue.Of(o.store).Look(queue.Summary)
		if err != nil || len(all) != 1 || all[0].Attempts != 0 || !all[0].Due().Equal(time.Date(2026, 5, 3+day, 0, 0, 0, 0, time.UTC)) {
			t.Fatalf("day %d: %+v %v", day, all, err)
		}
		o.now = o.now.Add(23 * time.Hour)
	}
	s.spent = false
	if d := o.drain(time.Hour); d.Summarised != 1 || o.waits() {
		t.Errorf("%+v", d)
	}
}

// slow is a model whose answers come later.
type slow struct{ answered llm.Generator }

func (s *slow) Name() string { return "files/m" }

func (s *slow) Generate(ctx context.Context, p llm.Prompt) (string, error) {
	if s.answered == nil {
		return "", fmt.Errorf("ask files/m: %w", llm.ErrPending)
	}
	return s.answered.Generate(ctx, p)
}

// An answer that is not there yet is no try, and is looked for again soon.
func TestRetryPending(t *testing.T) {
	o := newOutage(t)
	g, err := llm.NewGenerator(llm.GeneratorOptions{Provider: llm.Local, URL: o.model.URL, Model: "m", Timeout: 120}, llm.Network{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &slow{}
	o.Recorder = o.WithModel(s)
	o.up()
	o.now = o.now.Add(2 * time.Hour)
	for range 2 * 4 { // more often than there are tries
		o.drain(time.Hour)
		all, _, err := queue.Of(o.store).Look(queue.Summary)
		if err != nil || len(all) != 1 || all[0].Attempts != 0 || !all[0].Due().Equal(o.now.Add(10*time.Minute)) {
			t.Fatalf("%v: %+v %v", o.now, all, err)
		}
		o.now = o.now.Add(11 * time.Minute)
	}
	s.answered = g
	if d := o.drain(time.Hour); d.Summarised != 1 || o.waits() {
		t.Errorf("%+v", d)
	}
}

// Whoever captures a session when nothing is left of the budget waits for the
// next day, and what is captured by hand is asked for again as well.
func TestRetryOfAHand(t *testing.T) {
	o := newOutage(t)
	o.up()
	o.drain(2 * time.Hour)
	g, err := llm.NewGenerator(llm.GeneratorOptions{Provider: llm.Local, URL: o.model.URL, Model: "m", Timeout: 120}, llm.Network{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &stingy{Generator: g, spent: true}
	o.Recorder = o.WithModel(s)
	text := strings.ReplaceAll(user(0, "Fix the fee")+assistant(1, "It is rounded once now."), `"s1"`, `"s2"`)
	c, err := o.Capture(t.Context(), capture.Request{Harness: agent.Default(), Transcript: o.room.file("s2.jsonl", text), Source: "session-end", Project: "app"})
	if err != nil || c.Fallback == nil {
		t.Fatalf("%+v %v", c, err)
	}
	all, _, err := queue.Of(o.store).Look(queue.Summary)
	if err != nil || len(all) != 1 || all[0].ID != c.Outcome.Note.ID || !all[0].Due().Equal(time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)) {
		t.Fatalf("%+v %v", all, err)
	}
	s.spent = false
	if d := o.drain(24 * time.Hour); d.Summarised != 1 || o.note(c.Outcome.Note.ID).Title != "Taxes are rounded once" {
		t.Errorf("%+v", d)
	}
}

// An old session does not become the newest because its summary came late, and
// what was distilled while the model thought stays marked as distilled.
func TestRetryIsNoEdit(t *testing.T) {
	o := newOutage(t)
	before := o.note(o.id)
	o.up()
	o.model.Answer = func(string, string) string {
		n := o.note(o.id)
		n.AddTags("reflected")
		ref, _ := o.store.Find(o.id)
		if _, _, err := storetest.Put(o.store, n, ref, store.Update); err != nil {
			t.Error(err)
		}
		return fine
	}
	o.drain(2 * time.Hour)
	if n := o.note(o.id); n.Title != "Taxes are rounded once" || n.UpdatedAt != before.UpdatedAt || !n.HasTag("reflected") {
		t.Errorf("%s %v, before %s", n.UpdatedAt, n.Tags, before.UpdatedAt)
	}
}

// A model that would not keep the session takes nothing away.
func TestRetryDeclined(t *testing.T) {
	o := newOutage(t)
	o.up()
	says(o.model, `{"skip": true}`)
	if d := o.drain(2 * time.Hour); d.Summarised != 0 || o.waits() || o.note(o.id).Title != "Fix the tax" {
		t.Errorf("%+v", d)
	}
}

// Without a model nobody asks, and no try is used up. What waits too long goes.
func TestRetryWithoutModel(t *testing.T) {
	o := newOutage(t)
	with := o.Recorder
	o.Recorder = capture.New(o.store, o.ingester, o.redactor, summarised)
	for range 5 {
		o.drain(25 * time.Hour)
	}
	o.Recorder = with
	o.up()
	if d := o.drain(0); d.Summarised != 1 {
		t.Errorf("%+v", d)
	}
	o = newOutage(t)
	o.Recorder = capture.New(o.store, o.ingester, o.redactor, summarised)
	if o.drain(40 * 24 * time.Hour); o.waits() {
		t.Error("it waits for ever")
	}
}

// A model that is down is asked about one of many sessions, and then left alone.
func TestRetryStops(t *testing.T) {
	o := newOutage(t)
	for _, id := range []string{"s2", "s3", "s4"} {
		text := strings.ReplaceAll(user(0, "Fix the "+id)+assistant(1, "It is rounded once now."), `"s1"`, `"`+id+`"`)
		o.notice(o.room.file(id+".jsonl", text), id, "session-end", false)
	}
	o.drain(0)
	o.drain(2 * time.Hour)
	asked := len(o.model.Received())
	o.up()
	if d := o.drain(0); asked == 0 || asked > 2 || d.Summarised != 3 {
		t.Errorf("asked %d times; then %+v", asked, d)
	}
}

// Nothing that stands in the folder stops a drain.
func TestRetryHostile(t *testing.T) {
	o := newOutage(t)
	due := `"due":"2026-05-02T12:00:00Z"`
	for name, text := range map[string]string{
		"a.json": "{", "b.json": `{"v":1,"id":"other",` + due + `}`, "c.json": `{"v":1,"id":"c","tries":-9,` + due + `}`,
		"d.json": `{"v":1,"id":"d","tries":0,` + due + `,"job":{"harness":"nobody"}}`, "e.json": strings.Repeat("x", 20<<10), "f.txt": "",
		"g.json": `{"v":1,"id":"g","due":"never"}`,
	} {
		if err := os.WriteFile(o.store.Path("spool/retry/"+name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.up()
	if d := o.drain(2 * time.Hour); d.Summarised != 1 || len(d.Failed) != 0 {
		t.Errorf("%+v", d)
	}
	_, err := o.ingester.Summarise(t.Context(), o.id, "stale", ingest.Summary{Title: "t", Body: "b", Model: "m"})
	if !errors.Is(err, ingest.ErrChanged) {
		t.Error(err)
	}
}
