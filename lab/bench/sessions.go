package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// transcript writes a session file of at least size bytes in the shape of
// Claude Code's: a prompt, edits of files with their results, an outcome. No two sessions
// share the id of a record; those that do are forks, and the younger one loses what they share.
func (c *corpus) transcript(name, session, dir string, size int) error {
	var b strings.Builder
	topic := c.topics[c.r.IntN(len(c.topics))]
	at := epoch.AddDate(0, 6, 0)
	line := func(kind string, message map[string]any) {
		at = at.Add(7 * time.Second)
		message["role"] = kind
		data, err := json.Marshal(map[string]any{
			"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": dir, "sessionId": session, "version": "2.1.14",
			"gitBranch": "main", "type": kind, "message": message, "uuid": fmt.Sprintf("%s-%d", session, b.Len()),
			"timestamp": at.Format("2006-01-02T15:04:05.000Z"),
		})
		if err == nil {
			b.Write(append(data, '\n'))
		}
	}
	line("user", map[string]any{"content": "Please mend this: " + c.sentence(topic, 20) + "."})
	for i := 0; b.Len() < size; i++ {
		id := fmt.Sprintf("toolu_%06d", i)
		line("assistant", map[string]any{"content": []any{map[string]any{"type": "text", "text": c.sentence(topic, 15) + "."}}})
		line("assistant", map[string]any{"content": []any{map[string]any{
			"type": "tool_use", "id": id, "name": "Edit",
			"input": map[string]any{
				"file_path": filepath.Join(dir, fmt.Sprintf("file%d.go", i%40)), "old_string": c.sentence(topic, 30),
				"new_string": c.sentence(topic, 30),
			},
		}}})
		line("user", map[string]any{"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": c.text(4000)}}})
	}
	line("assistant", map[string]any{"content": []any{map[string]any{
		"type": "text", "text": "Done: " + c.sentence(topic, 25) + ". All tests pass.",
	}}, "stop_reason": "end_turn"})
	return os.WriteFile(name, []byte(b.String()), 0o600)
}

// event is what the agent writes to a hook's standard input.
func event(name, session, transcript, dir string) []byte {
	data, _ := json.Marshal(map[string]string{
		"session_id": session, "transcript_path": transcript, "cwd": dir, "hook_event_name": name,
		"source": "startup", "reason": "prompt_input_exit",
	})
	return append(data, '\n')
}

// secrets makes text with a secret in about every second line.
func (c *corpus) secrets(size int) string {
	random := func(alphabet string, n int) string {
		s := make([]byte, n)
		for i := range s {
			s[i] = alphabet[c.r.IntN(len(alphabet))]
		}
		return string(s)
	}
	const upper, alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(c.sentence(c.topics[0], 12) + ".\n")
		switch c.r.IntN(6) {
		case 0:
			b.WriteString("export AWS_ACCESS_KEY_ID=AKIA" + random(upper, 16) + "\n")
		case 1:
			b.WriteString("git clone https://bot:ghp_" + random(alnum, 36) + "@git.example.org/a/b\n")
		case 2:
			b.WriteString("password = \"" + random(alnum, 20) + "\"\n")
		}
	}
	return b.String()
}
