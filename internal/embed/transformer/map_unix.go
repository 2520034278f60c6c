//go:build unix

package transformer

import (
	"os"
	"syscall"
)

// mapFile maps the first size bytes of a file for reading.
func mapFile(f *os.File, size int) (data []byte, release func() error, err error) {
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
