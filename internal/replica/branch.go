package replica

import (
	"context"
	"slices"
	"strings"
)

// Merged returns those of some branches of the working tree at dir whose last
// commit is part of trunk, here or at origin. What git does not know, or does
// not say before ctx ends, counts as not merged. Nothing is fetched.
func Merged(ctx context.Context, dir, trunk string, branches, env []string) []string {
	if trunk == "" || len(branches) == 0 {
		return nil
	}
	s := openStranger(dir)
	if s == nil {
		return nil
	}
	const local, remote = "refs/heads/", "refs/remotes/origin/"
	names := []string{local + trunk, remote + trunk}
	for _, b := range branches {
		names = append(names, local+b, remote+b)
	}
	refs := s.refs(names...)
	var merged []string
	for _, into := range names[:2] {
		if refs[into] == "" {
			continue
		}
		out, _ := s.ask(ctx, env, question{refs: refs, args: []string{"for-each-ref", "--format=%(refname)", "--merged=" + refs[into]}})
		for line := range strings.Lines(out) {
			name := strings.TrimSpace(line)
			for _, prefix := range []string{local, remote} {
				if b, ok := strings.CutPrefix(name, prefix); ok && b != trunk && slices.Contains(branches, b) && !slices.Contains(merged, b) {
					merged = append(merged, b)
				}
			}
		}
	}
	return merged
}
