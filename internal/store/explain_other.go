//go:build !unix

package store

// explain returns err: the texts of this system's errors tell the next step.
func explain(err error) error { return err }
