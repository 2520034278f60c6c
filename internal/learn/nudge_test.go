package learn_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/learn"
)

// The user stopped the agent: with a reason when they refused a call, else with the words that they type now. What came before
// they last spoke does not count, nor what a tool refused, nor a word without a subject.
func TestStopping(t *testing.T) {
	user := func(text string) agent.Turn { return agent.Turn{Role: agent.User, Text: text} }
	said := agent.Turn{Role: agent.Assistant, Text: "Done."}
	refused := func(reason string) agent.Turn {
		return agent.Turn{Role: agent.Assistant, Tools: []agent.ToolUse{{Name: "Bash", Denied: true, Error: true, Reply: reason}}}
	}
	answered := agent.Turn{Role: agent.Assistant, Tools: []agent.ToolUse{{Name: "AskUserQuestion", Reply: "the second one, always"}}}
	stopped := agent.Turn{Role: agent.User, Interrupted: true}
	const prompt = "OK. why do you start the whole stack for one test?"
	const words = "why do you start the whole stack for one test?"
	for name, tt := range map[string]struct {
		turns []agent.Turn
		want  string
	}{
		"nothing":                 {nil, ""},
		"a turn like others":      {[]agent.Turn{user("go"), said}, ""},
		"an answer":               {[]agent.Turn{user("go"), answered, said}, ""},
		"a refusal":               {[]agent.Turn{user("go"), refused("No. Use pnpm here. Then go on."), said}, "Use pnpm here."},
		"a refusal with thanks":   {[]agent.Turn{user("go"), refused("Thank you very much. Never start it by hand."), said}, "Never start it by hand."},
		"a refusal without words": {[]agent.Turn{user("go"), refused(""), said}, ""},
		"a refusal that says no":  {[]agent.Turn{user("go"), refused("no"), stopped}, words},
		"a refusal before":        {[]agent.Turn{user("go"), refused("use pnpm here"), said, user("on"), said}, ""},
		"an interruption":         {[]agent.Turn{user("go"), said, stopped}, words},
		"an interruption, saved":  {[]agent.Turn{user("go"), said, stopped, user(prompt)}, words},
		"an interruption before":  {[]agent.Turn{user("go"), stopped, user("on"), said}, ""},
	} {
		if got := learn.Stopping(&agent.Session{Turns: tt.turns}, prompt); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := learn.Stopping(&agent.Session{Resumed: true}, prompt); got != words {
		t.Errorf("a file that begins where the user went back to: %q", got)
	}
	for _, tool := range []string{"memory_write", "mcp__plugin_anamnesis_anamnesis__memory_write"} {
		n := learn.Nudge(strings.Repeat("never start it ", 30), tool)
		if utf8.RuneCountInString(n) > 160 || !strings.Contains(n, tool) || !strings.Contains(n, `"never start it never start it`) {
			t.Errorf("%d characters: %s", utf8.RuneCountInString(n), n)
		}
	}
}
