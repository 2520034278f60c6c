package capture

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
)

// A session that is resumed has shown an end before. What it said then is waited for.
func TestAwaitEndOfResumed(t *testing.T) {
	var h *agent.Harness
	for _, a := range agent.All {
		if a.Sessions != nil && late(a) && !a.Sessions.(agent.LateWriter).Ended(nil) {
			h = a
		}
	}
	if h == nil {
		t.Skip("no agent tells its end in its records")
	}
	const end = `{"type":"session.shutdown","data":{}}` + "\n"
	name := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(name, []byte(`{"type":"user.message","data":{}}`+"\n"+end), 0o600); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	j := Job{Source: note.SessionEnd, Transcript: name, Seen: fi.Size()}
	came := make(chan struct{})
	go func() {
		awaitEnd(t.Context(), h, j)
		close(came)
	}()
	select {
	case <-came:
		t.Fatal("the end of an earlier run was taken for the one of this run")
	case <-time.After(4 * lateStep):
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"type":"session.resume","data":{}}` + "\n" + `{"type":"user.message","data":{}}` + "\n" + end); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-came:
	case <-time.After(time.Minute): // it gives up before that
		t.Fatal("it waits for ever")
	}
}
