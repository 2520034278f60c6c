package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The manual is written out of the command tree: pages for man, and docs/cli.md.
// A library does the same, but the start of every hook would pay for its tables
// (0.2 ms, docs/decisions/0010).

func newMan(p *program) *cobra.Command {
	var dir string
	var markdown bool
	cmd := &cobra.Command{
		Use:   "man [COMMAND...]",
		Short: "Write the manual pages",
		Long: `Write the manual page of a command to standard output, or with --dir those of all
commands into a folder. With --markdown it writes all of them as one text.`,
		Example: `  anamnesis man search | man -l -
  anamnesis man --dir ~/.local/share/man/man1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (dir != "" || markdown) && len(args) > 0 || dir != "" && markdown {
				return usage("man: give one of COMMAND, --dir and --markdown")
			}
			if markdown {
				reference(p.stdout, cmd.Root())
				return nil
			}
			if dir != "" {
				n, err := writeManual(cmd.Root(), dir)
				if err == nil {
					p.printf("man: wrote %s to %s\n", plural(n, "page"), dir)
				}
				return err
			}
			page, _, err := cmd.Root().Find(args)
			if err != nil || page.CommandPath() != strings.Join(append([]string{cmd.Root().Name()}, args...), " ") {
				return usage("man: there is no command %q; `anamnesis --help` lists them", strings.Join(args, " "))
			}
			manPage(p.stdout, page)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the pages of all commands into `FOLDER`")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "write one page of markdown for all commands")
	return cmd
}

// manual calls each for the commands that people see, parents first.
func manual(cmd *cobra.Command, each func(*cobra.Command)) {
	if cmd.Hidden || cmd.Name() == "help" || cmd.IsAdditionalHelpTopicCommand() {
		return
	}
	cmd.InitDefaultHelpFlag()
	each(cmd)
	for _, sub := range cmd.Commands() {
		manual(sub, each)
	}
}

func writeManual(root *cobra.Command, dir string) (n int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
		return 0, err
	}
	manual(root, func(cmd *cobra.Command) {
		if err != nil {
			return
		}
		var b strings.Builder
		manPage(&b, cmd)
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		if err = os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o644); err == nil { //nolint:gosec // as above
			n++
		}
	})
	if err != nil {
		return n, fmt.Errorf("write manual pages: %w", err)
	}
	return n, nil
}

// manPage writes a command's page in the language of man (roff, macros of man(7)).
func manPage(w io.Writer, cmd *cobra.Command) {
	title := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(w, ".TH %q 1 \"\" anamnesis \"Anamnesis\"\n.nh\n", strings.ToUpper(title))
	fmt.Fprintf(w, ".SH NAME\n%s \\- %s\n", roff(title), roff(cmd.Short))
	fmt.Fprintf(w, ".SH SYNOPSIS\n\\fB%s\\fP\n", roff(synopsis(cmd)))
	fmt.Fprintf(w, ".SH DESCRIPTION\n%s", paragraphs(described(cmd)))
	own, global := flagRows(cmd.NonInheritedFlags()), flagRows(cmd.InheritedFlags())
	for _, group := range []struct {
		name string
		rows [][2]string
	}{{"OPTIONS", own}, {"OPTIONS OF ALL COMMANDS", global}} {
		if len(group.rows) > 0 {
			fmt.Fprintf(w, ".SH %s\n", group.name)
		}
		for _, row := range group.rows {
			fmt.Fprintf(w, ".TP\n\\fB%s\\fP\n%s\n", roff(row[0]), roff(row[1]))
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(w, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(strings.TrimRight(cmd.Example, "\n")))
	}
	if cmd.Parent() == nil {
		fmt.Fprintf(w, ".SH EXIT STATUS\n%s\n", roff(exitStatus))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-"))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			also = append(also, strings.ReplaceAll(sub.CommandPath(), " ", "-"))
		}
	}
	if len(also) > 0 {
		fmt.Fprintf(w, ".SH SEE ALSO\n\\fB%s\\fP(1)\n", strings.Join(also, "\\fP(1), \\fB"))
	}
}

// exitStatus says what the program's exit codes mean.
const exitStatus = "0 done, 1 failed, 2 wrong usage, 3 nothing found, 4 a conflict waits for you, 5 doctor found something wrong, 75 locked by another process; try again."

// roff escapes a text: backslashes, and points and quotes that begin a line.
func roff(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, `\`, `\e`), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			l = `\&` + l
		}
		lines[i] = strings.ReplaceAll(l, "-", `\-`)
	}
	return strings.Join(lines, "\n")
}

// paragraphs writes a text with its paragraphs; lines that are indented stay as they are.
func paragraphs(s string) string {
	var b strings.Builder
	for para := range strings.SplitSeq(strings.TrimSpace(s), "\n\n") {
		if strings.HasPrefix(para, "  ") || strings.Contains(para, "\n  ") {
			fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", roff(para))
			continue
		}
		fmt.Fprintf(&b, ".PP\n%s\n", roff(para))
	}
	return b.String()
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
