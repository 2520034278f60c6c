package capture_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
)

// A client that was killed tells no end. Its session is found when its file has
// been silent, once, and again only if it went on.
func TestSweep(t *testing.T) {
	now := time.Now()
	r := newRoomAt(t, func() time.Time { return now })
	r.Recorder = capture.New(r.store, r.ingester, r.redactor, capture.Options{MachineID: "box", Idle: 600})
	text := session().user("Fix the tax of the cart.").agent("The tax is rounded per line now.").String()
	start := func(id, text string, silent time.Duration) string {
		t.Helper()
		path := filepath.Join(r.dir, id+".jsonl")
		if text != "" {
			r.file(id+".jsonl", text)
			at := now.Add(-silent)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Started(agent.Default(), agent.Event{SessionID: id, TranscriptPath: path}, "app"); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sweep := func(want int) {
		t.Helper()
		found, err := swept(r.Recorder)
		if err != nil || found != want {
			t.Fatalf("%d sessions found, %v; want %d", found, err, want)
		}
		if d, err := r.Drain(t.Context(), nil); err != nil || len(d.Captured) != want || len(d.Failed) > 0 {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	killed := start("killed", text, time.Hour)
	start("alive", text, time.Minute)
	start("left", "", 0)
	start("trivial", session().user("hello").agent("Hello!").String(), time.Hour)
	r.file("foreign.jsonl", text) // no hook of ours saw it start
	sweep(2)
	sweep(0)

	// A session that was ended properly is not looked at, though its client wrote a
	// last record while it closed.
	ended := start("ended", text, 0)
	r.notice(ended, "ended", "session-end", false)
	if _, err := r.Drain(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	last := now.Add(2 * time.Second)
	if err := os.Chtimes(ended, last, last); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	sweep(1) // "alive" has fallen silent

	// One that goes on after it was taken in is taken in again.
	more := text + session().user("Now the invoice, too.").agent("The invoice is rounded per line as well.").String()
	r.file("killed.jsonl", more)
	at := now.Add(-20 * time.Minute)
	if err := os.Chtimes(killed, at, at); err != nil {
		t.Fatal(err)
	}
	sweep(1)
	sweep(0)

	off := capture.New(r.store, r.ingester, r.redactor, capture.Options{MachineID: "box"})
	start("later", text, time.Hour)
	if found, err := swept(off); err != nil || found != 0 {
		t.Errorf("switched off: %d, %v", found, err)
	}
}

// swept leaves jobs for what was missed among the sessions given and those in the log.
func swept(r *capture.Recorder, given ...capture.Request) (found int, err error) {
	s, err := r.Sweep()
	if s == nil || err != nil {
		return 0, err
	}
	found, _, err = s.Queue(given)
	return found, err
}

// A session that goes on within seconds of its capture, and is killed then, is captured
// again; the last records of a client that closes are none of it. The same session, given
// twice, is captured once.
func TestSweepReads(t *testing.T) {
	now := time.Now()
	r := newRoomAt(t, func() time.Time { return now })
	r.Recorder = capture.New(r.store, r.ingester, r.redactor, capture.Options{MachineID: "box", Idle: 600})
	text := session().user("Fix the tax of the cart.").agent("The tax is rounded per line now.").String()
	file := r.file("s.jsonl", text)
	given := []capture.Request{
		{Harness: agent.Default(), Session: "s", Transcript: file}, {Harness: agent.Default(), Session: "s", Transcript: file},
	}
	queue := func(want int, settled bool) {
		t.Helper()
		s, err := r.Sweep()
		if err != nil {
			t.Fatal(err)
		}
		found, done, err := s.Queue(given)
		if err != nil || found != want || done[0] != settled {
			t.Fatalf("%d found, settled %v, %v; want %d, %v", found, done, err, want, settled)
		}
	}
	queue(0, false) // it may go on
	now = now.Add(time.Hour)
	queue(1, false)
	queue(0, false) // its job waits
	if d, err := r.Drain(t.Context(), nil); err != nil || len(d.Captured) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	queue(0, true)
	grow := func(text string) {
		r.file("s.jsonl", text)
		at := now.Add(3 * time.Second)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	grow(text + `{"type":"summary","summary":"The tax of the cart","leafUuid":"x"}` + "\n")
	now = now.Add(time.Hour)
	queue(0, true)
	now = now.Add(-time.Hour)
	grow(text + session().user("Now the invoice, too.").agent("The invoice is rounded per line as well.").String())
	now = now.Add(time.Hour)
	queue(1, false)
	if d, err := r.Drain(t.Context(), nil); err != nil || len(d.Captured) != 1 || len(d.Failed) > 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	queue(0, true)
}
