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

// keepAlive and aliveLock: a child inherits no locks here. A lock that a killed git left is
// named, as that of any other.
func keepAlive(*exec.Cmd, string) (ended func(detached bool)) { return func(bool) {} }

func aliveLock(string) bool { return true }
