package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Preferences are what a project asks of those who work on it: the file
// .anamnesis/config.json in its folder, or in one above it, below the home folder. It
// comes with a clone, so it can only ask for less and choose among names: no command,
// address, key or path in it has a meaning.
type Preferences struct {
	File  string // "" when there is none
	Quiet bool   // "quiet": true; prompts, tools and sub-agents are shown nothing here
	Mode  string // "mode": the name of a mode, "" for none
}

// maxPreferences bounds the file, in bytes.
const maxPreferences = 64 << 10

// PreferencesOf reads the preferences of the project that dir is in. The error names a
// file that cannot be understood; it says nothing then.
func PreferencesOf(dir, home string) (p Preferences, err error) {
	if dir == "" || !filepath.IsAbs(dir) {
		return p, nil
	}
	for d := filepath.Clean(dir); d != home && d != filepath.Dir(d); d = filepath.Dir(d) {
		file := filepath.Join(d, ".anamnesis", "config.json")
		fi, err := os.Lstat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return p, fmt.Errorf("read the preferences of the project: %w", err)
		case !fi.Mode().IsRegular() || fi.Size() > maxPreferences:
			return p, fmt.Errorf("read the preferences of the project: %s is no file of at most %d bytes", file, maxPreferences)
		}
		var in struct {
			Quiet bool   `json:"quiet"`
			Mode  string `json:"mode"`
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &in)
		}
		if err != nil {
			return p, fmt.Errorf("read the preferences of the project, %s: %w", file, err)
		}
		return Preferences{File: file, Quiet: in.Quiet, Mode: cleanKey(in.Mode)}, nil
	}
	return p, nil
}

// PreferMode writes the mode of the project at dir into its preferences: those of dir, or of
// a folder above it that has them, else new ones in dir. Other keys stay. It returns the file.
func PreferMode(dir, home, mode string) (file string, err error) {
	p, err := PreferencesOf(dir, home)
	if err != nil {
		return "", err
	}
	if file = p.File; file == "" {
		file = filepath.Join(dir, ".anamnesis", "config.json")
	}
	keys := make(map[string]json.RawMessage)
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &keys)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the preferences of the project, %s: %w", file, err)
	}
	if keys["mode"], err = json.Marshal(mode); err != nil {
		return "", err
	}
	if data, err = json.MarshalIndent(keys, "", "  "); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // it is part of the project, which others read
		return "", fmt.Errorf("write the preferences of the project: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".config-*")
	if err != nil {
		return "", fmt.Errorf("write the preferences of the project: %w", err)
	}
	_, err = temp.Write(append(data, '\n'))
	err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("write the preferences of the project, %s: %w", file, err), os.Remove(temp.Name()))
	}
	return file, nil
}
