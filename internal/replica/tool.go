package replica

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// ErrNoTool means that a program of the user is not installed.
var ErrNoTool = errors.New("it is not installed")

// Tool runs a program of the user that speaks to the hoster of the remote, found in
// the absolute folders of PATH, in the folder of the clone, with no terminal and the
// time limit of git. It returns what the program prints, 64 KiB at most. The error
// is ErrNoTool when there is none; else it holds the line that says most.
func (c *Clone) Tool(ctx context.Context, name, in string, args ...string) (string, error) {
	program, err := lookPath(name, c.g.o.Env)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, ErrNoTool)
	}
	ctx, cancel := context.WithTimeout(ctx, c.g.o.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	stdout, stderr := &head{left: 64 << 10}, &head{left: 64 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = strings.NewReader(in), stdout, stderr, c.g.dir
	cmd.Env = childEnv(c.g.o.Env, true, "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_PROMPT=1", "NO_COLOR=1", "GIT_CONFIG_COUNT=0")
	detach(cmd)
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	switch cause := ctx.Err(); {
	case err == nil:
		return stdout.text.String(), nil
	case errors.Is(cause, context.DeadlineExceeded):
		return "", fmt.Errorf("%s: stopped after %v", name, c.g.o.Timeout)
	case cause != nil:
		return "", cause
	}
	return "", fmt.Errorf("%s: %s", name, cmp.Or(reason(c.g.clean(stderr.text.String()+stdout.text.String())), err.Error()))
}

// A head keeps so many bytes of what is written to it, and drops the rest.
type head struct {
	text bytes.Buffer
	left int
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.left)
	h.left -= n
	h.text.Write(p[:n])
	return len(p), nil
}
