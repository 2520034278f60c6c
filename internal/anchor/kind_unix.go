//go:build unix

package anchor

import "syscall"

// errNotDir says that a part of a path, which should be a folder, is a file.
var errNotDir error = syscall.ENOTDIR
