package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"
)

// prompts are what users type: a question, one with names, one with a pasted error, and
// one with all of that, which is four questions.
func (st *stand) prompts() (all []string) {
	at := func(i int) string { return st.questions[i%len(st.questions)] }
	for i := range st.questions {
		all = append(all, [...]string{
			at(i),
			"please look at " + at(i) + " in internal/server/handler.go and mend it",
			"I get this when I run it:\n```\n2026-01-01 10:00:00 starting\nError: " + at(i) + " failed: connection refused\n```\n" +
				"what is wrong with " + at(i) + "?",
			"how do we " + at(i) + " and then " + at(i+7) + "?\nError: cannot open " + at(i+3) + "\nfatal: " + at(i+5) +
				" not found\nsee parseConfigFile in internal/config/load.go",
		}[i%4])
	}
	return all
}

// prompt measures the hook of a prompt, from the agent's side of the pipe. Each prompt is
// the first one of a separate session, which was shown nothing.
func (s *stage) prompt(st *stand) error {
	prompts := st.prompts()
	var ours, hello series // processor time
	turn := 0
	hook := func() (time.Duration, error) {
		data, err := json.Marshal(map[string]string{
			"session_id": fmt.Sprintf("bench-prompt-%d", turn), "transcript_path": filepath.Join(st.home, "none.jsonl"), "cwd": st.work,
			"hook_event_name": "UserPromptSubmit", "prompt": prompts[turn%len(prompts)],
		})
		if err != nil {
			return 0, err
		}
		turn++
		_, took, cpu, err := s.hook(st, append(data, '\n'), "hook", "claude", "UserPromptSubmit").runTimed()
		ours = append(ours, cpu)
		return took, err
	}
	nothing := func() (time.Duration, error) {
		_, took, cpu, err := (child{args: []string{s.hello}}).runTimed()
		hello = append(hello, cpu)
		return took, err
	}
	got, err := rotate(s.rounds(100), hook, nothing)
	if err != nil {
		return err
	}
	s.table.put("prompt p50", st.notes, got[0].median(), got[1].median())
	s.table.put("prompt p95", st.notes, got[0].at(0.95), got[1].at(0.95))
	s.table.put("prompt cpu", st.notes, ours.median(), hello.median())
	return st.emptySpool()
}
