package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

type editOptions struct {
	addOptions
	untag      []string
	titleGiven bool
}

func newEdit(p *program) *cobra.Command {
	var o editOptions
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Change a note, in your editor or by flags",
		Long: `Open a note in your editor ($VISUAL, $EDITOR) as it stands in its file: front
matter and body. What you save is looked at before it counts; a text that is no
note changes nothing and stays where the message says. With --title, --body,
--file, --tag or --untag no editor is opened.`,
		Example: `  anamnesis edit 01M7
  anamnesis edit 01M7 --title "Run make proto-gen first" --tag grpc
  anamnesis edit 01M7 --file new-body.md`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.bodyGiven, o.titleGiven = cmd.Flags().Changed("body"), cmd.Flags().Changed("title")
			if o.titleGiven && strings.TrimSpace(o.title) == "" {
				return usage("edit: a title cannot be empty")
			}
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			row, err := app.Resolve(cmd.Context(), m.Rooms, args[0])
			if err != nil {
				return err
			}
			return p.editNote(cmd.Context(), m, row, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.title, "title", "", "the new title")
	f.StringVar(&o.body, "body", "", "the new body, markdown")
	f.StringVar(&o.file, "file", "", "read the new body from `FILE`; - is standard input")
	f.StringSliceVar(&o.tags, "tag", nil, "add a `TAG` (may be repeated)")
	f.StringSliceVar(&o.untag, "untag", nil, "take a `TAG` away (may be repeated)")
	cmd.MarkFlagsMutuallyExclusive("body", "file")
	return cmd
}

func (p *program) editNote(ctx context.Context, m *memory, row index.Row, o editOptions) error {
	n, was, _, err := m.Store.Read(row.Ref.Path)
	if err != nil {
		return err
	}
	var edited []byte
	var kept string // where the text stays when it is refused
	if o.titleGiven || o.bodyGiven || o.file != "" || len(o.tags)+len(o.untag) > 0 {
		edited, err = p.editByFlags(n, was, o)
	} else {
		edited, kept, err = p.editByHand(ctx, row, was)
	}
	if err != nil {
		return err
	}
	out, err := m.Ingester.Edit(ctx, row.ID, was, edited)
	if err != nil {
		if kept != "" {
			err = fmt.Errorf("%w; nothing was changed, your text is in %s", err, kept)
		}
		var field *note.FieldError
		if kept == "" && errors.As(err, &field) {
			return usage("%w", err)
		}
		return err
	}
	if kept != "" {
		_ = os.RemoveAll(filepath.Dir(kept))
	}
	if out.Result == ingest.Unchanged && !p.json {
		p.printf("edit: nothing was changed in %s\n", row.ID)
		return nil
	}
	if err := p.printOutcome(m, "edit", out); err != nil || p.json || out.Result != ingest.Updated {
		return err
	}
	if revs, err := m.Store.History(row.ID); err == nil && len(revs) > 0 {
		p.undoLine("anamnesis restore " + string(row.ID) + "@" + revs[0].Name + " --apply")
	}
	return nil
}

// editByFlags makes the file that the flags ask for.
func (p *program) editByFlags(n *note.Note, was []byte, o editOptions) ([]byte, error) {
	now := n.Clone()
	if o.titleGiven {
		now.Title = o.title
	}
	if o.bodyGiven || o.file != "" {
		o.addOptions.title = "-" // standard input is read only when asked for
		body, err := p.body(o.addOptions)
		if err != nil {
			return nil, err
		}
		now.Body = strings.TrimRight(body, "\n")
	}
	now.AddTags(o.tags...)
	now.Tags = slices.DeleteFunc(now.Tags, func(t string) bool { return slices.Contains(o.untag, t) })
	return now.Rewrite(was)
}

// editByHand opens a copy of the note in the editor and returns what was saved
// and where it stands.
func (p *program) editByHand(ctx context.Context, row index.Row, was []byte) (edited []byte, at string, err error) {
	dir, err := os.MkdirTemp("", "anamnesis-edit-*")
	if err != nil {
		return nil, "", fmt.Errorf("edit note %s: %w", row.ID, err)
	}
	at = filepath.Join(dir, string(row.ID)+".md")
	if err = os.WriteFile(at, was, 0o600); err == nil {
		err = p.edit(ctx, at)
	}
	if err == nil {
		edited, err = os.ReadFile(at)
	}
	if err != nil {
		if now, rerr := os.ReadFile(at); rerr == nil && !bytes.Equal(now, was) {
			return nil, "", fmt.Errorf("edit note %s: %w; nothing was changed, your text is in %s", row.ID, err, at)
		}
		return nil, "", errors.Join(fmt.Errorf("edit note %s: %w", row.ID, err), os.RemoveAll(dir))
	}
	return edited, at, nil
}

func newSupersede(p *program) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use:   "supersede OLD NEW",
		Short: "Say that one note replaces another",
		Long: `Say that the note NEW replaces the note OLD. OLD is kept and not recalled any more;
--undo takes that back.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := p.openWalked(cmd.Context())
			if err != nil {
				return err
			}
			defer m.close()
			old, err := app.Resolve(cmd.Context(), m.Rooms, args[0])
			if err != nil {
				return err
			}
			by, err := app.Resolve(cmd.Context(), m.Rooms, args[1])
			if err != nil {
				return err
			}
			return p.supersede(cmd.Context(), m, old, by, undo)
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "NEW does not replace OLD")
	return cmd
}

func (p *program) supersede(ctx context.Context, m *memory, old, by index.Row, undo bool) error {
	out, err := m.Ingester.Supersede(ctx, old.ID, by.ID, undo)
	if err != nil {
		return err
	}
	if out.Stale != nil {
		p.note("the note is safe, but not in the index yet: %v; `anamnesis reindex` mends that", out.Stale)
	}
	changed := out.Result == ingest.Updated
	back := "anamnesis supersede " + string(old.ID) + " " + string(by.ID)
	if !undo {
		back += " --undo"
	}
	if p.json {
		return p.emit(struct {
			header
			Old     note.ID `json:"old"`
			New     note.ID `json:"new"`
			Undone  bool    `json:"undone"`
			Changed bool    `json:"changed"`
			Undo    string  `json:"undo"`
		}{head("supersede"), old.ID, by.ID, undo, changed, back})
	}
	switch {
	case !changed && undo:
		p.printf("supersede: %s does not replace %s\n", by.ID, old.ID)
		return nil
	case !changed:
		p.printf("supersede: %s replaces %s already\n", by.ID, old.ID)
		return nil
	case undo:
		p.printf("supersede: %s %q is recalled again\n", old.ID, firstLine(old.Title, 60))
	default:
		p.printf("supersede: %s %q is kept and not recalled; %s %q replaces it\n", old.ID, firstLine(old.Title, 60), by.ID, firstLine(by.Title, 60))
	}
	p.undoLine(back)
	return nil
}
