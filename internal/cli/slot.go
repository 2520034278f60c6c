package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"

	"github.com/spf13/cobra"
)

func newSlot(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "slot",
		Short: "Edit the short texts that every session is shown",
		Long: `A slot is a short text that every session is shown at its start, before the notes: who
you are, what you prefer, what a project is about. You write the curated ones, and they
travel with the notes. This machine keeps three on its own from its sessions: open items,
commands that fail again and again, files in work. These never leave it.

A slot of a project is shown in the place of one of the same name for all projects.
The setting inject.slots.on tells none of them.`,
		Example: `  anamnesis slot list
  anamnesis slot edit persona 'I write Go and dislike frameworks.'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.slots(cmd, "") },
	}
	cmd.AddCommand(
		newSlotList(p), newSlotShow(p),
		newSlotText(p, ingest.ReplaceSlot, "edit NAME [TEXT]", "Rewrite a slot, in your editor or from TEXT, a file or standard input"),
		newSlotText(p, ingest.AppendSlot, "append NAME TEXT", "Add a line to a slot"),
		newSlotChange(p, ingest.ClearSlot, "Clear a slot"),
		newSlotChange(p, ingest.PinSlot, "Let nobody but you change a slot"),
		newSlotChange(p, ingest.UnpinSlot, "Let agents change a slot again"),
		newSlotLimit(p),
	)
	return cmd
}

// slotOptions say whose slot it is.
type slotOptions struct {
	project string
	global  bool
	agent   bool // an agent wrote it, whoever runs the command
	file    string
}

func (o *slotOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.project, "project", "", "project `KEY` (default: the one of this folder; all projects for persona, user_preferences "+
		"and tool_guidelines)")
	f.BoolVar(&o.global, "global", false, "the slot for all projects")
	cmd.MarkFlagsMutuallyExclusive("project", "global")
}

func newSlotList(p *program) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the slots that a session here is shown, and the empty ones",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.slots(cmd, project) },
	}
	cmd.Flags().StringVar(&project, "project", "", "project `KEY` (default: the one of this folder)")
	return cmd
}

func (p *program) slots(cmd *cobra.Command, key string) error {
	return ask(p, cmd, "slot", func(ctx context.Context, r *app.Rooms) (hooks.SlotsAnswer, error) {
		return hooks.Slots(ctx, r, key)
	}, func(a hooks.SlotsAnswer) {
		for _, s := range a.Slots {
			size := "empty"
			if s.ID != "" {
				size = fmt.Sprintf("%d of %d", s.Size, s.Limit)
			}
			marks := s.Doc
			if s.ID != "" {
				marks = firstLine(s.Text, 200)
			}
			switch {
			case s.Hidden:
				marks = "(this project has its own) " + marks
			case s.Pinned:
				marks = "(pinned) " + marks
			}
			of := "project"
			switch {
			case s.Automatic:
				of = "machine"
			case s.Project == note.Global:
				of = "all"
			}
			before := fmt.Sprintf("%-16s  %-7s  %-13s  ", s.Name, of, size)
			p.printf("%s%s\n", before, p.rest(before, marks, 80))
		}
	})
}

func newSlotShow(p *program) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print a slot",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask(p, cmd, "slot show", func(ctx context.Context, r *app.Rooms) (hooks.SlotView, error) {
				return hooks.Slot(ctx, r, project, args[0])
			}, func(s hooks.SlotView) {
				if s.ID == "" {
					p.note("%s is empty; `anamnesis slot edit %s` fills it", s.Name, s.Name)
					return
				}
				p.printf("%s\n", s.Text)
			})
		},
	}
	cmd.Flags().StringVar(&project, "project", "", "project `KEY` (default: the one of this folder)")
	return cmd
}

// newSlotText is a command that gives a slot a text.
func newSlotText(p *program, change ingest.SlotChange, use, short string) *cobra.Command {
	var o slotOptions
	verb, _, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "slot "+verb, app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Written, error) {
				e := ingest.SlotEdit{Change: change, Name: args[0], Project: o.project, Text: strings.Join(args[1:], " "), By: p.author()}
				if o.agent {
					e.By = ingest.Agent
				}
				if len(args) == 1 {
					text, err := p.slotText(ctx, r, o, args[0], change)
					if err != nil {
						return app.Written{}, err
					}
					e.Text = text
				}
				return p.reportWritten(hooks.EditSlot(ctx, r, e, o.global))
			}, p.printWritten("slot "+verb))
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.file, "file", "", "read the text from `FILE`; - is standard input")
	agentFlag(cmd.Flags(), &o.agent)
	return cmd
}

// slotText reads the text of a slot: from a file, from standard input, or else from the
// user's editor, in which the text as it stands is opened.
func (p *program) slotText(ctx context.Context, r *app.Rooms, o slotOptions, name string, change ingest.SlotChange) (string, error) {
	if o.file != "" || !terminal(p.stdin) || change == ingest.AppendSlot {
		return p.body(addOptions{file: o.file})
	}
	key := o.project
	if o.global {
		key = note.Global
	}
	was, err := hooks.Slot(ctx, r, key, name)
	if err != nil && !note.ValidSlotName(name) {
		return "", err
	}
	dir, err := os.MkdirTemp("", "anamnesis-slot-*")
	if err != nil {
		return "", fmt.Errorf("edit slot %s: %w", name, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	at := filepath.Join(dir, name+".md")
	if err = os.WriteFile(at, []byte(was.Text+"\n"), 0o600); err == nil {
		err = p.edit(ctx, at)
	}
	if err != nil {
		return "", fmt.Errorf("edit slot %s: %w; nothing was changed", name, err)
	}
	return p.body(addOptions{file: at})
}

// newSlotChange is a command that changes a slot without a text.
func newSlotChange(p *program, change ingest.SlotChange, short string) *cobra.Command {
	var o slotOptions
	cmd := &cobra.Command{
		Use:   string(change) + " NAME",
		Short: short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.changeSlot(cmd, ingest.SlotEdit{Change: change, Name: args[0], Project: o.project, By: p.author()}, o)
		},
	}
	o.flags(cmd)
	return cmd
}

func newSlotLimit(p *program) *cobra.Command {
	var o slotOptions
	cmd := &cobra.Command{
		Use:   "limit NAME CHARACTERS",
		Short: "Give a slot another size",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			limit, err := strconv.Atoi(args[1])
			if err != nil {
				return usage("slot limit: %q is no number of characters", args[1])
			}
			e := ingest.SlotEdit{Change: ingest.LimitSlot, Name: args[0], Project: o.project, Limit: limit, By: p.author()}
			return p.changeSlot(cmd, e, o)
		},
	}
	o.flags(cmd)
	return cmd
}

func (p *program) changeSlot(cmd *cobra.Command, e ingest.SlotEdit, o slotOptions) error {
	command := "slot " + string(e.Change)
	return run(p, cmd, command, app.OpenWalked, func(ctx context.Context, r *app.Rooms) (app.Written, error) {
		return p.reportWritten(hooks.EditSlot(ctx, r, e, o.global))
	}, p.printWritten(command))
}
