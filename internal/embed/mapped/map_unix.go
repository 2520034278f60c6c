//go:build unix

package mapped

import (
	"os"
	"syscall"
)

// File maps the first size bytes of a file for reading. What is read of them is read inside
// Read.
func File(f *os.File, size int) (data []byte, release func() error, err error) {
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
