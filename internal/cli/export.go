package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/store/bundle"

	"github.com/spf13/cobra"
)

func newExport(p *program) *cobra.Command {
	var f app.Selection
	var format string
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write everything into one file",
		Long: `Write everything that cannot be rebuilt into one tar file: notes of this machine too,
their history, tombstones, conflicts, the event log, corpora and eval sets. Two
exports of the same store are equal, byte for byte. ` + "`anamnesis import bundle FILE`" + `
fills an empty store from it. Without FILE, or with -, it goes to standard output.

With --format jsonl it writes the notes alone, one JSON object a line; the other flags
say which. Secrets that you wrote into notes are in both: keep the file as you keep
the store.`,
		Example: `  anamnesis export memory.tar
  anamnesis export --format jsonl notes.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen := f.Project != "" || f.Scope != "" || len(f.Types)+len(f.Tags) > 0 || f.All
			switch {
			case format != "tar" && format != "jsonl":
				return usage("export: --format %q: use tar or jsonl", format)
			case format == "tar" && chosen:
				return usage("export: a tar file holds everything; choose notes with --format jsonl")
			}
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			return p.export(cmd, name, format, f)
		},
	}
	cmd.Flags().StringVar(&format, "format", "tar", "tar (everything) or jsonl (notes)")
	selectionFlags(cmd.Flags(), &f)
	return cmd
}

func (p *program) export(cmd *cobra.Command, name, format string, f app.Selection) error {
	toStdout := name == "-"
	switch {
	case toStdout && terminal(p.stdout) && format == "tar":
		return usage("export: name a FILE; a tar file does not belong on a terminal")
	case toStdout && p.json && format == "tar":
		return usage("export: name a FILE; --json says on standard output what was written to it")
	}
	r, err := app.OpenWalked(cmd.Context(), p.host())
	if err != nil {
		return err
	}
	defer r.Close()
	write := func(w io.Writer) (notes, files int, err error) {
		if format == "jsonl" {
			return app.ExportNotes(cmd.Context(), r, w, f)
		}
		return app.Export(cmd.Context(), r, w)
	}
	if toStdout {
		out := bufio.NewWriter(p.stdout)
		if _, _, err := write(out); err != nil {
			return err
		}
		return out.Flush()
	}
	a, err := app.ExportFile(name, write)
	return render(p, "export", a, err, func(a app.ExportAnswer) {
		p.printf("export: wrote %s, %s -> %s\n", plural(a.Notes, "note"), size(a.Bytes), a.File)
	})
}

func newImportBundle(p *program) *cobra.Command {
	var apply, merge, obey, mine bool
	cmd := &cobra.Command{
		Use:   "bundle FILE",
		Short: "Fill the store from a file that export wrote",
		Long: `Fill the store from a file that ` + "`anamnesis export`" + ` wrote. The whole file is checked
before anything is written. A store that holds notes is refused, unless --merge is
given: then what is missing here is added, and what is here stays as it is: what was
forgotten where the bundle was made is erased here only with --obey. What was
forgotten here does not come back.

A file can say of a note that you wrote it, whoever made the file. On a terminal the
command asks once whether these notes are yours; --mine says yes. Otherwise they wait
for ` + "`anamnesis review keep --mine`" + `, and sessions see them as notes to be checked.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := bundle.Options{Merge: merge, Dry: !apply, Obey: obey, Mine: mine}
			return run(p, cmd, "import", now, func(ctx context.Context, r *app.Rooms) (app.BundleAnswer, error) {
				if apply && !mine && p.author() == ingest.Person && terminal(p.stdin) && !p.json {
					var err error
					if o.Mine, err = p.askMine(ctx, r, args[0], o); err != nil {
						return app.BundleAnswer{}, err
					}
				}
				return app.ImportBundle(ctx, r, args[0], o)
			}, func(a app.BundleAnswer) { p.printBundle(a, obey) })
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&merge, "merge", false, "into a store that holds notes")
	cmd.Flags().BoolVar(&mine, "mine", false, "you confirm that you wrote, or found right, what the file says so of")
	cmd.Flags().BoolVar(&obey, "obey", false, "erase here what was forgotten where the bundle was made")
	return cmd
}

// askMine asks a person whether the notes of a bundle that say so are theirs.
func (p *program) askMine(ctx context.Context, r *app.Rooms, file string, o bundle.Options) (bool, error) {
	o.Dry = true
	a, err := app.ImportBundle(ctx, r, file, o)
	if err != nil || a.Claimed == 0 {
		return false, err
	}
	question := fmt.Sprintf("%s of the %d in this file says that you wrote it, or found it right; sessions are asked to follow such notes. "+
		"Did you make this file, and are they yours?", plural(a.Claimed, "note"), a.Notes)
	return p.confirm(bufio.NewReader(p.stdin), question), nil
}

func (p *program) printBundle(a app.BundleAnswer, obey bool) {
	for _, r := range a.Refused {
		p.printf("import: %s is not taken: %s\n", printable(r.Path), r.Why)
	}
	for _, group := range []struct {
		paths []string
		what  string
	}{
		{a.Foreign, "is no file of a store; it is taken as it stands"},
		{a.Different, "is here already and differs; it stays"},
		{a.Forgotten, "was forgotten here; it does not come back"},
	} {
		for _, path := range group.paths {
			p.printf("import: %s %s\n", printable(path), group.what)
		}
	}
	verb := "is erased: it was forgotten where the bundle was made"
	switch {
	case !obey:
		verb = "was forgotten where the bundle was made; it stays here"
	case !a.Applied:
		verb = "would be erased: it was forgotten where the bundle was made"
	}
	for _, path := range a.Erases {
		p.printf("import: %s %s\n", printable(path), verb)
	}
	if len(a.Erasing) > 0 && !obey {
		p.printf("import: %s not taken; --obey takes what was forgotten there as forgotten here\n", plural(len(a.Erasing), "tombstone"))
	}
	if a.Claimed > 0 && !a.Confirmed {
		how := "`anamnesis review keep --mine` confirms them"
		if !a.Applied {
			how = "--mine confirms them"
		}
		p.printf("import: not confirmed as your word: %s; if you made this file, %s\n", plural(a.Claimed, "note"), how)
	}
	if !a.Applied {
		p.printf("import: %s would be written, %d here already%s\n", plural(a.Written, "file"), a.Same, dryRun(a.Written))
		return
	}
	p.printf("import: wrote %s, %d here already; %s in the bundle\n", plural(a.Written, "file"), a.Same, plural(a.Notes, "note"))
}
