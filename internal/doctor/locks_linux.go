package doctor

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// lockHolder returns the process that holds a lock file, and since when it runs.
func lockHolder(fi os.FileInfo) (pid int, since time.Time, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, since, false
	}
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0, since, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4<<20))
	if err != nil {
		return 0, since, false
	}
	if pid, ok = parseLocks(string(text), st.Ino); !ok {
		return 0, since, false
	}
	if fi, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
		since = fi.ModTime()
	}
	return pid, since, true
}
