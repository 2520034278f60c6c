package storetest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Memory runs the tests of a room with their temporary folders in memory, where the
// system has a file system for that, programs may be started from it, and much of it is
// free. On a disk the tests mostly wait: they make and delete some ten thousand files, many
// with fsync. What a power failure would take from a disk is simulated, where it matters.
//
// A TMPDIR that somebody has set stays.
type Memory struct{ *testing.M }

const (
	memory = "/dev/shm"
	prefix = "/an"   // and the number of the process: a short name, because what names a path may have to fit somewhere
	spare  = 4 << 30 // must be free; the tests of a room need some hundred megabytes at a time
)

// Run runs the tests and returns the exit code.
func (m Memory) Run() int {
	if os.Getenv("TMPDIR") != "" || !roomy(memory, spare) {
		return m.M.Run()
	}
	sweep()
	dir := memory + prefix + strconv.Itoa(os.Getpid())
	if os.Mkdir(dir, 0o711) != nil { // for others too: the servers of PostgreSQL that root starts are another user's
		return m.M.Run()
	}
	defer os.RemoveAll(dir)
	_ = os.Setenv("TMPDIR", dir)
	return m.M.Run()
}

// Folder returns the folder in memory where tests of this process have their temporary
// folders, "" when they have them on a disk.
func Folder() string {
	if dir := os.TempDir(); strings.HasPrefix(dir, memory+prefix) {
		return dir
	}
	return ""
}

// sweep removes what tests left that were killed an hour ago or earlier.
func sweep() {
	dirs, _ := filepath.Glob(memory + prefix + "*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.TrimPrefix(dir, memory+prefix))
		if fi, serr := os.Lstat(dir); err == nil && serr == nil && !alive(pid) && time.Since(fi.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
}
