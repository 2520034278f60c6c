package app

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts this program again with args, to go on after this process has
// ended: in a separate session, with no terminal and no streams, so that no
// agent waits for it and no window opens.
func Detach(h Host, args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start a background run: %w", err)
	}
	for _, s := range h.Flags {
		args = append(args, "--set", s)
	}
	cmd := exec.Command(exe, args...)
	_ = os.MkdirAll(h.Config.Home, 0o700) // the child would make it, and cannot start without it
	cmd.Dir = h.Config.Home               // not the project's folder, which may go away
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a background run: %w", err)
	}
	go func() { _ = cmd.Wait() }() // a server lives longer than its background runs, which would stay as zombies
	return nil
}

// Detach starts this program again with args, with the settings of the rooms.
func (r *Rooms) Detach(args ...string) error { return Detach(r.Host, args...) }
