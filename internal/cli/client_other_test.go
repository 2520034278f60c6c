//go:build !linux

package cli

import "os/exec"

// person skips the test: only on Linux is the client driven in a terminal.
func (m *machine) person(string, string, ...string) string {
	m.t.Helper()
	m.t.Skip("the client is driven in a terminal on Linux alone")
	return ""
}

// attend does nothing: what a test writes is a program's here.
func (m *machine) attend(*exec.Cmd) func() { return func() {} }
