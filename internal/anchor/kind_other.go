//go:build !unix

package anchor

import "io/fs"

var errNotDir = fs.ErrNotExist
