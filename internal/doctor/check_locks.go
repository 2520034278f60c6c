package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// heldLong is how long a run may take until somebody should look at it.
const heldLong = 10 * time.Minute

func checkLocks(_ context.Context, p *Target) Result {
	switch {
	case p.Store == nil:
		return skip("there is no store")
	case p.Store.ReadOnly():
		return skip("the store cannot be written, so nobody locks it")
	}
	var lines []string
	long := false
	for _, l := range []struct{ name, holder string }{
		{"store", "a write"}, {"drain", "the background run"}, {"sync", "a sync"},
	} {
		path := p.Store.Path(l.name + ".lock")
		fi, err := os.Lstat(path) // trying a lock would make its file
		if err != nil {
			continue
		}
		if !fi.Mode().IsRegular() {
			return bad("delete it while no anamnesis runs", path+" is no plain file, so nothing can be locked")
		}
		unlock, free, err := p.Store.TryLock(l.name)
		if free {
			unlock()
			continue
		}
		if err != nil {
			return bad("check who owns the file", fmt.Sprintf("%s: %v", path, err))
		}
		line := l.name + ".lock is held by " + l.holder
		if pid, since, ok := lockHolder(fi); ok {
			line += fmt.Sprintf(", process %d", pid)
			if !since.IsZero() {
				age := time.Since(since) // of the system's clock, as the process is
				line += ", which runs for " + span(age)
				long = long || age > heldLong
			}
		}
		lines = append(lines, line)
	}
	switch {
	case long:
		return warn("look what the process does; ending it is safe, the next run goes on where it stopped", lines...)
	case len(lines) > 0:
		return info("wait until it is done; the system frees a lock when its process ends", lines...)
	}
	return ok("none is held")
}

// parseLocks finds the process that holds a flock on a file, in the form of
// Linux' /proc/locks:
//
//	1: FLOCK  ADVISORY  WRITE 1234 08:01:131 0 EOF
//
// The device is not compared: layered file systems show another one there.
func parseLocks(text string, inode uint64) (pid int, ok bool) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], fmt.Sprintf(":%d", inode)) {
			continue
		}
		if _, err := fmt.Sscanf(f[4], "%d", &pid); err == nil && pid > 0 {
			return pid, true
		}
	}
	return 0, false
}
