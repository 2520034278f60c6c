package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// PlaceProject returns the project that a use case is about: the one named, or the
// one of the folder the process runs in for "" and ".".
func PlaceProject(s *store.Store, name string) project.Identity {
	if name != "" && name != "." {
		return project.Identity{Key: project.Canonical(s, name), Source: "flag"}
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = string(filepath.Separator)
	}
	return project.Identify(s, dir)
}

// openTime is how long git may take to say which branches are not merged.
const openTime = time.Second

// OpenBranches returns those of some branches that are open in the clone in dir: it has
// them, and its trunk does not hold them. Notes of those alone are held back elsewhere. A
// branch that is gone was merged, squashed, rebased or given up; what it taught stays.
// Where the clone cannot say, none is open.
func OpenBranches(ctx context.Context, r *Rooms, dir string, some []string) []string {
	if dir == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.Config.Wait(openTime))
	defer cancel()
	trunk := project.Trunk(dir)
	begun := func(b string) bool { return b != trunk && project.Untouched(dir, b) } // git calls those merged
	open := replica.Unmerged(ctx, dir, trunk, slices.DeleteFunc(slices.Clone(some), begun), config.Environ())
	for _, b := range some {
		if trunk != "" && begun(b) {
			open = append(open, b)
		}
	}
	return open
}
