package agent_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"

	"github.com/google/go-cmp/cmp"
)

// tell writes a session down: who said what, which tools were used and how that ended.
func tell(s *agent.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s\n", s.Dir, s.Branch)
	for _, t := range s.Turns {
		switch {
		case t.Interrupted:
			b.WriteString("stopped\n")
		case t.Text != "":
			fmt.Fprintf(&b, "%s: %s\n", t.Role, t.Text)
		}
		for _, u := range t.Tools {
			fmt.Fprintf(&b, "%s %s %s failed=%v: %s\n", u.Name, u.Path, u.Input, u.Error, u.Result)
		}
	}
	return b.String()
}

// What the fixtures of each agent say.
func TestForeignSessions(t *testing.T) {
	const dir = "/home/ada/src/storefront"
	const ask, no = "user: Round the VAT per line, order 48213 is off by a cent.\n", "user: No, never round half down.\n"
	const fixed = "assistant: VAT is rounded per line now, half up.\n"
	for _, c := range []struct{ agent, file, want string }{
		{
			"codex", "rollout-2026-11-20T10-00-00-*.jsonl", dir + " on feature/vat\n" + ask +
				`Bash  {"cmd": "go test ./..."} failed=true: FAIL vat_test.go` + "\n\n" +
				`Edit vat.go {"input":"*** Begin Patch\n*** Update File: vat.go\n@@\n-a\n+b\n*** End Patch"} failed=false: Success` + "\n" + fixed,
		},
		{
			"codex", "rollout-2026-11-20T11-00-00-*.jsonl",
			dir + " on main\nuser: And now the receipts, too.\nstopped\nuser: No, the invoices first.\nassistant: Invoices are done.\n",
		},
		{
			"codex", "rollout-2025-*.jsonl", dir + " on main\nuser: Why is the index stale?\n" +
				`Bash  {"command":["bash","-lc","ls"]} failed=true: a.go` + "\n\nassistant: The deploy never called reindex.\n",
		},
		{
			"gemini", "session-*.jsonl", dir + " on \n" + ask + "assistant: I look first.\n" +
				`Bash  {"command": "go test ./..."} failed=true: Output: FAIL` + "\nExit Code: 1\n" +
				`Write ` + dir + `/vat.go {"file_path": "` + dir + `/vat.go", "content": "package main"} failed=false: Written` + "\n" + no + fixed,
		},
		{
			"copilot", "events-*.jsonl", dir + " on feature/vat\n" + ask + "assistant: I look first.\n" +
				`Bash  {"command": "go test ./..."} failed=true: FAIL` + "\n" +
				`Write ` + dir + `/vat.go {"path": "` + dir + `/vat.go", "file_text": "x"} failed=false: Created` + "\n" + no + fixed,
		},
		{
			"cursor", "*.jsonl", dir + " on \n" + ask + "assistant: I look first.\n" +
				`Bash  {"command": "go test ./..."} failed=true: FAIL` + "\n" + no + fixed,
		},
		{
			"opencode", "*.sql", dir + " on \n" + ask + "assistant: I look first.\n" +
				`Bash  {"command": "go test ./..."} failed=true: FAIL` + "\n" +
				`Write ` + dir + `/vat.go {"filePath": "` + dir + `/vat.go", "content": "x"} failed=false: ok` + "\n\n" + no + fixed,
		},
		{
			"qwen", "*01.jsonl", dir + " on feature/vat\n" + ask + "assistant: I look first.\n" +
				`Bash  {"command":"go test ./..."} failed=true: Output: FAIL` + "\nExit Code: 1\n\n\n" +
				`Write ` + dir + `/vat.go {"file_path":"` + dir + `/vat.go","content":"package main"} failed=false: Written` + "\n" + no + fixed,
		},
		{"qwen", "*02.jsonl", dir + " on feature/vat\nuser: And the receipts?\nassistant: Receipts round the same way.\n"}, // a fork
		{
			"hermes", "*.sql", dir + " on feature/vat\n" + ask + "assistant: I look first.\n" +
				`Bash  {"command": "go test ./..."} failed=false: {"output": "FAIL", "exit_code": 1, "error": null}` + "\n" +
				`Write ` + dir + `/vat.go {"path": "` + dir + `/vat.go", "content": "x"} failed=false: ok` + "\n" + no + fixed,
		},
	} {
		files, err := filepath.Glob(filepath.Join("testdata", c.agent, c.file))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %v, %v", c.file, files, err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		h := agent.ByName(c.agent).Sessions
		if strings.HasSuffix(files[0], ".sql") {
			data = records(t, h, data)
		}
		s, err := h.ReadSession(bytes.NewReader(data), agent.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, tell(s)); d != "" {
			t.Errorf("%s (-want +got):\n%s", files[0], d)
		}
	}
}

