package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newExport(p *program) *cobra.Command {
	var f filterOptions
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
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			chosen := f.project != "" || f.scope != "" || len(f.types)+len(f.tags) > 0 || f.all
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
			return p.export(cmd.Context(), name, format, &f)
		},
	}
	cmd.Flags().StringVar(&format, "format", "tar", "tar (everything) or jsonl (notes)")
	f.addFlags(cmd.Flags())
	return cmd
}

func (p *program) export(ctx context.Context, name, format string, f *filterOptions) error {
	toStdout := name == "-"
	if toStdout && terminal(p.stdout) && format == "tar" {
		return usage("export: name a FILE; a tar file does not belong on a terminal")
	}
	m, err := p.openWalked(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	write := func(w io.Writer) (notes, files int, err error) {
		if format == "jsonl" {
			notes, err = m.exportNotes(ctx, w, f)
			return notes, notes, err
		}
		if !m.Store.ReadOnly() { // what cannot be written does not change
			unlock, err := m.Store.Lock(ctx)
			if err != nil {
				return 0, 0, err
			}
			defer unlock()
		}
		man, err := m.Store.Export(w)
		return man.Notes, len(man.Members), err
	}
	if toStdout {
		out := bufio.NewWriter(p.stdout)
		if _, _, err := write(out); err != nil {
			return err
		}
		return out.Flush()
	}
	notes, files, err := toFile(name, write)
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(struct {
			header
			File  string `json:"file"`
			Notes int    `json:"notes"`
			Files int    `json:"files"`
			Bytes int64  `json:"bytes"`
		}{head("export"), name, notes, files, sizeOf(name)})
	}
	p.printf("export: wrote %s, %s -> %s\n", plural(notes, "note"), size(sizeOf(name)), name)
	return nil
}

// toFile writes a file that is whole or not there. One that exists is not overwritten.
func toFile(name string, write func(io.Writer) (int, int, error)) (notes, files int, err error) {
	if _, err := os.Lstat(name); err == nil {
		return 0, 0, fmt.Errorf("export: %s is there already; name another file", name)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".anamnesis-export-*") // 0600
	if err != nil {
		return 0, 0, fmt.Errorf("export: %w", err)
	}
	out := bufio.NewWriterSize(tmp, 1<<20)
	notes, files, err = write(out)
	if err == nil {
		err = out.Flush()
	}
	if err == nil {
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return 0, 0, errors.Join(fmt.Errorf("export to %s: %w", name, err), os.Remove(tmp.Name()))
	}
	return notes, files, nil
}

