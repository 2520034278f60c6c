//go:build linux || darwin

package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// looseModes names what stands at the top of a store and is open to others. serious
// says that somebody else can write, or that the whole belongs to another user.
func looseModes(root string) (lines []string, serious bool) {
	fi, err := os.Stat(root)
	if err != nil {
		return []string{err.Error()}, true
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		lines, serious = append(lines, fmt.Sprintf("%s belongs to user %d, and you are %d", root, st.Uid, os.Geteuid())), true
	}
	for _, path := range exposed(root) {
		fi, err := os.Lstat(path)
		if err != nil {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s can be read by others: %v", path, fi.Mode().Perm()))
		serious = serious || path == root || fi.Mode().Perm()&0o022 != 0
	}
	return lines, serious
}

// exposed lists the root and what stands in it that is open to group or others.
func exposed(root string) (paths []string) {
	all := []string{root}
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		all = append(all, filepath.Join(root, e.Name()))
	}
	for i, path := range all {
		fi, err := os.Lstat(path)
		if i == 0 {
			fi, err = os.Stat(path) // the root may be a link
		}
		if err == nil && fi.Mode()&fs.ModeSymlink == 0 && fi.Mode().Perm()&0o077 != 0 {
			paths = append(paths, path)
		}
	}
	return paths
}

// makePrivate takes the permissions of others off a file or folder. A link that
// took its place is not followed.
func makePrivate(path string, follow bool) error {
	flags := unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	return f.Chmod(fi.Mode().Perm() &^ 0o077)
}

// freeBytes returns the bytes that are free for the user.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // the types differ between systems
}

// writable reports whether we may write a file. It does not open it.
func writable(name string) bool { return unix.Access(name, unix.W_OK) == nil }
