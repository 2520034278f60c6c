package replica

import (
	"context"
	"slices"
	"strings"
)

// maxRoots is how many root commits prove something: a history with more was merged from several, and Roots is nil.
const maxRoots = 8

// Roots returns the commits without a parent in the history of what is checked out in the repository at dir, sorted. It is nil where
// they prove nothing: for a shallow clone, for a history merged from many, and where git does not answer before ctx ends. Nothing is
// fetched.
func Roots(ctx context.Context, dir string, env []string) (roots []string) {
	s := openStranger(dir)
	if s == nil || s.head == "" || !s.whole() {
		return nil
	}
	out, ok := s.ask(ctx, env, question{args: []string{"rev-list", "--max-parents=0", "--max-count=9", s.head}})
	if roots = strings.Fields(out); !ok || len(roots) > maxRoots {
		return nil
	}
	slices.Sort(roots)
	return roots
}
