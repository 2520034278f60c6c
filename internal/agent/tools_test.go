package agent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
)

// printed prints the turns of a session, a line each.
func printed(s *agent.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q %s\n", s.ID, s.Title, s.Started.Format("2006-01-02 15:04:05"))
	for _, turn := range s.Turns {
		fmt.Fprintf(&b, "%s %q\n", turn.Role, turn.Text)
		for _, u := range turn.Tools {
			fmt.Fprintf(&b, "  %s %s %s => %q\n", u.Name, u.Input, u.Path, u.Result)
		}
	}
	return b.String()
}

// What tools keep in projects is read as sessions.
func TestInProjects(t *testing.T) {
	for _, c := range []struct{ tool, file, want string }{
		{"aider", "chats.md", `20260203T101500-3e77a698 "" 2026-02-03 10:15:00
user "the total of an empty cart is NaN; make it zero\nand add a test"
assistant "The sum starts from undefined. I will start it from 0.\n\n#### Why this happens\n\nThe reducer has no first value.\n\nsrc/cart.js\n` + "```javascript\\n```" + `"
  Edit {"file_path":"src/cart.js"} src/cart.js => ""
  Bash {"command":"git commit"}  => "[aider 3fa9c21] fix: total of an empty cart is zero"
  Bash {"command":"npm test"}  => ""
user "/run npm test"
20260205T090000-a0d46891 "" 2026-02-05 09:00:00
user "which port does the preview server use?"
assistant "It listens on 4173, as vite.config.js says."
`},
		{"specstory", "2026-03-01_09-00-00Z-invoice-mail.md", `7d0c5a1e-3b52-4f7e-9a0b-6d2f1c3e4b5a "" 2026-03-01 09:00:00
user "the invoice mail is sent twice after a retry\n\n` + "```\\n_**User**_\\na quoted line\\n```" + `"
assistant "The worker never acknowledges the job."
assistant ""
  Bash {"command":"go test ./queue"}  => "--- FAIL: TestRetry (0.00s)\n    queue_test.go:12: got 2 mails, want 1\nFAIL"
assistant ""
  Edit {"file_path":"/src/storefront/worker.go"} /src/storefront/worker.go => ""
assistant ""
  Bash {"command":"cd /src/storefront\ngo test ./queue"}  => "ok  \tqueue\t0.1s"
assistant "Fixed by acknowledging the job before the mail is sent."
user "thanks"
`},
		{"specstory", "2026-02-01_18-30Z-theme.md", `198f0000-1111-4222-8333-444455556666 "Colours of the theme" 2026-02-01 18:30:00
user "rename the theme colours"
assistant "I look for them first."
  Bash {"command":"cd /src/storefront && npm run lint"}  => "1 problem (1 error, 0 warnings)"
  Edit {"file_path":"/src/storefront/theme.css"} /src/storefront/theme.css => ""
  Edit {"file_path":"/src/storefront/a&b.css"} /src/storefront/a&b.css => ""
assistant "The variables are renamed."
`},
	} {
		t.Run(c.file, func(t *testing.T) {
			h := agent.ByName(c.tool)
			f, err := os.Open(filepath.Join("testdata", c.tool, c.file))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			ids, err := h.Sessions.SessionsIn(c.file, f)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, id := range ids {
				records, err := h.Sessions.Open(f, id)
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(records)
				if err != nil {
					t.Fatal(err)
				}
				s := arrives(t, h.Sessions, data)
				if got += printed(s); id != "" && s.ID != id {
					t.Errorf("session %q says that it is %q", id, s.ID)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// arrives reads records whole, byte by byte, with an error behind them and as a peek: they are the same.
func arrives(t *testing.T, source agent.SessionSource, data []byte) *agent.Session {
	t.Helper()
	fields := cmp.Options{cmpopts.IgnoreUnexported(agent.Session{}), cmpopts.EquateEmpty()}
	want, err := source.ReadSession(bytes.NewReader(data), agent.Limits{})
	if err != nil || want.Next != int64(len(data)) {
		t.Fatalf("read up to %d of %d, %v", want.Next, len(data), err)
	}
	got, err := source.ReadSession(iotest.OneByteReader(bytes.NewReader(data)), agent.Limits{})
	if diff := cmp.Diff(want, got, fields); err != nil || diff != "" {
		t.Errorf("byte by byte: %v\n%s", err, diff)
	}
	got, err = source.ReadSession(io.MultiReader(bytes.NewReader(data), iotest.ErrReader(errors.New("disk"))), agent.Limits{})
	if diff := cmp.Diff(want, got, fields); err == nil || diff != "" {
		t.Errorf("with a read error: %v\n%s", err, diff)
	}
	peeked, err := source.Peek(bytes.NewReader(data), int64(len(data)), 0, 0, time.Time{})
	if diff := cmp.Diff(agenttest.PeekResult(want), peeked, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("Peek: %v (-read +peek)\n%s", err, diff)
	}
	return want
}

// What is no history of SpecStory is no session.
func TestSpecStoryOnly(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.md")
	if err := os.WriteFile(name, []byte("# Notes\n\n_**User**_\n\nhello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ids, err := agent.ByName("specstory").Sessions.SessionsIn("a.md", f); err != nil || len(ids) > 0 {
		t.Errorf("%q, %v", ids, err)
	}
}

func fuzzTool(f *testing.F, name string) {
	files, err := filepath.Glob(filepath.Join("testdata", name, "*.md"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := agent.Limits{Line: 64 << 10, Text: 1000, Input: 400, Result: 1000, Total: 20_000}
		s, err := agent.ByName(name).Sessions.ReadSession(bytes.NewReader(data), limits)
		if err != nil {
			t.Fatal(err)
		}
		if s.Next > int64(len(data)) || s.ID != "" && !agent.ValidID(s.ID) {
			t.Errorf("next %d of %d, id %q", s.Next, len(data), s.ID)
		}
		checkTexts(t, s.Title, s.FirstPrompt(), lastOutcome(s.Dialogue()), strings.Join(s.FilesTouched(), "\n"))
		total := 0
		for _, turn := range s.Turns {
			checkTexts(t, turn.Text)
			total += len(turn.Text)
			for _, u := range turn.Tools {
				checkTexts(t, u.Result, u.Path)
				total += len(u.Input) + len(u.Result)
				if len(u.Input) > limits.Input || len(u.Result) > limits.Result || !json.Valid(u.Input) {
					t.Errorf("input %q, result of %d", u.Input, len(u.Result))
				}
			}
			if len(turn.Text) > limits.Text {
				t.Errorf("a text of %d", len(turn.Text))
			}
		}
		if total > 2*limits.Total {
			t.Errorf("%d bytes are held", total)
		}
	})
}

func FuzzAider(f *testing.F)     { fuzzTool(f, "aider") }
func FuzzSpecStory(f *testing.F) { fuzzTool(f, "specstory") }
