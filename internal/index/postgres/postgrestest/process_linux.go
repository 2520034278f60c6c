package postgrestest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// lower makes a program end with this one, and run as the user postgres if we are
// root, as whom PostgreSQL refuses to run.
func lower(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}
	if uid, gid, ok := server(); ok {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
}

// server returns the user that the server runs as; false when that is our own.
func server() (uid, gid uint32, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, false
	}
	id, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return 0, 0, false
	}
	group, err := strconv.ParseUint(u.Gid, 10, 32)
	return uint32(id), uint32(group), err == nil
}

// give gives files to the user that the server runs as.
func give(paths ...string) error {
	uid, gid, ok := server()
	if !ok {
		return nil
	}
	for _, p := range paths {
		if err := os.Chown(p, int(uid), int(gid)); err != nil {
			return err
		}
	}
	return nil
}

// stop ends a server at once, with its children.
func stop(cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGQUIT) }

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
