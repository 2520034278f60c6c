package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"anamnesis/internal/app"
	"anamnesis/internal/upgrade"
)

// copyPath is where init copies a program that will be deleted where it is, and where the
// plugin's launcher looks for it; "" without a home folder. It is the same for every store.
func copyPath(h app.Host) string {
	if !filepath.IsAbs(h.Config.UserHome) {
		return ""
	}
	return filepath.Join(h.Config.UserHome, ".anamnesis", "bin", upgrade.ProgramName(runtime.GOOS))
}

// StayPath is where this program has to be copied to before hooks may name it; "" when it
// stays where it is.
func StayPath(h app.Host) string {
	self, err := Self()
	if to := copyPath(h); err == nil && app.IsTemporary(self) && !sameFile(self, to) {
		return to
	}
	return ""
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// copyProgram copies this program to a path. What stands there is kept as the former one.
func copyProgram(to string) error {
	self, err := Self()
	if err != nil {
		return err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return fmt.Errorf("copy this program: %w", err)
	}
	was, err := os.ReadFile(to)
	switch {
	case err == nil && bytes.Equal(was, program):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("copy this program: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("copy this program: %w", err)
	}
	staged, err := upgrade.Stage(to, program)
	if err != nil {
		return err
	}
	if err := upgrade.Swap(to, staged); err != nil {
		return errors.Join(err, os.Remove(staged))
	}
	return nil
}
