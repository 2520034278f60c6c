//go:build !unix

package mapped

import (
	"io"
	"os"
)

// File reads the file: on Windows a mapped file cannot be replaced.
func File(f *os.File, size int) (data []byte, release func() error, err error) {
	data = make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, int64(size)), data); err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
