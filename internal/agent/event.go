package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// An Event is what a harness tells a hook. Every field has been checked; what
// was missing or not as it should be is empty.
type Event struct {
	Harness string // Harness.Name
	Name    string // "SessionStart", …, in the harness's own words

	SessionID      string // valid for a file name
	TranscriptPath string // absolute
	Dir            string // absolute

	Source  string // why a session starts: startup, resume, clear, compact
	Reason  string // why it ends: clear, logout, prompt_input_exit, other
	Trigger string // of a compaction: manual, auto

	Prompt     string          // what the user has just typed
	Message    string          // of a notification
	ToolName   string          // of the tool that is about to run or has run
	ToolInput  json.RawMessage // as the tool got it
	ToolResult json.RawMessage // as the tool gave it
	Agent      string          // the kind of sub-agent, if the event is about one
	Nested     bool            // a stop hook has already made the agent go on
}

// ErrNoEvent says that nothing was sent: a hook command was run by hand.
var ErrNoEvent = errors.New("read hook event: nothing on standard input")

// ReadEvent reads one event of h from r, usually standard input.
//
// The event is always usable: with nothing, something else than JSON, or no
// object in r it is empty but for Harness, and the error is there to be logged.
// Of a payload longer than max bytes, or one that had not ended when timeout
// passed, the event has what was complete. Zero means 1 MB and two seconds.
//
// ReadEvent returns as soon as the object is complete, whether or not the
// writer closes its end. After a timeout a goroutine stays behind in r.Read; a
// hook is about to exit anyway.
func ReadEvent(h Harness, r io.Reader, max int64, timeout time.Duration) (Event, error) {
	if max <= 0 {
		max = 1 << 20
	}
	if timeout <= 0 {
		timeout = 2 * time.Second
	}
	payload, cut := readPayload(r, max, timeout)
	payload = trimLine(payload)
	if len(payload) == 0 {
		return Event{Harness: h.Name()}, errors.Join(ErrNoEvent, cut)
	}
	e, err := h.Event(payload)
	e.Harness = h.Name()
	if err != nil && cut == nil {
		return Event{Harness: h.Name()}, fmt.Errorf("read hook event: %w", err)
	}
	if err == nil {
		cut = nil // it was whole after all
	}
	return e, cut
}

// readPayload reads one JSON object. The error says why it stopped before the end.
func readPayload(r io.Reader, max int64, timeout time.Duration) ([]byte, error) {
	type piece struct {
		data []byte
		err  error
	}
	pieces, done := make(chan piece), make(chan struct{})
	defer close(done)
	go func() {
		for {
			buf := make([]byte, 32<<10)
			n, err := r.Read(buf)
			select {
			case pieces <- piece{buf[:n], err}:
			case <-done:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var payload []byte
	for {
		select {
		case <-timer.C:
			return payload, fmt.Errorf("read hook event: no end after %v", timeout)
		case p := <-pieces:
			payload = append(payload, p.data...)
			switch {
			case int64(len(payload)) > max:
				return payload[:max], fmt.Errorf("read hook event: longer than %d bytes", max)
			case errors.Is(p.err, io.EOF):
				return payload, nil
			case p.err != nil:
				return payload, fmt.Errorf("read hook event: %w", p.err)
			case len(p.data) > 0 && bytes.HasSuffix(bytes.TrimSpace(p.data), []byte("}")):
				if object, err := eachMember(payload, func(_, _ []byte) {}); object && err == nil {
					return payload, nil
				}
			}
		}
	}
}
