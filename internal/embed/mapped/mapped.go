// Package mapped reads files that are mapped into memory: derived ones, which another
// program can cut at any moment.
//
// Failure policy: a page of a file that was cut since it was mapped is not there any more.
// The system ends a process that reads it; Read returns ErrCut in its place.
package mapped

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// ErrCut says that a file was cut while it was read.
var ErrCut = errors.New("the file was cut while it was read")

// Read calls f, which reads a mapped file and waits for no goroutine that does without a
// Read. With ErrCut, what f left half done is of no use.
func Read(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		fault, ok := r.(interface { // what a fault is where SetPanicOnFault holds
			runtime.Error
			Addr() uintptr
		})
		if !ok {
			panic(r)
		}
		err = fmt.Errorf("%w: %w", ErrCut, fault)
	}()
	f()
	return nil
}
