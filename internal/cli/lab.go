package cli

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/eval"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
)

// workbench is the user's own store with all that works on it.
func (m *memory) workbench() *eval.Workbench {
	return &eval.Workbench{
		Store: m.Store, Index: m.Index, Engine: m.Engine, Injector: m.Injector, Ingester: m.Ingester,
		Start: agent.InjectStart, End: agent.InjectEnd, Close: m.close,
	}
}

// lab tries things on copies of the store. What a model is asked there app.Counts
// in the budget of the store itself.
func (p *program) lab(m *memory, purpose string) eval.Lab {
	return eval.Lab{
		Live: m.Store,
		Setup: func(ctx context.Context, root string, disk store.Disk) (*eval.Workbench, error) {
			box := *p
			cfg := *p.cfg
			cfg.Home, cfg.UserHome, cfg.Others.Native = root, root, false
			box.cfg, box.disk, box.lasting = &cfg, disk, true
			c, err := box.open(ctx, 0)
			if err != nil {
				return nil, err
			}
			return c.workbench(), nil
		},
		Reflector: func(w *eval.Workbench) eval.Reflector {
			g, _ := m.Generator(purpose)
			return reflection.New(w.Store, w.Index, w.Ingester, m.Redactor, g, p.cfg.Reflection)
		},
	}
}

// A stageBar draws the progress of work that has several stages.
type stageBar struct {
	p    *program
	what string
	bar  app.Progress
}

func (p *program) stages() *stageBar { return &stageBar{p: p} }

func (s *stageBar) step(what string, done, total int) {
	if s.bar == nil || what != s.what {
		s.done()
		s.what, s.bar = what, s.p.progress(what)
	}
	s.bar.Step(done, total)
}

func (s *stageBar) done() {
	if s.bar != nil {
		s.bar.Done()
	}
}

func sortedKeys(c app.Counts) []string { return slices.Sorted(maps.Keys(c)) }

// cutHome returns what stands behind ~/ in a path.
func cutHome(path string) (string, bool) {
	rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~/")
	return rest, ok
}

// subcommands lists the names of a command's subcommands.
func subcommands(cmd *cobra.Command) string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, ", ")
}
