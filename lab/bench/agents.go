package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/connect"
)

// fixtures holds payloads and sessions in the shape of each agent's own.
const fixtures = root + "/internal/agent/testdata"

// agents prints what docs/agents/measured.md has: what a hook of each event adds to its
// agent, and how fast past sessions are taken in.
func (s *stage) agents(hooks, imports bool) error {
	if _, err := os.Stat(fixtures); err != nil {
		return fmt.Errorf("run it in the folder of the sources: %w", err)
	}
	st, err := s.stand(s.sizes[0])
	if err != nil {
		return err
	}
	defer func() { _ = st.close() }()
	if hooks {
		if err := s.allHooks(st); err != nil {
			return err
		}
	}
	if !imports {
		return nil
	}
	fmt.Printf("\n| agent | MB | MB/s |\n|---|---|---|\n")
	for _, h := range connect.All() {
		if h.Sessions == nil {
			continue
		}
		if err := s.importOf(st, h); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	return nil
}

// allHooks measures the hooks of all agents.
func (s *stage) allHooks(st *stand) error {
	fmt.Printf("| agent | event | adds, p50 | adds, p95 | nothing, p50 | bytes shown | limit |\n|---|---|---|---|---|---|---|\n")
	for _, h := range connect.All() {
		if err := s.hooksOf(st, h); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
	return nil
}

// hooksOf measures the hooks of an agent, each beside one that does nothing. Both are run
// as agents run them, by a shell.
func (s *stage) hooksOf(st *stand, h *connect.Client) error {
	if h.Hooks == nil || h.Settings == nil {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(fixtures, h.Name, "events", "*.json"))
	if err != nil {
		return err
	}
	done := make(map[string]bool)
	for _, hook := range h.Settings.PlainHooks(connect.CommandPrefix(connect.Env{}, s.program)) {
		payload := payloadOf(h, files, hook.Event)
		if payload == nil || done[hook.Event] || hook.Async {
			continue
		}
		done[hook.Event] = true
		turn, shown := 0, 0
		ours := func() (time.Duration, error) {
			turn++
			c := child{
				args: []string{"/bin/sh", "-c", hook.Command}, dir: st.work, stdin: st.live(h, payload, turn),
				env: []string{"HOME=" + st.home, "ANAMNESIS_HOME=" + st.root},
			}
			out, took, err := c.run()
			shown = max(shown, longest(out))
			time.Sleep(leave)
			return took, err
		}
		nothing := child{args: []string{"/bin/sh", "-c", "exec " + connect.Quote(s.hello)}, dir: st.work, stdin: payload}
		got, err := rotate(s.rounds(25), ours, nothing.step(leave))
		if err != nil {
			return fmt.Errorf("%s: %w", hook.Event, err)
		}
		added := make(series, len(got[0]))
		for i := range added {
			added[i] = got[0][i] - got[1][i]
		}
		fmt.Printf("| %s | %s | %.1f | %.1f | %.1f | %d | %d |\n", h.Title, hook.Event, added.median(), added.at(0.95), got[1].median(), shown,
			h.Hooks.ContextLimit().Max)
	}
	return nil
}

// longest is the size of the longest text in an answer, which is JSON or the text itself.
func longest(answer []byte) (n int) {
	var all any
	if json.Unmarshal(answer, &all) != nil {
		return len(answer)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			n = max(n, len(v))
		case map[string]any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(all)
	return n
}

// payloadOf returns the payload among files that an agent sends at an event.
func payloadOf(h *connect.Client, files []string, event string) []byte {
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		e, err := h.Hooks.Event(agent.NewPayload(data))
		if kind, _ := h.Hooks.Kind(e.Name); err == nil && e.Name == event && e.SubagentID == "" && (kind != agent.UserPrompt || e.Prompt != "") {
			return data
		}
	}
	return nil
}

// live makes a payload one of a separate session in the stand's project, whose prompt asks
// something that the store knows.
func (st *stand) live(h *connect.Client, payload []byte, turn int) []byte {
	e, _ := h.Hooks.Event(agent.NewPayload(payload))
	swap := func(old, with string) {
		if old != "" {
			payload = bytes.ReplaceAll(payload, []byte(agentQuote(old)), []byte(agentQuote(with)))
		}
	}
	swap(e.SessionID, fmt.Sprintf("bench-%s-%s-%d", h.Name, e.Name, turn))
	swap(e.Dir, st.work)
	swap(e.Prompt, st.questions[turn%len(st.questions)])
	return payload
}

// agentQuote is a text as it stands in a payload.
func agentQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// importOf measures how fast the past sessions of an agent are taken in.
func (s *stage) importOf(st *stand, h *connect.Client) error {
	home := filepath.Join(s.dir, "past-"+h.Name)
	defer os.RemoveAll(home)
	folder := filepath.Join(home, filepath.FromSlash(h.Folder))
	if h.Folder == ".config/opencode" {
		folder = filepath.Join(home, ".local", "share", "opencode")
	}
	sessions, size := 20, 2<<20
	if s.short {
		sessions, size = 3, 1<<20
	}
	total, err := pastSessions(st, h, folder, sessions, size)
	if err != nil || total == 0 {
		return err
	}
	c := child{
		args: []string{s.program, "import", "transcripts", "--agent", h.Name, "--apply", "--no-sync"},
		env:  []string{"HOME=" + home, "ANAMNESIS_SYNC=off"}, wants: fmt.Sprintf("%d created", sessions),
	}
	_, took, err := c.run()
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %.0f | %.0f |\n", h.Title, float64(total)/1e6, float64(total)/1e6/took.Seconds())
	return nil
}

// recordID finds the ids of a record, of which no two of a session are the same.
var recordID = regexp.MustCompile(`"(id|uuid|call_id|toolCallId|callID|tool_use_id)": ?"`)

// pastSessions writes sessions in the shape of an agent's own, and returns their size.
func pastSessions(st *stand, h *connect.Client, folder string, sessions, size int) (total int64, err error) {
	if files, _ := filepath.Glob(filepath.Join(fixtures, h.Name, "*.sql")); len(files) > 0 {
		return pastDatabase(st, h, files[0], folder, sessions, size)
	}
	files, _ := filepath.Glob(filepath.Join(fixtures, h.Name, "*.jsonl"))
	if len(files) == 0 {
		return 0, nil
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		return 0, err
	}
	whole, err := h.Sessions.ReadSession(bytes.NewReader(data), agent.Limits{})
	if err != nil {
		return 0, err
	}
	head, records, _ := strings.Cut(string(data), "\n")
	opens := records
	if quiet := unasked(records); quiet != "" {
		records = quiet
	}
	records = strings.ReplaceAll(records, "FAIL", strings.ReplaceAll(st.corpus.text(20_000), "\n", `\n`))
	for i := range sessions {
		id := fmt.Sprintf("5a5e%04d-0000-4000-8000-000000000001", i)
		own := func(text string) string {
			return strings.ReplaceAll(strings.ReplaceAll(text, whole.ID, id), whole.Dir, st.work)
		}
		var b strings.Builder
		b.WriteString(own(head) + "\n" + own(opens))
		for n := 0; b.Len() < size; n++ {
			b.WriteString(recordID.ReplaceAllString(own(records), fmt.Sprintf(`"$1":"%d-%d-`, i, n)))
		}
		name := strings.ReplaceAll(h.Sessions.SessionFiles()[0], "*", id)
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return 0, err
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			return 0, err
		}
		total += int64(b.Len())
	}
	return total, nil
}

// unasked leaves out what the user says: a session has few prompts and many calls of tools.
func unasked(records string) string {
	var b strings.Builder
	for line := range strings.Lines(records) {
		if !strings.Contains(line, "Round the VAT") && !strings.Contains(line, "No, ") && strings.Contains(line, "FAIL") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// pastRows are the rows of a session and of one exchange in the database of an agent: %[1]d
// is the session, %[2]d the exchange, %[3]s a folder, %[4]s a long text.
var pastRows = map[string][3]string{
	"opencode": {
		`INSERT INTO session (id, directory, title, version, time_created, time_updated)
		VALUES ('b%[1]d', '%[3]s', 'x', '1', 17951700%02[1]d000, 1);
		CREATE INDEX IF NOT EXISTS message_session ON message (session_id);
		CREATE INDEX IF NOT EXISTS part_message ON part (message_id)`,
		`INSERT INTO message VALUES ('u%[1]d-%[2]d', 'b%[1]d', 1795170000000 + %[2]d * 2, 1, '{"role":"user"}');
		INSERT INTO part VALUES ('v%[1]d-%[2]d', 'u%[1]d-%[2]d', 'b%[1]d', 1, 1,
		'{"type":"text","text":"Round the tax of order %[2]d per line."}');
		`,
		`INSERT INTO message VALUES ('m%[1]d-%[2]d', 'b%[1]d', 1795170000001 + %[2]d * 2, 1, '{"role":"assistant"}');
		INSERT INTO part VALUES ('p%[1]d-%[2]d', 'm%[1]d-%[2]d', 'b%[1]d', 1, 1, ` +
			`'{"type":"tool","callID":"c","tool":"bash",` +
			`"state":{"status":"completed","input":{"command":"go test"},"output":"%[4]s"}}')`,
	},
	"hermes": {
		`INSERT INTO sessions (id, source, started_at, cwd) VALUES ('b%[1]d', 'cli', 17951700%02[1]d.5, '%[3]s');
		CREATE INDEX IF NOT EXISTS messages_session ON messages (session_id)`,
		`INSERT INTO messages (session_id, role, content, timestamp, active)
		VALUES ('b%[1]d', 'user', 'Round the tax of order %[2]d.', 1795170000.5, 1);
		`,
		`INSERT INTO messages (session_id, role, content, timestamp, active)
		VALUES ('b%[1]d', 'assistant', '%[4]s', 1795170000.5, 1)`,
	},
}

// pastDatabase writes sessions into a database with the tables of the fixtures.
func pastDatabase(st *stand, h *connect.Client, schema, folder string, sessions, size int) (total int64, err error) {
	statements, err := os.ReadFile(schema)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return 0, err
	}
	file := filepath.Join(folder, h.Sessions.SessionFiles()[0])
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	all := []string{"BEGIN"}
	for line := range strings.Lines(string(statements)) {
		if strings.HasPrefix(line, "CREATE") {
			all = append(all, line)
		}
	}
	rows, text := pastRows[h.Name], strings.NewReplacer("'", "", `"`, "", `\`, "", "\n", `\n`).Replace(st.corpus.text(20_000))
	for i := range sessions {
		all = append(all, fmt.Sprintf(rows[0]+`-- %[2]d %[4]s`, i, 0, st.work, ""))
		all = append(all, fmt.Sprintf(rows[1]+`-- %[3]s%[4]s`, i, 0, "", ""))
		for n := range size / len(text) {
			all = append(all, fmt.Sprintf(rows[2]+`-- %[3]s`, i, n, "", text))
		}
	}
	for _, statement := range append(all, "COMMIT") {
		if _, err := db.ExecContext(context.Background(), statement); err != nil {
			return 0, err
		}
	}
	fi, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}
