//go:build !linux

package doctor

import (
	"os"
	"time"
)

// lockHolder knows nothing: only Linux tells who holds a lock.
func lockHolder(os.FileInfo) (pid int, since time.Time, ok bool) { return 0, since, false }
