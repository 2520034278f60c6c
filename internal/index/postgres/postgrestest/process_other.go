//go:build !linux

package postgrestest

import (
	"os"
	"os/exec"
)

// lower has nothing to do: the tests do not run as an administrator here.
func lower(*exec.Cmd) {}

func give(...string) error { return nil }

// stop ends a server at once.
func stop(cmd *exec.Cmd) { _ = cmd.Process.Signal(os.Kill) }

func alive(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}

func kill(int) {}

// working knows no processes here.
func working(string) []int { return nil }

func killBackend(int) bool { return false }
