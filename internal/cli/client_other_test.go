//go:build !linux

package cli

// person skips the test: only on Linux is the client driven in a terminal.
func (m *machine) person(string, string, ...string) string {
	m.t.Helper()
	m.t.Skip("the client is driven in a terminal on Linux alone")
	return ""
}
