package agent_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/agent"
)

// BenchmarkForeignSession reads 16 MB of the sessions of each agent.
func BenchmarkForeignSession(b *testing.B) {
	for _, h := range agent.All {
		files, _ := filepath.Glob(filepath.Join("testdata", h.Name, "*.jsonl"))
		if h.Sessions == nil || len(files) == 0 {
			continue
		}
		one, err := os.ReadFile(files[len(files)-1])
		if err != nil {
			b.Fatal(err)
		}
		// The records of real sessions are longer than those of fixtures.
		one = bytes.ReplaceAll(one, []byte("FAIL"), []byte(strings.Repeat("--- FAIL: TestVAT (0.00s) ", 200)))
		data := bytes.Repeat(one, 16<<20/len(one)+1)
		b.Run(h.Name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if s, err := h.Sessions.ReadSession(bytes.NewReader(data), agent.Limits{}); err != nil || s.ID == "" {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkForeignDatabase reads all sessions of a database of 16 MB: its statements as in
// the fixtures, with longer records.
func BenchmarkForeignDatabase(b *testing.B) {
	const sessions, messages = 20, 200
	text := strings.Repeat("--- FAIL: TestVAT (0.00s) \\n", 150)
	for _, c := range []struct{ name, schema, index, session, message string }{
		{
			"opencode", "testdata/opencode/sessions.sql",
			`CREATE INDEX m ON message (session_id); CREATE INDEX p ON part (message_id)`,
			`INSERT INTO session (id, directory, title, version, time_created, time_updated) VALUES ('s%d', '/p', 'x', '1', 1795170000000, 1)`,
			`INSERT INTO message VALUES ('m%[1]d-%[2]d', 's%[1]d', 1795170000000 + %[2]d, 1, '{"role":"assistant"}');
			INSERT INTO part VALUES ('p%[1]d-%[2]d', 'm%[1]d-%[2]d', 's%[1]d', 1, 1, '{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{"command":"go test"},"output":"%[3]s"}}')`,
		},
		{
			"hermes", "testdata/hermes/sessions.sql", `CREATE INDEX m ON messages (session_id)`,
			`INSERT INTO sessions (id, source, started_at, cwd) VALUES ('s%d', 'cli', 1795170000.5, '/p')`,
			`INSERT INTO messages (session_id, role, content, timestamp, active) VALUES ('s%[1]d', 'assistant', '%[3]s', 1795170000.5, 1)`,
		},
	} {
		statements, err := os.ReadFile(c.schema)
		if err != nil {
			b.Fatal(err)
		}
		file := filepath.Join(b.TempDir(), "x.db")
		db, err := sql.Open("sqlite", file)
		if err != nil {
			b.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		all := []string{string(statements), c.index, "BEGIN"}
		for s := range sessions {
			all = append(all, fmt.Sprintf(c.session, s))
			for m := range messages {
				all = append(all, fmt.Sprintf(c.message, s, m, text))
			}
		}
		for _, statement := range append(all, "COMMIT") {
			if _, err := db.Exec(statement); err != nil {
				b.Fatal(err)
			}
		}
		db.Close()
		h := agent.ByName(c.name).Sessions
		b.Run(c.name, func(b *testing.B) {
			f, err := os.Open(file)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			fi, _ := f.Stat()
			b.SetBytes(fi.Size())
			for b.Loop() {
				ids, err := h.SessionsIn(file, f)
				if err != nil || len(ids) < sessions {
					b.Fatal(err, ids)
				}
				for _, id := range ids {
					r, err := h.Open(f, id)
					if err != nil {
						b.Fatal(err)
					}
					if s, err := h.ReadSession(r, agent.Limits{}); err != nil || s.ID == "" {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
