package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// payloads are the events whose payload may be large: a pasted prompt, a file that is
// written, the output of a tool.
var payloads = []struct {
	event string
	fill  func(e map[string]any, text string)
}{
	{"UserPromptSubmit", func(e map[string]any, text string) { e["prompt"] = "what is in this log?\n" + text }},
	{"PreToolUse", func(e map[string]any, text string) {
		e["tool_name"], e["tool_input"] = "Write", map[string]any{"file_path": "/src/app/data.txt", "content": text}
	}},
	{"PostToolUse", func(e map[string]any, text string) {
		e["tool_name"], e["tool_input"] = "Read", map[string]any{"file_path": "/src/app/data.txt"}
		e["tool_response"] = map[string]any{"content": text}
	}},
	{"PostToolUseFailure", func(e map[string]any, text string) {
		e["tool_name"], e["tool_input"], e["error"] = "Bash", map[string]any{"command": "make"}, text
	}},
	{"SessionEnd", func(e map[string]any, text string) { e["reason"], e["last_message"] = "exit", text }},
}

// payloadSizes are the sizes of the texts in them, in bytes.
var payloadSizes = []struct {
	name string
	n    int
}{{"1 KB", 1 << 10}, {"5 MB", 5 << 20}}

// payload measures hooks by the size of what the agent sends: the whole process, and what of
// it a program that only says hello does not need. Each runs in turns with one of those.
func (s *stage) payload(st *stand) error {
	line := "2026-01-01 10:00:00 worker 7: job 12 of 90 is done, the queue holds 78 jobs\n"
	for _, p := range payloads {
		for _, size := range payloadSizes {
			text := strings.Repeat(line, size.n/len(line)+1)[:size.n]
			var whole, hello, own series
			for turn := range s.rounds(60) + 1 {
				e := map[string]any{
					"session_id": fmt.Sprintf("bench-payload-%s-%d-%d", p.event, size.n, turn), "cwd": st.work,
					"transcript_path": filepath.Join(st.home, "none.jsonl"), "hook_event_name": p.event,
				}
				p.fill(e, text)
				data, err := json.Marshal(e)
				if err != nil {
					return err
				}
				_, base, herr := (child{args: []string{s.hello}}).run()
				_, took, err := s.hook(st, append(data, '\n'), "hook", "claude", p.event).run()
				if err = errors.Join(err, herr); err != nil {
					return fmt.Errorf("%s with %s: %w", p.event, size.name, err)
				}
				if turn > 0 { // the first one is not counted
					whole, hello, own = append(whole, took), append(hello, base), append(own, max(0, took-base))
				}
				time.Sleep(leave)
			}
			s.table.put("payload "+p.event+" "+size.name, st.notes, whole.at(0.95), hello.at(0.95))
			s.table.put("payload own "+p.event+" "+size.name, st.notes, own.at(0.95), 0)
		}
	}
	return st.emptySpool()
}

// payloadRows are their rows of the table.
func payloadRows() (all []row) {
	for _, p := range payloads {
		for _, size := range payloadSizes {
			id := p.event + " " + size.name
			all = append(all,
				row{
					id: "payload " + id, what: "hook " + p.event + ", payload of " + size.name + ", whole process, p95", unit: "ms",
					versus: "hello-world", digits: 1,
				},
				row{id: "payload own " + id, what: "the same, less a hello-world beside it, p95", unit: "ms", limits: at(every, 10, 5), digits: 1},
			)
		}
	}
	return all
}
