package llm

import (
	"os/exec"
	"syscall"
)

// detachGroup starts a child in a separate process group and without a window. When
// its time is over the child is killed; what it started ends with its pipes.
func detachGroup(cmd *exec.Cmd) {
	const createNoWindow = 0x08000000
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow}
}
