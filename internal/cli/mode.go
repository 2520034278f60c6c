package cli

import (
	"maps"
	"os"
	"slices"
	"strings"

	"anamnesis/internal/app/hooks"

	"github.com/spf13/cobra"
)

func newMode(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mode",
		Short: "Kinds of work: which learnings there are, what is shown, in which language",
		Long: `A mode says what kind of work is done: which types of learnings there are, which of them
a session is shown at its start, in which language a model writes notes, and settings of
how much is shown. The program has two, engineering and writing. Your own stand in the
folder modes of the store, NAME.json each; PARENT--CHANGE.json changes another one: maps
key by key, lists whole.

A project chooses a mode by its name, in its file .anamnesis/config.json. REFLECT_MODE
comes before that, and the setting mode after it. A mode sets no more than what is shown
and in which order; what you set yourself comes before it.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.modes() },
	}
	cmd.AddCommand(newModeList(p), newModeShow(p), newModeSet(p))
	return cmd
}

func newModeList(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the modes that can be chosen",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return p.modes() },
	}
}

func (p *program) modes() error {
	return render(p, "mode", hooks.WorkModes(p.cfg), nil, func(a hooks.ModesAnswer) {
		for _, m := range a.Modes {
			mark := " "
			if m.Chosen {
				mark = "*"
			}
			p.printf("%s %-20s %s\n", mark, firstLine(m.ID, 64), firstLine(m.Description, 100))
			if m.Wrong != "" {
				p.printf("    %s\n", firstLine(m.Wrong, 200))
			}
		}
	})
}

func newModeShow(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show a mode; without a name the one that is in force here",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := hooks.ModeOf(p.cfg, strings.Join(args, ""))
			return render(p, "mode", m, err, p.printMode)
		},
	}
}

func (p *program) printMode(m hooks.ModeView) {
	p.printf("%s: %s\n%s\n", firstLine(m.ID, 64), firstLine(m.Name, 100), firstLine(m.Description, 300))
	if m.Chosen {
		p.printf("in force here (%s)\n", m.From)
	}
	for _, t := range m.Types {
		glyph := t.WorkGlyph
		if glyph == "" {
			glyph = t.Glyph
		}
		p.printf("  %s %-14s %s\n", firstLine(glyph, 4), firstLine(t.ID, 40), firstLine(t.Description, 80))
	}
	if len(m.ShownTypes) > 0 {
		p.printf("shown at session start: %s\n", firstLine(strings.Join(m.ShownTypes, ", "), 200))
	}
	if m.Directive != "" {
		p.printf("models are asked: %s\n", firstLine(m.Directive, 200))
	}
	for _, key := range slices.Sorted(maps.Keys(m.Settings)) {
		p.printf("sets: %s\n", firstLine(key, 100))
	}
}

func newModeSet(p *program) *cobra.Command {
	var here bool
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Choose a mode: for you, or with --here for the project of this folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := ""
			if here {
				var err error
				if dir, err = os.Getwd(); err != nil {
					return err
				}
			}
			m, err := hooks.SetMode(p.host(), args[0], dir)
			return render(p, "mode", m, err, func(m hooks.ModeView) {
				p.printf("mode %s is set (%s)\n", firstLine(m.ID, 64), firstLine(m.From, 300))
			})
		},
	}
	cmd.Flags().BoolVar(&here, "here", false, "write it into .anamnesis/config.json of this folder, for all who work on the project")
	return cmd
}
