//go:build !prooftest

package cli

// setStubs does nothing in an ordinary build: no feature can be taken out.
func setStubs() {}
