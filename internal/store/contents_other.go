//go:build !unix

package store

import "os"

// contents reads a file.
func contents(name string, _ int64) ([]byte, error) { return os.ReadFile(name) }
