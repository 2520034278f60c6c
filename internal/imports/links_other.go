//go:build !unix

package imports

import "io/fs"

// ownedByUser is true where a file does not tell its owner: only its user and administrators may make a link there.
func ownedByUser(fs.FileInfo) bool { return true }
