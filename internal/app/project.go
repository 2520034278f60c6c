package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"anamnesis/internal/ingest"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/project"
)

// ProjectAnswer is which project a folder belongs to, and why.
type ProjectAnswer struct {
	Key    string   `json:"project"`
	Source string   `json:"source"`
	From   string   `json:"from"`
	Branch string   `json:"branch"`
	Names  []string `json:"names"`
	Asks   string   `json:"asks,omitempty"` // the project that a marker names which came with the clone
}

// WhichProject tells which project the current folder belongs to.
func WhichProject(s *store.Store) ProjectAnswer {
	id := PlaceProject(s, "")
	return ProjectAnswer{id.Key, id.Source, id.From, id.Branch, project.Names(s, id), id.Asks}
}

// AliasesAnswer lists the project aliases.
type AliasesAnswer struct {
	Aliases []AliasView `json:"aliases"`
}

// An AliasView says that one key is another name of a project.
type AliasView struct {
	From    string `json:"from"`
	Project string `json:"project"` // that From means, by all aliases
	To      string `json:"to"`
}

// Aliases lists the project aliases.
func Aliases(s *store.Store) (a AliasesAnswer, err error) {
	all, err := project.Aliases(s)
	for _, alias := range all {
		a.Aliases = append(a.Aliases, AliasView{alias.From, project.Canonical(s, alias.From), alias.To})
	}
	return a, err
}

// AddAlias says that from is another name of the project to. face is the interface that was used.
func AddAlias(ctx context.Context, s *store.Store, face, from, to string) (AliasesAnswer, error) {
	if from == to || from == "" || to == "" {
		return AliasesAnswer{}, Usagef("project alias %q %q: two different names are needed", from, to)
	}
	if err := ingest.AddAlias(store.Deciding(ctx, s, face, "alias"), s, from, to); err != nil {
		return AliasesAnswer{}, err
	}
	return Aliases(s)
}

// MergeFile merges one file of the notes repository for git: the files base, ours
// and theirs are three versions of the file at path. The result goes to ours. conflict
// is the id of a new conflict, "" when nothing was lost. The current folder is the
// repository.
func MergeFile(ctx context.Context, h Host, base, ours, theirs, path string) (conflict string, err error) {
	fail := func(err error) (string, error) {
		return "", fmt.Errorf("merge %s: %w; resolve it by hand", path, err)
	}
	root := h.Config.Home
	if dir, err := os.Getwd(); err == nil && filepath.Base(dir) == "memory" {
		root = filepath.Dir(dir)
	}
	s, err := store.Open(h.storeOptions(root))
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
	merge, err := in.Merger(mergeTree{s})
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
		c, added, err := in.AddConflict(ctx, path, merged, other)
		if err != nil {
			return fail(err)
		}
		if added {
			conflict = string(c.ID)
		}
	}
	return conflict, os.WriteFile(ours, merged, 0o600) // a temporary file of git's
}

// A mergeTree is the tree in which git merges: the other side has moved its notes in it already.
type mergeTree struct{ *store.Store }

// List lists nothing: the tombstones of the tree are those of the store.
func (mergeTree) List() ([]string, error) { return nil, nil }

func (t mergeTree) Read(path string) ([]byte, error) {
	return t.ReadFile(layout.Memory+"/"+path, store.MaxNoteSize)
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
