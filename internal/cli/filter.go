package cli

import (
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"

	"github.com/spf13/pflag"
)

// filterOptions are the flags with which search and list say which notes they are about.
type filterOptions struct {
	project, scope string
	types, tags    []string
	all            bool
}

func (o *filterOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.project, "project", "", "notes of one project: its `KEY`, or . for the one of this folder (default: all projects)")
	f.StringSliceVar(&o.types, "type", nil, "procedural, semantic or episodic (may be repeated)")
	f.StringVar(&o.scope, "scope", "", "portable or machine-local")
	f.StringSliceVar(&o.tags, "tags", nil, "notes that carry all of these `TAGS`")
	f.BoolVar(&o.all, "all", false, "superseded, archived and expired notes too")
}

// filter checks the flags and makes the filter.
func (o *filterOptions) filter(m *memory) (index.Filter, error) {
	f := index.Filter{Tags: o.tags, Dead: o.all, Now: m.Store.Now()}
	if o.project != "" {
		f.Projects = m.Store.Names(m.p.project(m.Store, o.project))
	}
	for _, t := range o.types {
		if !slices.Contains(note.Types, note.Type(t)) {
			return f, usage("--type %q: use procedural, semantic or episodic", t)
		}
		f.Types = append(f.Types, note.Type(t))
	}
	switch f.Scope = note.Scope(o.scope); f.Scope {
	case "", note.Portable, note.Local:
		return f, nil
	}
	return f, usage("--scope %q: use portable or machine-local", o.scope)
}
