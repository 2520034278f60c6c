package cli

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// The pages are made from the command tree by `make generate`, with cobra's own
// generator. It is no part of the program: the start of every hook would pay for
// its tables.
//
//go:embed manual
var pages embed.FS

// exitStatus says what the program's exit codes mean.
const exitStatus = "0 done, 1 failed, 2 wrong usage, 3 nothing found, 4 a conflict waits for you, " +
	"5 doctor found something wrong, 75 locked by another process; try again."

// pageName is the file of a command's page.
func pageName(commandPath string) string { return strings.ReplaceAll(commandPath, " ", "-") + ".1" }

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
			switch {
			case (dir != "" || markdown) && len(args) > 0 || dir != "" && markdown:
				return usage("man: give one of COMMAND, --dir and --markdown")
			case dir != "":
				n, err := writeManual(dir)
				if err == nil {
					p.printf("man: wrote %s to %s\n", plural(n, "page"), dir)
				}
				return err
			}
			name := "reference.md"
			if !markdown {
				name = pageName(strings.Join(append([]string{cmd.Root().Name()}, args...), " "))
			}
			data, err := pages.ReadFile("manual/" + name)
			if err != nil {
				return usage("man: there is no command %q; `anamnesis --help` lists them", strings.Join(args, " "))
			}
			_, err = p.stdout.Write(data)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the pages of all commands into `FOLDER`")
	cmd.Flags().BoolVar(&markdown, "markdown", false, "write one page of markdown for all commands")
	return cmd
}

// writeManual writes the pages of all commands into a folder.
func writeManual(dir string) (n int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
		return 0, err
	}
	all, err := pages.ReadDir("manual")
	for _, page := range all {
		data, rerr := pages.ReadFile("manual/" + page.Name())
		if rerr != nil || filepath.Ext(page.Name()) != ".1" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, page.Name()), data, 0o644); err != nil { //nolint:gosec // as above
			return n, fmt.Errorf("write manual pages: %w", err)
		}
		n++
	}
	return n, err
}
