package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/cli/demo"

	"github.com/spf13/cobra"
)

func newDemo(p *program) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work on sample sessions, in a throw-away store",
		Long: `Capture three sample sessions, index and search them, and print what the next
session would be shown. Nothing of yours is read or written: the store is a
temporary folder that is deleted at the end (--keep leaves it).`,
		Example: `  anamnesis demo`,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.demo(cmd.Context(), keep) },
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the store for a look around")
	return cmd
}

func (p *program) demo(ctx context.Context, keep bool) (err error) {
	dir, err := os.MkdirTemp("", "anamnesis-demo-")
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if !keep {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	a, err := demo.Run(ctx, p.host(), dir)
	return render(p, "demo", a, err, func(a demo.Answer) {
		p.printf("A throw-away store in %s\n", a.Store)
		for _, s := range a.Steps {
			p.printDemoStep(a.Store, s)
		}
		if keep {
			p.printf("\nThe store stays in %s; look around with\n  ANAMNESIS_HOME=%s anamnesis list\n", a.Store, a.Store)
			return
		}
		p.printf("\nThe store is deleted now (--keep leaves it). `anamnesis init` connects your agents for real.\n")
	})
}

func (p *program) printDemoStep(store string, s demo.Step) {
	if s.Chapter != "" {
		p.printf("\n%s\n", s.Chapter)
	}
	p.printf("   %-*s %8s\n", p.left(12, 64), s.What, took(s.Took))
	if s.Path != "" {
		name, err := filepath.Rel(store, s.Path)
		if err != nil {
			name = s.Path
		}
		p.printf("     %s\n", name)
	}
	for _, line := range s.Lines {
		p.printf("     %s\n", line)
	}
	if s.Quoted != "" {
		p.printf("\n   %s\n", s.Quoted)
	}
	if s.Quote == "" {
		return
	}
	for line := range strings.Lines(strings.TrimRight(s.Quote, "\n")) {
		p.printf("   │ %s\n", strings.TrimRight(line, "\n"))
	}
}
