//go:build unix

package imports

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUser reports whether the user of this process owns a file.
func ownedByUser(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
