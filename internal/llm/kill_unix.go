//go:build unix

package llm

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detachGroup gives a child a separate session: no terminal to ask at, and one
// group to kill, with all that it started, when its time is over.
func detachGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
