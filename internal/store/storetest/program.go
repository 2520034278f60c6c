package storetest

import (
	"os"
	"syscall"
	"testing"
)

// WriteProgram writes a file that can be executed. No process starts while the file is open
// for writing: the child would hold the open file until it executes something else, and
// until then Linux refuses to execute the file ("text file busy").
func WriteProgram(t testing.TB, path, text string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o700) //nolint:gosec // it is executed
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
