//go:build unix

package llm_test

import "syscall"

func fifo(name string) error { return syscall.Mkfifo(name, 0o600) }
