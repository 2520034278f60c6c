package replica

import (
	"context"
	"slices"
	"strings"
)

// Unmerged returns those of some branches that the repository at dir has, here or at
// origin, and whose last commit is not part of its trunk, here or at origin. It is nil when
// git cannot say before ctx ends. Nothing is fetched.
func Unmerged(ctx context.Context, dir, trunk string, branches, env []string) (open []string) {
	s := openStranger(dir)
	if s == nil || trunk == "" || len(branches) == 0 {
		return nil
	}
	const local, remote = "refs/heads/", "refs/remotes/origin/"
	names := []string{local + trunk, remote + trunk}
	for _, b := range branches {
		names = append(names, local+b, remote+b)
	}
	refs := s.refs(names...)
	for _, b := range branches {
		if b != trunk && refs[local+b]+refs[remote+b] != "" {
			open = append(open, b)
		}
	}
	said := false
	for _, into := range names[:2] {
		if refs[into] == "" || len(open) == 0 {
			continue
		}
		out, ok := s.ask(ctx, env, question{refs: refs, args: []string{"for-each-ref", "--format=%(refname)", "--merged=" + refs[into]}})
		if !ok {
			return nil
		}
		said = true
		merged := strings.Fields(out)
		open = slices.DeleteFunc(open, func(b string) bool {
			return slices.Contains(merged, local+b) || slices.Contains(merged, remote+b)
		})
	}
	if !said || len(open) == 0 {
		return nil
	}
	return open
}
