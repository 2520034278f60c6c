//go:build !linux

package redact

import (
	"testing"
	"time"
)

// worked says how long f took.
func worked(_ *testing.T, f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
