package redact

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// worked says for how long a processor worked on f: a machine that is busy with other
// things stops us for longer than we work. What f leaves to other threads does not count.
func worked(t *testing.T, f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	now := func() time.Duration {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
			t.Fatal("reading the clock of the thread:", err)
		}
		return time.Duration(ts.Nano())
	}
	began := now()
	f()
	return now() - began
}
