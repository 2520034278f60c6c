package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// editConflict lets the user write the note out of both versions, in a copy
// that is looked at before it counts. A copy that does not pass stays.
func (p *program) editConflict(ctx context.Context, s *store.Store, c store.Conflict) ([]byte, error) {
	kept, other, err := sides(s, c)
	if err != nil {
		return nil, err
	}
	text := string(other)
	if kept != nil {
		text = app.Marked(string(kept), text)
	}
	dir, err := os.MkdirTemp("", "anamnesis-edit-*")
	if err != nil {
		return nil, fmt.Errorf("edit conflict %s: %w", c.ID, err)
	}
	at := filepath.Join(dir, filepath.Base(c.Path))
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("edit conflict %s: %w", c.ID, err)
	}
	if err := p.edit(ctx, at); err != nil {
		return nil, errors.Join(fmt.Errorf("edit conflict %s: %w", c.ID, err), os.RemoveAll(dir))
	}
	edited, err := os.ReadFile(at)
	if err == nil {
		err = whole(edited, c)
	}
	if err != nil {
		return nil, fmt.Errorf("edit conflict %s: %w; nothing was changed, your text is in %s", c.ID, err, at)
	}
	if now, _, err := sides(s, c); err != nil || !bytes.Equal(now, kept) {
		return nil, fmt.Errorf("edit conflict %s: the note changed in the meantime; your text is in %s", c.ID, at)
	}
	return edited, os.RemoveAll(dir)
}

// whole reports what is wrong with an edited file.
func whole(data []byte, c store.Conflict) error {
	for line := range bytes.Lines(data) {
		if l := string(bytes.TrimRight(line, "\r\n")); l == app.MarkKept || l == app.MarkOther {
			return fmt.Errorf("the line %q is still in it", l)
		}
	}
	if !strings.HasSuffix(c.Path, ".md") {
		return nil
	}
	n, err := note.Parse(data)
	if err == nil && n.ID != c.NoteID {
		err = fmt.Errorf("it has the id %s and not %s; an id never changes", n.ID, c.NoteID)
	}
	if err == nil {
		err = n.Validate()
	}
	return err
}

// edit opens a file in the user's editor and waits for it.
func (p *program) edit(ctx context.Context, at string) error {
	env := p.environ(nil)
	visual, _ := env.Lookup("VISUAL")
	editor, _ := env.Lookup("EDITOR")
	words := agent.Split(cmp.Or(visual, editor))
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
