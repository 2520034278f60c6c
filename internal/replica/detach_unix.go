//go:build unix

package replica

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detach gives a child a separate session: no terminal to ask at, and one
// group to kill when its time is over.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
