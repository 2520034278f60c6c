//go:build unix

package lifecycle

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// A group is a program and all that it starts, in its own session.
type group struct{ cmd *exec.Cmd }

// prepare makes a program the leader of a group before it is started.
func (g *group) prepare(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel, g.cmd = g.kill, cmd
	return nil
}

func (g *group) started() error { return nil }

// kill ends all that is left of the group, whether or not its leader has ended.
func (g *group) kill() error {
	if g.cmd.Process == nil {
		return os.ErrProcessDone
	}
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// close ends what the program has left. Its number names no other group as long as one of
// this is there.
func (g *group) close() {
	if g.cmd != nil {
		_ = g.kill()
	}
}
