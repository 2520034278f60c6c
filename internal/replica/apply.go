package replica

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"anamnesis/internal/store/layout"
)

// ApplyFiles is the Options.Apply of those who give none. Deletions come first in
// changes; all new files are on the disk before the first is renamed into
// place. Links are not followed out of the tree, nor written.
func ApplyFiles(dir string, changes []Change) (changed []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // nothing was written through it
	temps := make(map[string]string)
	defer func() {
		for _, temp := range temps {
			_ = root.Remove(temp)
		}
	}()
	folders := make(map[string]bool)
	for _, ch := range changes {
		name := filepath.FromSlash(ch.Path)
		if !standsAs(dir, root, ch) {
			changed = append(changed, ch.Path)
		} else if ch.New == nil {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			_ = root.Remove(filepath.Dir(name)) // when it was the last one
			folders[filepath.Dir(name)] = true
		} else {
			folder := filepath.FromSlash(path.Dir(ch.Path))
			if err := root.MkdirAll(folder, 0o700); err != nil {
				return nil, err
			}
			temp := filepath.Join(folder, layout.SyncTempPrefix+path.Base(ch.Path))
			if err := writeTemp(root, temp, ch.New); err != nil {
				return nil, err
			}
			temps[ch.Path] = temp
		}
	}
	for _, ch := range changes {
		temp, prepared := temps[ch.Path]
		switch name := filepath.FromSlash(ch.Path); {
		case !prepared:
		case !standsAs(dir, root, ch):
			changed = append(changed, ch.Path)
		default:
			if err := root.Rename(temp, name); err != nil {
				return nil, err
			}
			delete(temps, ch.Path)
			folders[filepath.Dir(name)] = true
		}
	}
	for folder := range folders {
		if err := syncFolder(root, folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return changed, nil
}

// standsAs reports whether the file of a change is what it should be before.
func standsAs(dir string, root *os.Root, ch Change) bool {
	regular, gone := Stands(dir, ch.Path)
	if !regular {
		return gone && ch.Old == nil
	}
	data, err := root.ReadFile(filepath.FromSlash(ch.Path))
	return err == nil && ch.Old != nil && bytes.Equal(data, ch.Old)
}

func writeTemp(root *os.Root, temp string, data []byte) error {
	_ = root.Remove(temp) // of a run that died
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// replaceFile replaces one file by its full path.
func replaceFile(at string, data []byte) error {
	root, err := os.OpenRoot(filepath.Dir(at))
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written through it
	temp := layout.SyncTempPrefix + filepath.Base(at)
	if err := writeTemp(root, temp, data); err != nil {
		return err
	}
	if err := root.Rename(temp, filepath.Base(at)); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return syncFolder(root, ".")
}

// syncFolder makes renames in a folder last. Some file systems and Windows
// cannot, and need not.
func syncFolder(root *os.Root, folder string) error {
	f, err := root.Open(folder)
	if err != nil {
		return err
	}
	if err := f.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) &&
		!errors.Is(err, fs.ErrPermission) {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}
