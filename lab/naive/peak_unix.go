//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// maxResident returns the peak memory of a process that has ended, in bytes.
func maxResident(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss) //nolint:unconvert // 32 bits on some systems
	}
	return int64(usage.Maxrss) << 10 //nolint:unconvert // likewise
}
