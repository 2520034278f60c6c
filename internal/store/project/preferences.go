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
	Quiet bool   // "quiet": true; prompts, tools and sub-agents are told nothing here
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