// records returns the records of the one session in a database.
func records(t *testing.T, h agent.SessionSource, statements []byte) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sessions.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = db.ExecContext(t.Context(), string(statements)); err != nil {
		t.Fatal(err)
	}
	db.Close()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ids, err := h.SessionsIn(file, f)
	if err != nil || len(ids) != 1 {
		t.Fatalf("sessions %v, %v; want one", ids, err)
	}
	r, err := h.Open(f, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, r.Size())
	if _, err := r.ReadAt(data, 0); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return data
}

// A database of another version is refused by the name of what it lacks, and a file that
// is none by what it is.
func TestForeignDatabase(t *testing.T) {
	for _, c := range []struct{ name, sql, want string }{
		{"opencode", "CREATE TABLE session (id text, directory text, time_created integer)", "message.data"},
		{"hermes", "CREATE VIEW sessions AS SELECT 1 AS id", "sessions.id"},
		{"hermes", "", "sessions.id"},
	} {
		file := filepath.Join(t.TempDir(), "x.db")
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), "PRAGMA user_version = 7;"+c.sql)
		db.Close()
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		_, err = agent.ByName(c.name).Sessions.SessionsIn(file, f)
		f.Close()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "another version") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if left, _ := filepath.Glob(file + "-*"); len(left) > 0 {
			t.Errorf("%s: %v was left beside the database", c.name, left)
		}
	}
}

// A long session is peeked at from both ends, and says the same of what it was.
func TestForeignPeek(t *testing.T) {
	for _, name := range []string{"codex", "gemini", "copilot", "qwen"} {
		files, _ := filepath.Glob(filepath.Join("testdata", name, "*.jsonl"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			h := agent.ByName(name).Sessions
			whole, err := h.ReadSession(bytes.NewReader(data), agent.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			for tail := int64(1); tail < int64(len(data)); tail += 97 {
				g, err := h.Peek(bytes.NewReader(data), int64(len(data)), int64(len(data)), tail, time.Time{})
				if err != nil || g.ID != whole.ID || g.Dir != whole.Dir || g.FirstPrompt != whole.FirstPrompt() || g.Complete {
					t.Fatalf("%s, tail %d: %v, %+v", file, tail, err, g)
				}
				if lastOutcome(g.Dialogue) != "" && !strings.Contains(tell(whole), lastOutcome(g.Dialogue)) {
					t.Errorf("%s, tail %d: %q", file, tail, lastOutcome(g.Dialogue))
				}
			}
		}
	}
}

// FuzzForeignSession wants no reader to keep what no person may see, whatever it reads.
func FuzzForeignSession(f *testing.F) {
	for _, name := range []string{"codex", "gemini", "copilot", "qwen"} {
		files, _ := filepath.Glob(filepath.Join("testdata", name, "*.jsonl"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, h := range agent.All {
			if h.Sessions == nil || h == agent.Default() {
				continue
			}
			limits := agent.Limits{Line: 64 << 10, Text: 1000, Input: 400, Result: 1000, Total: 20_000}
			s, err := h.Sessions.ReadSession(bytes.NewReader(data), limits)
			if err != nil || s.Next > int64(len(data)) || s.ID != "" && !agent.ValidID(s.ID) {
				t.Fatalf("%s: %v, next %d of %d, id %q", h.Name, err, s.Next, len(data), s.ID)
			}
			checkTexts(t, s.FirstPrompt(), lastOutcome(s.Dialogue()), strings.Join(s.Summaries, "\n"), strings.Join(s.FilesTouched(), "\n"))
			for _, turn := range s.Turns {
				checkTexts(t, turn.Text, turn.Command)
				for _, u := range turn.Tools {
					checkTexts(t, u.Result, u.Name)
				}
			}
		}
	})
}
