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

// Project returns the project that a use case is about: the one named, or the
// one of the folder the process runs in for "" and ".".
func Project(s *store.Store, name string) project.Identity {
	if name != "" && name != "." {
		return project.Identity{Key: project.Canonical(s, name), Source: "flag"}
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = string(filepath.Separator)
	}
	return project.Identify(s, dir)
}

// mergedTime is how long git may take to say what is merged.
const mergedTime = time.Second

// MergedBranches asks the clone in dir which of some branches are merged.
func MergedBranches(ctx context.Context, r *Rooms, dir string, some []string) []string {
	ctx, cancel := context.WithTimeout(ctx, r.Config.Wait(mergedTime))
	defer cancel()
	if dir == "" {
		return nil
	}
	before := project.MergedBefore(dir, some) // and deleted since
	some = slices.DeleteFunc(some, func(b string) bool { return slices.Contains(before, b) || project.Untouched(dir, b) })
	return append(before, replica.Merged(ctx, dir, project.Trunk(dir), some, config.Environ())...)
}
