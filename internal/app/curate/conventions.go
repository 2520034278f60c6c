package curate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store/project"
)

// ConventionsAnswer is the page of conventions of a project.
type ConventionsAnswer struct {
	Project     string           `json:"project"`
	Conventions []ConventionView `json:"conventions"`
	Text        string           `json:"text"`
	File        string           `json:"file,omitempty"`   // that was written
	Result      string           `json:"result,omitempty"` // written or unchanged
}

// A ConventionView is one line of the page.
type ConventionView struct {
	ID        note.ID `json:"id"`
	Statement string  `json:"statement"`
	Category  string  `json:"category"`
	Evidence  int     `json:"evidence"`
	Reviewed  bool    `json:"reviewed"`
}

// ConventionsOptions say which page, and where it goes.
type ConventionsOptions struct {
	Project string
	Block   bool   // as a block for a file of somebody else's
	Write   string // into this file; "" writes nothing
}

// Conventions writes the page of conventions of a project. Write puts it into a file: a new
// one, one that is such a page, or, between its marks, one that has the marks of a block.
// Nothing else is ever changed.
func Conventions(ctx context.Context, r *app.Rooms, o ConventionsOptions) (a ConventionsAnswer, err error) {
	id := app.PlaceProject(r.Store, o.Project)
	all, err := app.PlainReflector(r).Conventions(ctx, project.Names(r.Store, id))
	if err != nil {
		return a, err
	}
	a = ConventionsAnswer{Project: id.Key, Conventions: []ConventionView{}}
	for _, c := range all {
		a.Conventions = append(a.Conventions, ConventionView(c))
	}
	if a.Text = reflection.ConventionsPage(id.Key, all); o.Block {
		a.Text = reflection.ConventionsBlock(all)
	}
	if o.Write == "" {
		return a, nil
	}
	if a.File, err = filepath.Abs(o.Write); err != nil {
		return a, err
	}
	if rel, err := filepath.Rel(r.Store.Root(), a.File); err == nil && filepath.IsLocal(rel) {
		return a, app.Usagef("conventions: %s is inside the store; choose a file of the project", a.File)
	}
	changed, err := writePage(a.File, a.Text, reflection.ConventionsBlock(all))
	if err != nil {
		return a, fmt.Errorf("conventions: write %s: %w", a.File, err)
	}
	if a.Result = "unchanged"; changed {
		a.Result = "written"
	}
	return a, nil
}

// maxPage bounds a file into which a block is written, in bytes.
const maxPage = 4 << 20

// writePage puts a page into a file, or a block between the marks of one.
func writePage(file, page, block string) (changed bool, err error) {
	fi, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return true, replaceFile(file, []byte(page), 0o644)
	}
	if err != nil {
		return false, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxPage {
		return false, errors.New("it is no regular file of at most 4 MB, and was left as it is; name the file itself")
	}
	was, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	now := []byte(page)
	if !bytes.HasPrefix(was, []byte(reflection.PageMark)) {
		before, rest, ok := strings.Cut(string(was), reflection.BlockBegin)
		_, after, ended := strings.Cut(rest, reflection.BlockEnd)
		if !ok || !ended || strings.Contains(after, reflection.BlockBegin) {
			return false, fmt.Errorf("somebody else wrote it, and it was left as it is; put the two lines\n%s\n%s\nwhere the block should stand, "+
				"or choose another file", reflection.BlockBegin, reflection.BlockEnd)
		}
		now = []byte(before + strings.TrimSuffix(block, "\n") + after)
	}
	if bytes.Equal(was, now) {
		return false, nil
	}
	return true, replaceFile(file, now, fi.Mode().Perm())
}

// replaceFile writes a file beside its place and renames it there.
func replaceFile(file string, data []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".anamnesis-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone, once it is renamed
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
