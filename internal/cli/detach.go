package cli

import (
	"fmt"
	"os"
	"os/exec"
)

// detach starts this program again with args, to go on after this process has
// ended: in a session of its own, with no terminal and no streams, so that no
// agent waits for it and no window opens.
func (p *program) detach(args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start a background run: %w", err)
	}
	for _, s := range p.sets {
		args = append(args, "--set", s)
	}
	cmd := exec.Command(exe, args...)
	_ = os.MkdirAll(p.cfg.Home, 0o700) // the child would make it, and cannot start without it
	cmd.Dir = p.cfg.Home               // not the project's folder, which may go away
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a background run: %w", err)
	}
	return cmd.Process.Release()
}
