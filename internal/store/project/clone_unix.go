//go:build unix

package project

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// cloneMark recognises the data of a repository wherever its folder is moved on its disk: the inodes of two of its folders, and the time
// of a file that git writes once, when the repository is made. A copy has other inodes, and a later repository that gets the same
// ones has another time. It is "" where that file is missing.
func cloneMark(common string) string {
	inode := func(path string) (n uint64, at int64) {
		fi, err := os.Stat(path)
		if err != nil {
			return 0, 0
		}
		if st, ok := fi.Sys().(*syscall.Stat_t); ok {
			return uint64(st.Ino), fi.ModTime().UnixNano() //nolint:unconvert // it has another type on some systems
		}
		return 0, 0
	}
	git, _ := inode(common)
	objects, _ := inode(filepath.Join(common, "objects"))
	_, made := inode(filepath.Join(common, "description"))
	if made == 0 {
		_, made = inode(filepath.Join(common, "info", "exclude"))
	}
	if git == 0 || objects == 0 || made == 0 {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x", git, objects, made)
}