// exportNotes writes notes as lines of JSON, oldest first.
func (m *memory) exportNotes(ctx context.Context, w io.Writer, o *filterOptions) (int, error) {
	f, err := o.filter(m)
	if err != nil {
		return 0, err
	}
	rows, err := m.Index.Select(ctx, f, 0)
	if err != nil {
		return 0, err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	n := 0
	for i := len(rows) - 1; i >= 0; i-- {
		full, err := m.whole(rows[i])
		if err != nil {
			m.p.note("left out: %v", err)
			continue
		}
		if err := enc.Encode(full); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// A wholeNote is a note with its body.
type wholeNote struct {
	noteJSON
	Body        string          `json:"body"`
	DerivedFrom []note.ID       `json:"derived_from,omitempty"`
	Evidence    []note.Evidence `json:"evidence,omitempty"`
}

func (m *memory) whole(r index.Row) (wholeNote, error) {
	n, _, _, err := m.Store.Read(r.Ref.Path)
	if err != nil {
		return wholeNote{}, err
	}
	return wholeNote{describe(n), n.Body, n.DerivedFrom, n.Evidence}, nil
}

func newImportBundle(p *program) *cobra.Command {
	var apply, merge, obey bool
	cmd := &cobra.Command{
		Use:   "bundle FILE",
		Short: "Fill the store from a file that export wrote",
		Long: `Fill the store from a file that ` + "`anamnesis export`" + ` wrote. The whole file is checked
before anything is written. A store that holds notes is refused, unless --merge is
given: then what is missing here is added, and what is here stays as it is: what was
forgotten where the bundle was made is erased here only with --obey. What was
forgotten here does not come back.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.importBundle(cmd.Context(), args[0], store.ImportOptions{Merge: merge, Dry: !apply, Obey: obey})
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "do it")
	cmd.Flags().BoolVar(&merge, "merge", false, "into a store that holds notes")
	cmd.Flags().BoolVar(&obey, "obey", false, "erase here what was forgotten where the bundle was made")
	return cmd
}

func (p *program) importBundle(ctx context.Context, name string, o store.ImportOptions) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("import a bundle: %w", err)
	}
	defer f.Close()
	m, err := p.open(ctx, 0)
	if err != nil {
		return err
	}
	defer m.close()
	u, err := m.unpack(ctx, f, o)
	if errors.Is(err, store.ErrPopulated) {
		return &app.Error{Kind: app.Failed, Err: fmt.Errorf("%w: %s; --merge adds what is missing there, also when an import was stopped", err, m.Store.Root())}
	}
	if err != nil {
		return err
	}
	type refusal struct {
		Path string `json:"path"`
		Why  string `json:"why"`
	}
	refused := []refusal{}
	for _, r := range u.Refused {
		refused = append(refused, refusal{r.Path, r.Why})
	}
	if p.json {
		return p.emit(struct {
			header
			Applied   bool      `json:"applied"`
			Notes     int       `json:"notes"`
			Written   int       `json:"written"`
			Same      int       `json:"same"`
			Different []string  `json:"different"`
			Forgotten []string  `json:"forgotten"`
			Foreign   []string  `json:"foreign"`
			Refused   []refusal `json:"refused"`
			Erasing   []string  `json:"erasing"` // tombstones that would erase what stands here
			Erases    []string  `json:"erases"`  // what they would erase, or have erased
		}{
			head("import"), !o.Dry, u.Manifest.Notes, len(u.Written), u.Same,
			append([]string{}, u.Different...), append([]string{}, u.Forgotten...), append([]string{}, u.Foreign...), refused,
			append([]string{}, u.Erasing...), append([]string{}, u.Erases...),
		})
	}
	for _, r := range u.Refused {
		p.printf("import: %s is not taken: %s\n", printable(r.Path), r.Why)
	}
	for _, name := range u.Foreign {
		p.printf("import: %s is no file of a store; it is taken as it stands\n", printable(name))
	}
	for _, d := range u.Different {
		p.printf("import: %s is here already and differs; it stays\n", printable(d))
	}
	for _, d := range u.Forgotten {
		p.printf("import: %s was forgotten here; it does not come back\n", printable(d))
	}
	p.printErasing(u, o)
	if o.Dry {
		p.printf("import: %s would be written, %d here already%s\n", plural(len(u.Written), "file"), u.Same, dryRun(len(u.Written)))
		return nil
	}
	p.printf("import: wrote %s, %d here already; %s in the bundle\n", plural(len(u.Written), "file"), u.Same, plural(u.Manifest.Notes, "note"))
	return nil
}

// printErasing says what the tombstones of a bundle do to what stands here.
func (p *program) printErasing(u store.Unpacked, o store.ImportOptions) {
	verb := "is erased: it was forgotten where the bundle was made"
	switch {
	case !o.Obey:
		verb = "was forgotten where the bundle was made; it stays here"
	case o.Dry:
		verb = "would be erased: it was forgotten where the bundle was made"
	}
	for _, path := range u.Erases {
		p.printf("import: %s %s\n", printable(path), verb)
	}
	if len(u.Erasing) > 0 && !o.Obey {
		p.printf("import: %s not taken; --obey takes what was forgotten there as forgotten here\n", plural(len(u.Erasing), "tombstone"))
	}
}

// unpack imports a bundle and brings everything into step with it.
func (m *memory) unpack(ctx context.Context, f io.ReadSeeker, o store.ImportOptions) (store.Unpacked, error) {
	unlock, err := m.Store.Lock(ctx)
	if err != nil {
		return store.Unpacked{}, err
	}
	u, err := m.Store.Import(f, o)
	if err == nil && !o.Dry {
		_, err = m.Store.Obey()
	}
	if err == nil && !o.Dry && o.Obey {
		err = m.Disallow(u.Erases)
	}
	unlock()
	if err != nil || o.Dry {
		return u, err
	}
	progress := m.p.progress("indexing notes")
	_, err = m.Index.Sync(ctx, index.SyncOptions{Progress: progress.Step})
	progress.Done()
	return u, err
}
