package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/config"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// TestManual compares the pages of the manual, which the program carries, and
// docs/cli.md with what the command tree makes. -update rewrites them.
func TestManual(t *testing.T) {
	root := (&program{environ: config.Process}).root(commands...)
	want := map[string][]byte{}
	manual(root, func(cmd *cobra.Command) {
		var page bytes.Buffer
		day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // the same pages every day
		header := &doc.GenManHeader{Section: "1", Source: "anamnesis", Manual: "Anamnesis", Date: &day}
		cmd.DisableAutoGenTag = true
		if err := doc.GenMan(cmd, header, &page); err != nil {
			t.Fatal(err)
		}
		if !cmd.HasParent() {
			fmt.Fprintf(&page, ".SH EXIT STATUS\n%s\n", exitStatus)
		}
		want[pageName(cmd.CommandPath())] = page.Bytes()
	})
	var text bytes.Buffer
	reference(&text, root)
	want["reference.md"] = text.Bytes()
	const dir, page = "manual", "../../docs/cli.md"
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, data := range want {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(page, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil || !bytes.Equal(data, want[f.Name()]) {
			t.Errorf("%s/%s is stale (%v); run `make generate`", dir, f.Name(), err)
		}
		delete(want, f.Name())
	}
	for name := range want {
		t.Errorf("%s/%s is missing; run `make generate`", dir, name)
	}
	if data, err := os.ReadFile(page); err != nil || !bytes.Equal(data, text.Bytes()) {
		t.Errorf("docs/cli.md is stale (%v); run `make generate`", err)
	}
}

// manual calls each for the commands, parents first, without the former names of those that
// were moved.
func manual(cmd *cobra.Command, each func(*cobra.Command)) {
	former := slices.ContainsFunc(commands, func(c namedCommand) bool {
		return c.path != "" && cmd.CommandPath() == "anamnesis "+c.name
	})
	if former || cmd.Name() == "completion" || cmd.Name() == "merge-driver" || cmd.Name() == "help" || cmd.IsAdditionalHelpTopicCommand() {
		return
	}
	cmd.InitDefaultHelpFlag()
	each(cmd)
	for _, sub := range cmd.Commands() {
		manual(sub, each)
	}
}

func described(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return cmd.Long
	}
	return cmd.Short + "."
}

// synopsis is a command's usage line.
func synopsis(cmd *cobra.Command) string {
	if cmd.HasAvailableSubCommands() && cmd.HasParent() && cmd.Args == nil {
		return cmd.CommandPath() + " COMMAND"
	}
	return strings.TrimSpace(cmd.UseLine())
}

// flagRows lists flags with their placeholders, and what they do.
func flagRows(fs *pflag.FlagSet) (rows [][2]string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		placeholder, what := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if placeholder != "" {
			name += " " + placeholder
		}
		switch f.DefValue {
		case "", "false", "[]", "0":
		default:
			what += " (default " + f.DefValue + ")"
		}
		rows = append(rows, [2]string{name, what})
	})
	return rows
}

// reference writes docs/cli.md: every command with its options.
func reference(w io.Writer, root *cobra.Command) {
	fmt.Fprint(w, "# Commands\n\nMade from the program by `make generate`; do not edit.\n\n")
	fmt.Fprintf(w, "Standard output is data, standard error is for people. Exit codes: %s Hooks always exit 0.\n\n", exitStatus)
	fmt.Fprint(w, "| command | |\n|---|---|\n")
	manual(root, func(cmd *cobra.Command) {
		if cmd.HasParent() {
			fmt.Fprintf(w, "| [`%s`](#%s) | %s |\n", strings.TrimPrefix(cmd.CommandPath(), root.Name()+" "), anchor(cmd), cell(cmd.Short))
		}
	})
	fmt.Fprint(w, "\nAll commands take:\n\n")
	optionTable(w, flagRows(root.PersistentFlags()))
	manual(root, func(cmd *cobra.Command) {
		if !cmd.HasParent() {
			return
		}
		fmt.Fprintf(w, "\n## %s\n\n```\n%s\n```\n\n%s\n", cmd.CommandPath(), synopsis(cmd), described(cmd))
		if rows := flagRows(cmd.LocalNonPersistentFlags()); len(rows) > 1 { // --help has every command
			fmt.Fprint(w, "\n")
			optionTable(w, rows)
		}
		if cmd.Example != "" {
			fmt.Fprintf(w, "\n```\n%s\n```\n", strings.TrimRight(cmd.Example, "\n"))
		}
	})
}

func anchor(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func optionTable(w io.Writer, rows [][2]string) {
	fmt.Fprint(w, "| option | |\n|---|---|\n")
	for _, r := range rows {
		if r[0] != "-h, --help" {
			fmt.Fprintf(w, "| `%s` | %s |\n", r[0], cell(r[1]))
		}
	}
}

func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "|", `\|`), "\n", " ") }
