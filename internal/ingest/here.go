package ingest

import (
	"context"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// Here returns the project of a folder, and enters it in the table of this machine. Where a repository has no remote,
// and only other machines have notes of a project by its name, it is not that project: it gets a key that no other one
// has. A plain folder is the project of its name on every machine. An error concerns the table alone.
func Here(ctx context.Context, g *Ingester, dir string) (project.Identity, error) {
	id := project.Identify(g.store, dir)
	if id.Weak() && id.Source == "repository" && !g.ownProject(ctx, id.Key) {
		id = id.Apart(g.store)
	}
	return id, project.Remember(g.store, id)
}

// ownProject reports whether this machine has notes of a project, or no machine has.
func (g *Ingester) ownProject(ctx context.Context, key string) bool {
	rows, err := g.index.Select(ctx, index.Filter{Projects: []string{key}, Now: g.store.Now(), Dead: true}, 0)
	if err != nil || len(rows) == 0 {
		return true
	}
	return slices.ContainsFunc(rows, func(row index.Row) bool {
		return slices.Contains([]string{g.opts.MachineID, "", "unknown"}, row.MachineID) // of an older program that named none
	})
}

// holdsIn reports whether a note is of a project, by whatever name and in whatever folder of it, or of all.
func (g *Ingester) holdsIn(n *note.Note, here string) bool {
	key := project.Canonical(g.store, n.Project)
	return n.Project == note.Global || key == here || project.IsBelow(key, here)
}
