package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
)

func TestHarnesses(t *testing.T) {
	for _, h := range agent.All {
		t.Run(h.Name, func(t *testing.T) {
			agenttest.Run(t, h, filepath.Join("testdata", h.Name))
		})
	}
}

// TestCommandsAreStable wants what is registered to be what the last release registered: an
// agent forgets the approval of a hook whose command, matcher or time limit changed. A line
// that changes here asks every user of that agent to approve it again.
func TestCommandsAreStable(t *testing.T) {
	var b strings.Builder
	for _, h := range agent.All {
		if h.Settings == nil || h == agent.Default() { // the first asks for no approval
			continue
		}
		for _, hook := range h.Settings.PlainHooks(agent.CommandPrefix(agent.Env{MachineID: "desk"}, "/opt/anamnesis")) {
			fmt.Fprintf(&b, "%s | %s | %s | %d s | async %v | %s\n", h.Name, hook.Event, hook.Matcher, hook.Timeout, hook.Async, hook.Command)
		}
	}
	file := filepath.Join("testdata", "commands.txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if diff := cmp.Diff(string(want), b.String()); err != nil || diff != "" {
		t.Errorf("%v; what is registered changed (-before +now):\n%s", err, diff)
	}
}

func TestUnknownName(t *testing.T) {
	if h := agent.ByName("nobody"); h != nil {
		t.Errorf("ByName = %v, want nil", h)
	}
}

func TestEditChanged(t *testing.T) {
	for _, tt := range []struct {
		old, new string
		want     bool
	}{{"a", "a", false}, {"", "a", true}, {"a", "b", true}} {
		if got := (agent.Edit{Old: []byte(tt.old), New: []byte(tt.new)}).Changed(); got != tt.want {
			t.Errorf("%q to %q: Changed = %v", tt.old, tt.new, got)
		}
	}
}
