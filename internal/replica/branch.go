package replica

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Merged returns those of some branches of the working tree at dir whose last
// commit is part of trunk, here or at origin. What git does not know, or does
// not say before ctx ends, counts as not merged. Nothing is fetched.
func Merged(ctx context.Context, dir, trunk string, branches, env []string) []string {
	if trunk == "" || len(branches) == 0 {
		return nil
	}
	var merged []string
	for _, into := range []string{"refs/heads/" + trunk, "refs/remotes/origin/" + trunk} {
		cmd := exec.CommandContext(ctx, "git", "--no-pager", "-C", dir, "-c", "core.fsmonitor=false",
			"for-each-ref", "--format=%(refname)", "--merged="+into, "refs/heads", "refs/remotes/origin")
		cmd.Env = childEnv(env, false, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
		cmd.WaitDelay = 100 * time.Millisecond
		var out bytes.Buffer
		cmd.Stdout = &out
		if cmd.Run() != nil { // there is no such ref, or no git
			continue
		}
		for line := range strings.Lines(out.String()) {
			name := strings.TrimSpace(line)
			for _, prefix := range []string{"refs/heads/", "refs/remotes/origin/"} {
				if b, ok := strings.CutPrefix(name, prefix); ok && b != trunk && slices.Contains(branches, b) && !slices.Contains(merged, b) {
					merged = append(merged, b)
				}
			}
		}
	}
	return merged
}
