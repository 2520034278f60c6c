package agent_test

import (
	"bytes"
	"strings"
	"testing"

	"anamnesis/internal/agent"

	"github.com/google/go-cmp/cmp"
)

// TestDamaged holds that a damaged file gives what is left of it, and that each place which cannot be read counts.
func TestDamaged(t *testing.T) {
	nul := strings.Repeat("\x00", 300)
	for name, record := range map[string]func(text string) string{
		"claude": func(text string) string {
			return `{"type":"user","sessionId":"s1","cwd":"/src","timestamp":"2026-05-01T10:00:00Z","uuid":"` + text + `","message":{"role":"user","content":"` + text + `"}}`
		},
		"codex": func(text string) string {
			return `{"timestamp":"2026-05-01T10:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}}`
		},
	} {
		for what, c := range map[string]struct {
			text string
			want agent.Skipped
		}{
			"whole":                    {record("one") + "\n" + record("two") + "\n", agent.Skipped{}},
			"empty line":               {record("one") + "\n\n" + record("two") + "\n", agent.Skipped{Blank: 1}},
			"NUL line":                 {record("one") + "\n" + nul + "\n" + record("two") + "\n", agent.Skipped{NotJSON: 1}},
			"NULs before a record":     {record("one") + "\n" + nul + record("two") + "\n", agent.Skipped{NotJSON: 1}},
			"NULs at the end":          {record("one") + "\n" + record("two") + "\n" + nul, agent.Skipped{Partial: 1}},
			"half line":                {record("one") + "\n" + record("half")[:40] + "\n" + record("two") + "\n", agent.Skipped{NotJSON: 1}},
			"half line, then a record": {record("one") + "\n" + record("half")[:40] + record("half") + "\n" + record("two") + "\n", agent.Skipped{NotJSON: 1}},
			"half last line":           {record("one") + "\n" + record("two") + "\n" + record("half")[:40], agent.Skipped{Partial: 1}},
			"no record":                {record("one") + "\n[1]\n" + record("two") + "\n", agent.Skipped{NotObject: 1}},
			"long":                     {record("one") + "\n" + record(strings.Repeat("x", 5000)) + "\n" + record("two") + "\n", agent.Skipped{Oversized: 1}},
		} {
			s, err := agent.ByName(name).Sessions.ReadSession(bytes.NewReader([]byte(c.text)), agent.Limits{Line: 4000})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, s.Skipped); diff != "" || strings.Join(s.Prompts(), " ") != "one two" {
				t.Errorf("%s, %s: %q (-want +got):\n%s", name, what, s.Prompts(), diff)
			}
			if damaged := what != "whole" && what != "empty line"; (s.Skipped.Unreadable() > 0) != damaged {
				t.Errorf("%s, %s: %d lines cannot be read", name, what, s.Skipped.Unreadable())
			}
		}
	}
}
