package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/config"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestHelp compares the help of every command with testdata/help, so that a
// review sees what users see. -update rewrites it.
func TestHelp(t *testing.T) {
	const dir = "testdata/help"
	var want []string
	var visit func(cmd *cobra.Command, path []string)
	visit = func(cmd *cobra.Command, path []string) {
		name := strings.Join(append([]string{}, path...), "_")
		if name == "" {
			name = "anamnesis"
		}
		want = append(want, name+".txt")
		var out, diag bytes.Buffer
		code := Main(append(slices.Clone(path), "--help"), strings.NewReader(""), &out, &diag)
		if code != 0 || diag.Len() > 0 {
			t.Errorf("%s --help exited with %d and said %q", strings.Join(path, " "), code, diag.String())
		}
		var byTopic bytes.Buffer
		if Main(append([]string{"help"}, path...), strings.NewReader(""), &byTopic, &diag); byTopic.String() != out.String() {
			t.Errorf("help %s and %[1]s --help differ", strings.Join(path, " "))
		}
		golden := filepath.Join(dir, name+".txt")
		if *update {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(golden)
		if err != nil {
			t.Errorf("%v; make it with -update", err)
		} else if diff := cmp.Diff(string(data), out.String()); diff != "" {
			t.Errorf("%s (-want +got, -update accepts it):\n%s", golden, diff)
		}
		for _, sub := range cmd.Commands() {
			if sub.Name() != "help" && sub.Name() != "completion" {
				visit(sub, append(slices.Clone(path), sub.Name()))
			}
		}
	}
	visit((&program{environ: config.Process}).root(commands...), nil)

	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(want, filepath.Base(f)) {
			t.Errorf("%s belongs to no command; delete it", f)
		}
	}
}

// TestHelpTellsFlags checks that help says what every flag is for.
func TestHelpTellsFlags(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.LocalFlags().FlagUsages()) {
			if fields := strings.Fields(line); len(fields) < 3 {
				t.Errorf("%s: the flag %q has no sentence", cmd.CommandPath(), strings.TrimSpace(line))
			}
		}
		if cmd.Short == "" {
			t.Errorf("%s has no sentence", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit((&program{environ: config.Process}).root(commands...))
}

// TestCommandNames checks that a command is found by the name it has.
func TestCommandNames(t *testing.T) {
	for _, c := range commands {
		if got := c.build(&program{environ: config.Process}).Name(); got != c.name {
			t.Errorf("the list of commands has %q for %q", c.name, got)
		}
	}
}
