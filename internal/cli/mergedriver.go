package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"anamnesis/internal/ingest"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

func newMergeDriver(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS PATH",
		Short: "Merge one file for git",
		Long: `Merge two versions of a file of the notes repository, as sync does, and write the
result to OURS. git runs it for people who pull by hand; sync enters it into the
configuration of the repository. What lost is kept in ` + "`anamnesis conflicts`" + `. It
fails, and leaves the conflict to git, only when it cannot decide.`,
		Hidden: true,
		Args:   cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.mergeDriver(cmd.Context(), args[0], args[1], args[2], args[3])
		},
	}
}

func (p *program) mergeDriver(ctx context.Context, base, ours, theirs, path string) error {
	fail := func(err error) error { return fmt.Errorf("merge %s: %w; resolve it by hand", path, err) }
	s, err := p.treeStore()
	if err != nil {
		return fail(err)
	}
	var versions [3][]byte
	for i, name := range []string{base, ours, theirs} {
		if versions[i], err = readVersion(name); err != nil {
			return fail(err)
		}
	}
	if len(versions[0]) == 0 {
		versions[0] = nil // git's way to say that there is none
	}
	// The tombstones of the other side are not known here: a note that it forgot
	// is dealt with by the next sync.
	in := ingest.NewIncoming(s)
	merge, err := in.Merger(os.DirFS(s.Path("memory")))
	if err != nil {
		return fail(err)
	}
	merged, other, err := merge(path, versions[0], versions[1], versions[2])
	if err != nil {
		return fail(err)
	}
	if merged == nil {
		return fail(fmt.Errorf("the note was forgotten; run git rm -- %s", path))
	}
	if other != nil {
		c, added, err := in.AddConflict(path, merged, other)
		if err != nil {
			return fail(err)
		}
		if added {
			p.note("%s has two versions; `anamnesis conflicts show %s` shows them", path, c.ID)
		}
	}
	return os.WriteFile(ours, merged, 0o600) // a temporary file of git's
}

// treeStore opens the store whose repository git works in: its folder is the
// present one.
func (p *program) treeStore() (*store.Store, error) {
	root := p.cfg.Home
	if dir, err := os.Getwd(); err == nil && filepath.Base(dir) == "memory" {
		root = filepath.Dir(dir)
	}
	return store.Open(store.Options{Root: root, Home: p.cfg.UserHome, Disk: p.disk})
}

// readVersion reads one of the files that git made for a merge.
func readVersion(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, store.MaxNoteSize+1))
	if err == nil && len(data) > store.MaxNoteSize {
		err = fmt.Errorf("%s: %w", name, store.ErrTooLarge)
	}
	return append([]byte{}, data...), err
}
