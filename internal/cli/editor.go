package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"anamnesis/internal/app"
	"anamnesis/internal/connect"
	"anamnesis/internal/store"
)

// editConflict lets the user write the note out of both versions, in a copy
// that is looked at before it counts. A copy that does not pass stays.
func (p *program) editConflict(ctx context.Context, s *store.Store, name string) ([]byte, error) {
	c, err := app.ShowConflict(s, name)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "anamnesis-edit-*")
	if err != nil {
		return nil, fmt.Errorf("edit conflict %s: %w", c.ID, err)
	}
	at := filepath.Join(dir, filepath.Base(c.Path))
	if err := os.WriteFile(at, []byte(c.EditText()), 0o600); err != nil {
		return nil, fmt.Errorf("edit conflict %s: %w", c.ID, err)
	}
	if err := p.edit(ctx, at); err != nil {
		return nil, errors.Join(fmt.Errorf("edit conflict %s: %w", c.ID, err), os.RemoveAll(dir))
	}
	edited, err := os.ReadFile(at)
	if err == nil {
		err = c.CheckEdited(s, edited)
	}
	if err != nil {
		return nil, fmt.Errorf("edit conflict %s: %w; nothing was changed, your text is in %s", c.ID, err, at)
	}
	return edited, os.RemoveAll(dir)
}

// edit opens a file in the user's editor and waits for it.
func (p *program) edit(ctx context.Context, at string) error {
	env := p.environ(nil)
	visual, _ := env.Lookup("VISUAL")
	editor, _ := env.Lookup("EDITOR")
	words := connect.Split(cmp.Or(visual, editor))
	if len(words) == 0 {
		return errors.New("no editor is set; set EDITOR, such as EDITOR=nano")
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], at)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.stdin, p.stderr, p.stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run the editor %s: %w", words[0], err)
	}
	return nil
}
