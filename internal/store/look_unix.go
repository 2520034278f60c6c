//go:build linux || darwin

package store

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lookInto describes note files by their names in the open folder: the system
// need not find the way to it for each of them, which is a third of the time.
func lookInto(dir *os.File, entries []fs.DirEntry, found []sight) {
	fd := int(dir.Fd())
	for i, e := range entries {
		if !isNoteFile(e) {
			continue
		}
		var st unix.Stat_t
		var err error
		for err = unix.EINTR; err == unix.EINTR; {
			err = unix.Fstatat(fd, e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW)
		}
		if err == nil {
			found[i].size, found[i].modTime, found[i].there = st.Size, time.Unix(st.Mtim.Unix()), true
		}
	}
}

// readFrom reads the start of a file in the open folder, as far as buf goes. It
// opens no link and waits for nobody, whatever has taken the place of the file.
func readFrom(dir *os.File, name string, buf []byte) (n int, err error) {
	fd := -1
	for err = unix.EINTR; err == unix.EINTR; {
		fd, err = unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return 0, err
	}
	for err = unix.EINTR; err == unix.EINTR; {
		n, err = unix.Read(fd, buf)
	}
	return max(n, 0), errors.Join(err, unix.Close(fd))
}
