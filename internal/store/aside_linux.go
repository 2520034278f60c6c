package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Exchange lets two files change their names in one step. Where the file system cannot, or
// nothing stands at to, the file at to gets the name from, and from takes its place.
func (d OS) Exchange(from, to string) error {
	if unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	return d.exchangeByLink(from, to)
}

// unwritten reports whether nobody has f open for writing. known is false where the file
// system cannot say.
func unwritten(f *os.File) (idle, known bool) {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return false, true
	case err != nil:
		return false, false
	}
	_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return true, true
}
