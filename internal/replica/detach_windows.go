package replica

import (
	"os/exec"
	"syscall"
)

// detach starts a child in a separate process group and without a window.
// When its time is over the child is killed, but not the processes that it
// started; they end when their pipes do.
func detach(cmd *exec.Cmd) {
	const createNoWindow = 0x08000000
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow}
}
