package storetest

import (
	"errors"

	"golang.org/x/sys/unix"
)

// roomy reports whether a folder stands in memory, with so many bytes free, and programs
// may be started from it.
func roomy(dir string, free uint64) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Type == unix.TMPFS_MAGIC && fs.Flags&unix.ST_NOEXEC == 0 && fs.Bavail*uint64(fs.Bsize) >= free
}

// alive reports whether a process runs.
func alive(pid int) bool { return !errors.Is(unix.Kill(pid, 0), unix.ESRCH) }
