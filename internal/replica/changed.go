package replica

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"time"
)

// maxChanged bounds the files that Changed returns.
const maxChanged = 50

// Changed returns the tracked files of the working tree at dir that differ from its last
// commit, relative to its root. It is nil when git does not say before ctx ends.
func Changed(ctx context.Context, dir string, env []string) []string {
	cmd := exec.CommandContext(ctx, "git", "--no-pager", "-C", dir, "-c", "core.fsmonitor=false",
		"status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
	cmd.Env = childEnv(env, false, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	cmd.WaitDelay = 10 * time.Millisecond
	var out bytes.Buffer
	cmd.Stdout = &out
	if cmd.Run() != nil || ctx.Err() != nil {
		return nil
	}
	var files []string
	for entry := range strings.SplitSeq(out.String(), "\x00") {
		if len(entry) > 3 && len(files) < maxChanged { // two letters of state and a space
			files = append(files, entry[3:])
		}
	}
	return files
}
