package upgrade

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Former is where the program that was replaced stands.
func Former(path string) string {
	ext := ""
	if strings.EqualFold(filepath.Ext(path), ".exe") {
		ext = filepath.Ext(path)
	}
	return strings.TrimSuffix(path, ext) + ".former" + ext
}

// Stage writes a program beside the place that it is for, and returns where. It is not used
// until Swap.
func Stage(path string, program []byte) (staged string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".anamnesis-*"+filepath.Ext(path))
	if err != nil {
		return "", fmt.Errorf("write the new program: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // nobody uses it
		}
	}()
	_, err = f.Write(program)
	if err == nil {
		err = f.Chmod(0o755)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("write the new program: %w", err)
	}
	return f.Name(), nil
}

// Swap puts a staged program into its place. One that stands there becomes the former.
func Swap(path, staged string) error { return swap(path, staged, runtime.GOOS == "windows") }

// swap moves the program that stands there aside first where a running one cannot be
// replaced, which is Windows. Elsewhere there is a program in the place at every moment.
func swap(path, staged string, aside bool) error {
	_, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("replace %s: %w", path, err)
	case aside:
		if err := os.Rename(path, Former(path)); err != nil {
			return fmt.Errorf("move the former program aside: %w", err)
		}
	default:
		if err := keep(path); err != nil {
			return fmt.Errorf("keep the former program: %w", err)
		}
	}
	if err := os.Rename(staged, path); err != nil {
		if aside {
			err = errors.Join(err, os.Rename(Former(path), path))
		}
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

// keep gives the program at a path a second name, or makes a copy where names are one each.
func keep(path string) error {
	next := Former(path) + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(path, next) != nil {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		copied, err := Stage(path, data)
		if err != nil {
			return err
		}
		next = copied
	}
	err := os.Rename(next, Former(path))
	_ = os.Remove(next) // it stays where both were one file already
	return err
}

// Rollback exchanges a program and its former one.
func Rollback(path string) error {
	data, err := os.ReadFile(Former(path))
	if err != nil {
		return fmt.Errorf("there is no former program: %w", err)
	}
	staged, err := Stage(path, data)
	if err != nil {
		return err
	}
	if err := Swap(path, staged); err != nil {
		return errors.Join(err, os.Remove(staged))
	}
	return nil
}
