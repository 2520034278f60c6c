package agent_test

import (
	"strings"
	"testing"

	"anamnesis/internal/agent"
)

func TestShowsDialog(t *testing.T) {
	const client, tried = "claude-code", "2.1.332"
	person := agent.Process{Args: []string{"/usr/bin/claude", "--resume", "x", "--", "-p is an option"}, Terminal: true}
	if !agent.ShowsDialog(client, tried, tried, person) {
		t.Error("a person in a terminal is shown no dialog")
	}
	if node := (agent.Process{Args: []string{"node", "/usr/lib/claude"}, Terminal: true}); !agent.ShowsDialog(client, tried, tried, node) {
		t.Error("a client that node runs shows no dialog")
	}
	with := func(args string) agent.Process {
		return agent.Process{Args: append([]string{"claude"}, strings.Fields(args)...), Terminal: true}
	}
	for name, tt := range map[string]struct {
		client, version string
		parent          agent.Process
	}{
		"another client":            {"codex", tried, person},
		"a version not tried":       {client, "2.1.333", person},
		"no version":                {client, "", person},
		"no terminal":               {client, tried, agent.Process{Args: person.Args}},
		"started by an agent":       {client, tried, agent.Process{Args: person.Args, Terminal: true, Nested: true}},
		"an unknown parent":         {client, tried, agent.Process{}},
		"a shell":                   {client, tried, agent.Process{Args: []string{"bash", "claude"}, Terminal: true}},
		"a run that no one watches": {client, tried, with("-p hello")},
		"the same, in full":         {client, tried, with("--print hello")},
		"with other options":        {client, tried, with("-cp hello")},
		"another program answers":   {client, tried, with("--permission-prompt-tool mcp__x__y")},
		"a program reads along":     {client, tried, with("--output-format=stream-json")},
		"in the background":         {client, tried, with("--bg hello")},
	} {
		if agent.ShowsDialog(tt.client, tt.version, tried, tt.parent) {
			t.Errorf("%s: it shows its user a dialog", name)
		}
	}
}
