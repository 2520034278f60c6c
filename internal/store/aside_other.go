//go:build !linux

package store

import "os"

// Exchange gives the file at to the name from, and from takes its place. An editor's rename
// between the two steps is not seen.
func (d OS) Exchange(from, to string) error { return d.exchangeByLink(from, to) }

// unwritten cannot say whether somebody has f open for writing.
func unwritten(*os.File) (idle, known bool) { return false, false }
