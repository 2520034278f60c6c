package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

type editOptions struct {
	addOptions
	untag      []string
	titleGiven bool
	whenGiven  bool
	aboutGiven bool
}

func newEdit(p *program) *cobra.Command {
	var o editOptions
	cmd := &cobra.Command{
		Use:   "edit ID",
		Short: "Change a note, in your editor or by flags",
		Long: `Open a note in your editor ($VISUAL, $EDITOR) as it stands in its file: front
matter and body. What you save is checked before it is written; a text that is not a
note changes nothing, and the message says where it was left. With --title, --body,
--file, --tag, --untag or --when no editor is opened.`,
		Example: `  anamnesis edit 9KQT
  anamnesis edit 9KQT --title "Run make proto-gen first" --tag grpc
  anamnesis edit 9KQT --when "cmd:git push --force*" --when path:.github/**
  anamnesis edit 9KQT --file new-body.md`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.bodyGiven, o.titleGiven = cmd.Flags().Changed("body"), cmd.Flags().Changed("title")
			o.whenGiven, o.aboutGiven = cmd.Flags().Changed("when"), cmd.Flags().Changed("about")
			if o.titleGiven && strings.TrimSpace(o.Title) == "" {
				return usage("edit: a title cannot be empty")
			}
			return run(p, cmd, "edit", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Written, error) {
				return p.editNote(ctx, r, args[0], o)
			}, func(w app.Written) {
				if w.Outcome.Result == ingest.Unchanged {
					p.printf("edit: nothing was changed in %s\n", w.ID)
					return
				}
				p.printWritten("edit")(w)
				p.undoLine(w.Undo)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Title, "title", "", "the new title")
	f.StringVar(&o.Body, "body", "", "the new body, markdown")
	f.StringVar(&o.file, "file", "", "read the new body from `FILE`; - is standard input")
	f.StringSliceVar(&o.Tags, "tag", nil, "add a `TAG` (may be repeated)")
	f.StringSliceVar(&o.untag, "untag", nil, "take a `TAG` away (may be repeated)")
	f.StringVar(&o.About, "about", "", "its `SUBJECT` from now on; \"\" takes it away")
	rivalFlags(cmd, &o.addOptions)
	f.StringArrayVar(&o.When, "when", nil, "its `TRIGGER`s from now on, as of add (may be repeated); \"\" takes them all away")
	cmd.MarkFlagsMutuallyExclusive("body", "file")
	return cmd
}

// editNote changes a note by the flags, or by hand in a copy that is looked at
// before it counts.
func (p *program) editNote(ctx context.Context, r *app.Rooms, name string, o editOptions) (app.Written, error) {
	e, err := app.ReadEditable(ctx, r, name)
	if err != nil {
		return app.Written{}, err
	}
	change, err := p.editOf(o)
	if err != nil {
		return app.Written{}, err
	}
	if !change.Empty() {
		edited, err := e.With(change)
		if err != nil {
			return app.Written{}, err
		}
		w, err := p.applyEdit(ctx, r, e, edited, o.rival())
		var field *note.FieldError
		if errors.As(err, &field) {
			err = usage("%w", err)
		}
		return w, err
	}
	edited, at, err := p.editByHand(ctx, e)
	if err != nil {
		return app.Written{}, err
	}
	w, err := p.applyEdit(ctx, r, e, edited, o.rival())
	if err != nil {
		return w, fmt.Errorf("%w; nothing was changed, your text is in %s", err, at)
	}
	_ = os.RemoveAll(filepath.Dir(at))
	return w, nil
}

// applyEdit writes an edited note. Where it contradicts another one of the user, it asks first.
func (p *program) applyEdit(ctx context.Context, r *app.Rooms, e app.Editable, edited []byte, rival ingest.Rival) (app.Written, error) {
	return p.reportWritten(p.unlessRival("edit", func(rival ingest.Rival) (app.Written, error) {
		e.Rival = rival
		return app.ApplyEdit(ctx, r, e, edited)
	}, rival))
}

// editOf makes the change that the flags ask for; an empty one asks for the editor.
func (p *program) editOf(o editOptions) (app.Edit, error) {
	e := app.Edit{Tag: o.Tags, Untag: o.untag}
	if o.titleGiven {
		e.Title = &o.Title
	}
	if o.aboutGiven {
		e.About = &o.About
	}
	if o.whenGiven {
		e.When = &o.When
	}
	if o.bodyGiven || o.file != "" {
		o.addOptions.Title = "-" // standard input is read only when asked for
		body, err := p.body(o.addOptions)
		if err != nil {
			return e, err
		}
		e.Body = &body
	}
	return e, nil
}

// editByHand opens a copy of the note in the editor and returns what was saved
// and where it stands.
func (p *program) editByHand(ctx context.Context, e app.Editable) (edited []byte, at string, err error) {
	dir, err := os.MkdirTemp("", "anamnesis-edit-*")
	if err != nil {
		return nil, "", fmt.Errorf("edit note %s: %w", e.ID, err)
	}
	at = filepath.Join(dir, string(e.ID)+".md")
	if err = os.WriteFile(at, e.File, 0o600); err == nil {
		err = p.edit(ctx, at)
	}
	if err == nil {
		edited, err = os.ReadFile(at)
	}
	if err != nil {
		if now, rerr := os.ReadFile(at); rerr == nil && !bytes.Equal(now, e.File) {
			return nil, "", fmt.Errorf("edit note %s: %w; nothing was changed, your text is in %s", e.ID, err, at)
		}
		return nil, "", errors.Join(fmt.Errorf("edit note %s: %w", e.ID, err), os.RemoveAll(dir))
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
			return run(p, cmd, "supersede", app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.SupersedeAnswer, error) {
				return app.Supersede(ctx, r, args[0], args[1], undo)
			}, p.printSuperseded)
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "NEW does not replace OLD")
	return cmd
}

func (p *program) printSuperseded(a app.SupersedeAnswer) {
	old, by := firstLine(a.OldTitle, 60), firstLine(a.NewTitle, 60)
	switch {
	case !a.Changed && a.Undone:
		p.printf("supersede: %s does not replace %s\n", a.New, a.Old)
		return
	case !a.Changed:
		p.printf("supersede: %s replaces %s already\n", a.New, a.Old)
		return
	case a.Undone:
		p.printf("supersede: %s %q is recalled again\n", a.Old, old)
	default:
		p.printf("supersede: %s %q is kept and not recalled; %s %q replaces it\n", a.Old, old, a.New, by)
	}
	p.undoLine(a.Undo)
}
