//go:build unix

package store

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

// contents reads a file of about some size. Package os would ask the system whether it can be
// waited for, as for a pipe, which is five calls more for each file. A link that stands there
// by now is not followed, and a pipe is not waited for.
func contents(name string, size int64) ([]byte, error) {
	fail := func(op string, err error) ([]byte, error) { return nil, &fs.PathError{Op: op, Path: name, Err: err} }
	fd, err := again(func() (int, error) {
		return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return fail("open", err)
	}
	defer func() { _ = syscall.Close(fd) }()
	data := make([]byte, size+1)
	for done := 0; ; {
		n, err := again(func() (int, error) { return syscall.Read(fd, data[done:]) })
		if err != nil {
			return fail("read", err)
		}
		done += n
		switch {
		case n == 0:
			return data[:done], nil
		case done == len(data): // somebody writes to it
			data = slices.Grow(data, 512)
			data = data[:cap(data)]
		}
	}
}

// again calls until no signal interrupts.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
