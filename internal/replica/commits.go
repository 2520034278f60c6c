package replica

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The bounds of what is asked of a stranger's repository.
const (
	maxCommits = 200
	maxReverts = 200
)

// stranger is what stands before every command in a repository that is not ours: nothing
// of its configuration may run a program, and nothing is fetched.
func stranger(dir string) []string {
	return []string{
		"--no-pager", "-C", dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false",
		"-c", "protocol.allow=never",
	}
}

// Commits says which of some ids are commits of the repository at dir, by one process of
// git. It is nil when git cannot say before ctx ends: there is no repository, or it has
// not all of its commits and misses one of these.
func Commits(ctx context.Context, dir string, env, ids []string) map[string]bool {
	if len(ids) == 0 || len(ids) > maxCommits {
		return nil
	}
	cmd := exec.CommandContext(ctx, "git", append(stranger(dir), "cat-file", "--batch-check=%(objecttype)")...)
	cmd.Env = childEnv(env, false, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	cmd.WaitDelay = 10 * time.Millisecond
	var in strings.Builder
	for _, id := range ids {
		if strings.Trim(id, "0123456789abcdef") != "" {
			return nil
		}
		in.WriteString(id + "^{commit}\n")
	}
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || ctx.Err() != nil || len(lines) != len(ids) {
		return nil
	}
	known, missing := make(map[string]bool, len(ids)), false
	for i, line := range lines {
		known[ids[i]] = line == "commit" || strings.HasSuffix(line, " ambiguous")
		missing = missing || !known[ids[i]]
	}
	if missing && strings.TrimSpace(ask(ctx, dir, env, "rev-parse", "--is-shallow-repository")) != "false" {
		return nil
	}
	return known
}

// A Reverted is a commit that another one took back.
type Reverted struct{ Commit, By string }

// Reverts returns the commits that were taken back on the branch that is checked out at
// dir, since a time: git writes "This reverts commit …" into such a commit. It is nil when
// git does not say before ctx ends.
func Reverts(ctx context.Context, dir string, env []string, since time.Time) (all []Reverted) {
	const mark = "This reverts commit "
	out := ask(ctx, dir, env, "log", "-n", strconv.Itoa(maxReverts), "--no-show-signature", "--fixed-strings", "--grep="+mark,
		"--since="+strconv.FormatInt(since.Unix(), 10), "--format=%H%n%B", "-z")
	for entry := range strings.SplitSeq(out, "\x00") {
		by, body, _ := strings.Cut(entry, "\n")
		for line := range strings.Lines(body) {
			rest, ok := strings.CutPrefix(strings.TrimSpace(line), mark)
			if !ok {
				continue
			}
			id := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789abcdef"))]
			if len(id) >= 7 && len(id) <= 40 && len(all) < maxReverts {
				all = append(all, Reverted{id, by})
			}
		}
	}
	return all
}
