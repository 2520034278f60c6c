//go:build !linux

package storetest

// roomy knows of no file system in memory.
func roomy(string, uint64) bool { return false }

func alive(int) bool { return true }
