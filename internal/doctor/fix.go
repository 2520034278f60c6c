package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"anamnesis/internal/store"
)

// A Fix is one step that mends what a check found. Nothing has been done when
// it is returned; Do carries it out, and running it twice changes nothing more.
type Fix struct {
	Check string // id
	What  string // one sentence
	Asks  bool   // it deletes something that cannot be made again: ask for it alone
	Do    func(context.Context) error
}

// Plan returns what would mend the results, in the order in which it has to be
// done. What needs a decision of the owner (a secret, a conflict, a held note, a
// given-up session) is in no plan.
func Plan(_ context.Context, p *Target, results []Result) []Fix {
	var plan []Fix
	for _, f := range fixes {
		i := slices.IndexFunc(results, func(r Result) bool { return r.ID == f.check })
		if i >= 0 && results[i].State != OK && results[i].State != Skipped {
			for _, fix := range f.plan(p, results[i]) {
				if !slices.ContainsFunc(plan, func(x Fix) bool { return x.What == fix.What }) { // one cure for two checks
					plan = append(plan, fix)
				}
			}
		}
	}
	return plan
}

// fixes lists the checks that know a cure. Permissions come first: the others
// write.
var fixes = []struct {
	check string
	plan  func(*Target, Result) []Fix
}{
	{"permissions", planPermissions},
	{"leftovers", planLeftovers},
	{"hooks", planHooks},
	{"hook-program", planHooks},
	{"graph", planGraph},
	{"index", planReindex},
	{"drift", planReindex},
	{"spool", planDrain},
	{"set-aside", planSetAside},
}

func planPermissions(p *Target, _ Result) []Fix {
	var plan []Fix
	if p.Store == nil {
		return nil
	}
	root := p.Store.Root()
	for _, path := range exposed(root) {
		plan = append(plan, Fix{
			Check: "permissions", What: "make " + path + " private to you",
			Do: func(context.Context) error {
				if err := makePrivate(path, path == root); err != nil {
					return fmt.Errorf("make %s private: %w; check who owns it", path, err)
				}
				return nil
			},
		})
	}
	return plan
}

func planLeftovers(p *Target, _ Result) []Fix {
	if p.Store == nil || p.Store.ReadOnly() {
		return nil
	}
	return []Fix{{
		Check: "leftovers", What: "remove temporary files that are older than an hour",
		Do: func(context.Context) error { store.Sweep(p.Store); return nil },
	}}
}

// planHooks reinstalls the hooks of the agents whose settings need it.
func planHooks(p *Target, r Result) []Fix {
	var plan []Fix
	for _, h := range p.Harnesses {
		if h.Install == nil || r.State == Info || h.Plugin != "" {
			continue // a changed time limit may be meant; beside a plugin there is no second set
		}
		plan = append(plan, Fix{Check: r.ID, What: "install the hooks in " + h.settings() + ", as `anamnesis init` does", Do: h.Install})
	}
	return plan
}

func planGraph(p *Target, _ Result) []Fix {
	if p.MendGraph == nil || p.Store == nil || p.Store.ReadOnly() {
		return nil
	}
	return []Fix{{
		Check: "graph", What: "mend the files of entities, keep what they said in the history of their notes, and bring the index into step",
		Do: p.MendGraph,
	}}
}

func planReindex(p *Target, r Result) []Fix {
	if p.Reindex == nil {
		return nil
	}
	return []Fix{{Check: r.ID, What: "rebuild the index from the notes", Do: p.Reindex}}
}

func planDrain(p *Target, _ Result) []Fix {
	if p.Drain == nil {
		return nil
	}
	return []Fix{{Check: "spool", What: "capture the sessions that wait", Do: p.Drain}}
}

func planSetAside(p *Target, _ Result) []Fix {
	if p.Store == nil || p.Store.ReadOnly() {
		return nil
	}
	var plan []Fix
	paths, _ := setAside(p.Store.Root())
	for _, path := range paths {
		plan = append(plan, Fix{
			Check: "set-aside", What: "delete " + path + ", which another program made", Asks: true,
			Do: func(context.Context) error {
				if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("delete %s: %w", path, err)
				}
				return nil
			},
		})
	}
	return plan
}
