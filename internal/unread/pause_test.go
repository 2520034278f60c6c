package unread_test

import (
	"fmt"
	"testing"
	"time"

	"anamnesis/internal/store/layout"
	"anamnesis/internal/unread"
)

// TestPause: ten sessions in a row that are shown a record, work and do not answer end the handing out at starts, which the user
// hears once. An answer, or a new choice of the user, begins it again.
func TestPause(t *testing.T) {
	w := open(t)
	paused := func(want bool) {
		t.Helper()
		if got, err := w.queue.Paused(); got != want || err != nil {
			t.Fatalf("paused: %v (%v), want %v", got, err, want)
		}
	}
	silent := func(from, to int, worked bool) {
		t.Helper()
		for i := from; i < to; i++ {
			w.now = w.now.Add(time.Minute)
			w.put(fmt.Sprintf("typed-%d", i), time.Hour, unread.Captured{}, fmt.Sprintf("use tabs in file %d", i))
			client := fmt.Sprintf("client-%d", i)
			if w.ask(client).ID == "" {
				t.Fatalf("session %d is handed nothing", i)
			}
			if err := w.queue.Ended(client, worked, "shop"); err != nil {
				t.Fatal(err)
			}
		}
	}
	silent(0, 9, true)
	silent(9, 12, false) // they did not work
	paused(false)
	w.put("answered", 30*time.Minute, unread.Captured{}, "use spaces")
	w.answer(w.ask("answers"), false)
	silent(12, 21, true)
	paused(false)
	silent(21, 22, true)
	paused(true)

	say := func(want bool) {
		t.Helper()
		if got, err := w.queue.Say(unread.SayingPaused); got != want || err != nil {
			t.Fatalf("said: %v (%v), want %v", got, err, want)
		}
	}
	say(true)
	say(false)
	if err := w.queue.Resume(); err != nil {
		t.Fatal(err)
	}
	paused(false)
	say(true)

	// A damaged state pauses nothing for good.
	if err := w.store.Spool().Write(layout.Unread+"/state.json", []byte("{"), false); err != nil {
		t.Fatal(err)
	}
	if err := w.queue.Resume(); err != nil {
		t.Fatal(err)
	}
	paused(false)
}
