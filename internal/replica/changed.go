package replica

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// maxChanged bounds the files that Changed returns.
const maxChanged = 50

// Changed returns the tracked files of the working tree at dir that differ from its last
// commit, relative to its root. It is nil when git does not say before ctx ends.
func Changed(ctx context.Context, dir string, env []string) []string {
	out := ask(ctx, dir, env, "status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
	var files []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 && len(files) < maxChanged { // two letters of state and a space
			files = append(files, entry[3:])
		}
	}
	return files
}

// recentCommits is how many commits say what was worked on lately.
const recentCommits = "5"

// Recent returns the files that the last commits at dir changed, those of the newest last,
// relative to the root of the working tree. It is nil when git does not say before ctx ends.
func Recent(ctx context.Context, dir string, env []string) []string {
	out := ask(ctx, dir, env, "log", "-n", recentCommits, "--first-parent", "--no-show-signature", "--name-only", "--no-renames",
		"--format=", "-z")
	var files []string
	for file := range strings.SplitSeq(out, "\x00") {
		if file = strings.Trim(file, "\n"); file != "" && len(files) < maxChanged && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	slices.Reverse(files)
	return files
}

// ask runs git in a stranger's working tree, and returns what it said, "" when it failed.
func ask(ctx context.Context, dir string, env []string, args ...string) string {
	args = append([]string{"--no-pager", "-C", dir, "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = childEnv(env, false, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	cmd.WaitDelay = 10 * time.Millisecond
	var out bytes.Buffer
	cmd.Stdout = &out
	if cmd.Run() != nil || ctx.Err() != nil {
		return ""
	}
	return out.String()
}
