package capture_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"

	"github.com/klauspost/compress/zstd"
)

// compress puts the compressed form of a file in its place, as Codex does.
func compress(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(file+".zst", out.Bytes(), 0o600)
	}
	if err == nil {
		err = os.Remove(file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestCompressedSince holds that a session is captured when Codex compressed its files after a hook named one of
// them, also one of several files, and that the plain file counts where both are there.
func TestCompressedSince(t *testing.T) {
	const thread = "01a0c0de-1111-7aaa-8bbb-000000000001"
	meta := fmt.Sprintf(`{"timestamp":"2026-11-10T10:00:00Z","type":"session_meta","payload":{"id":%q,"cwd":"/src/app","source":"cli"}}`+"\n", thread)
	say := func(role, kind, text string) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-10T10:01:00Z","type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}}`+"\n", role, kind, text)
	}
	talk := func(ask, answer string) string {
		return say("user", "input_text", ask) + say("assistant", "output_text", answer)
	}
	first := meta + talk("Round the tax of each line, half up, in the cart", "The tax is rounded for each line now, half up.")
	second := meta + talk("Now do the same in the invoices of last year", "The invoices of last year are rounded alike.")
	codex := agent.ByName("codex")
	for _, what := range []string{"first", "second", "both", "plain beside it"} {
		t.Run(what, func(t *testing.T) {
			r := newRoom(t)
			dir := filepath.Join(r.dir, "codex", "sessions", "2026", "11", "10")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			one := filepath.Join(dir, "rollout-2026-11-10T10-00-00-"+thread+".jsonl")
			two := filepath.Join(dir, "rollout-2026-11-10T11-00-00-"+thread+"_01a0c0df.jsonl")
			for file, text := range map[string]string{one: first, two: second} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Enqueue(codex, agent.Event{Name: "SessionEnd", SessionID: thread, TranscriptPath: two, Dir: "/src/app"}, "session-end", "app", false); err != nil {
				t.Fatal(err)
			}
			if what != "second" {
				compress(t, one)
			}
			if what != "first" {
				compress(t, two)
			}
			if what == "plain beside it" { // resumed: the plain one goes on
				if err := os.WriteFile(two, []byte(second+talk("And the receipts", "The receipts, too.")), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(one, []byte(first), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d, err := r.Drain(r.Context(), nil)
			if err != nil || len(d.Captured) != 1 || len(d.Failed) > 0 || d.Captured[0].Outcome.Note == nil {
				t.Fatalf("%v: %+v", err, d)
			}
			n := d.Captured[0].Outcome.Note
			if text := n.Title + n.Body; n.Provenance.Session != thread || !strings.Contains(text, "tax of each line") || !strings.Contains(text, "rounded alike") {
				t.Errorf("session %s: %s\n%s", n.Provenance.Session, n.Title, n.Body)
			}
			for _, file := range []string{two, two + ".zst"} {
				c, err := r.Capture(r.Context(), capture.Request{Harness: codex, Transcript: file})
				if err != nil || c.Outcome.Note == nil || c.Outcome.Note.ID != n.ID {
					t.Fatalf("%s: %v, %+v", file, err, c)
				}
				if got := strings.Contains(c.Outcome.Note.Body, "receipts"); got != (what == "plain beside it") {
					t.Errorf("%s: the receipts: %v\n%s", file, got, c.Outcome.Note.Body)
				}
			}
		})
	}
}
