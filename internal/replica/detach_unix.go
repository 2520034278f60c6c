//go:build unix

package replica

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
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

// keepAlive has a child hold a lock on a file for as long as it lives, its children included,
// also when this process is killed. ended removes the file of one that was not killed. What cannot be made is
// left out: a lock of git is then one that somebody has to look at.
func keepAlive(cmd *exec.Cmd, at string) (ended func(detached bool)) {
	f, err := os.OpenFile(at, os.O_CREATE|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return func(bool) {}
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return func(bool) {}
	}
	now := time.Now()
	_ = os.Chtimes(at, now, now)
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	return func(detached bool) {
		if detached {
			_ = os.Remove(at)
		}
		_ = f.Close()
	}
}

// aliveLock reports whether a process holds the lock that keepAlive made.
func aliveLock(at string) bool {
	f, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}
