package postgrestest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
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

func kill(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }

// working lists the processes whose folder is dir: those of a server, in that of its data.
func working(dir string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if at, err := os.Readlink(link); err != nil || at != dir {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killBackend kills one of the children of a server that serve a connection.
func killBackend(server int) bool {
	said, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server, server))
	for _, field := range strings.Fields(string(said)) {
		title, err := os.ReadFile(filepath.Join("/proc", field, "cmdline"))
		pid, perr := strconv.Atoi(field)
		if err == nil && perr == nil && strings.Contains(string(title), " 127.0.0.1(") { // "postgres: user database 127.0.0.1(port) idle"
			return syscall.Kill(pid, syscall.SIGKILL) == nil
		}
	}
	return false
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
