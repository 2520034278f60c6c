package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/ingest"

	"github.com/spf13/cobra"
)

// TestCommandActs: each command either has an act, or is on the list of those that decide about nothing. A
// new command is on neither.
func TestCommandActs(t *testing.T) {
	data, err := os.ReadFile("testdata/reading.txt")
	if err != nil {
		t.Fatal(err)
	}
	reading := strings.Split(strings.TrimSpace(string(data)), "\n")
	var all []string
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if _, path, ok := strings.Cut(cmd.CommandPath(), " "); ok && cmd.Runnable() {
			all = append(all, path)
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	p := &program{}
	walk(p.root(commands...))
	for _, path := range all {
		_, acts := commandActs[path]
		if reads := slices.Contains(reading, path); acts == reads {
			t.Errorf("%q: act %v, on the list of testdata/reading.txt %v", path, acts, reads)
		}
	}
	for path := range commandActs {
		if !slices.Contains(all, path) {
			t.Errorf("there is no command %q", path)
		}
	}
}

// TestMay: an agent's shell decides nothing, erases nothing and trusts nobody, whatever the command.
func TestMay(t *testing.T) {
	for path, act := range commandActs {
		if act != ingest.Write && ingest.May(ingest.Agent, act) == nil {
			t.Errorf("an agent may run %q", path)
		}
		if (act == ingest.Decide || act == ingest.Trust) && ingest.May(ingest.Program, act) == nil {
			t.Errorf("a command without a terminal may run %q", path)
		}
		if err := ingest.May(ingest.Person, act); err != nil {
			t.Errorf("a person may not run %q: %v", path, err)
		}
	}
}
