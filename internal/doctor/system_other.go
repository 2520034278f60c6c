//go:build !linux && !darwin

package doctor

import "errors"

// loose, exposed and private know the permissions of Unix only.
func looseModes(string) (lines []string, serious bool) { return nil, false }

func exposed(string) []string { return nil }

func makePrivate(string, bool) error { return nil }

func freeBytes(string) (int64, error) { return 0, errors.ErrUnsupported }

func writable(string) bool { return true }
