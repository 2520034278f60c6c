// Package connect connects coding agents with this program and takes that back: it
// reads their files, writes a record of what stood there, and puts our hooks, our
// server and our rules into them. A Client says where these places are, one for each
// agent; it is listed in places, and may have up to three: SettingsEditor, ServerFile
// and a file of rules. They work on bytes and start nothing; an Installer does what
// touches the disk and runs an agent's own commands.
//
// What becomes of a file is strict: one that cannot be read without doubt is refused
// with the place and the reason, and nothing but our own entries moves.
//
// Everything is planned before anything is written, so that a file that cannot be
// read without doubt stops the plan and leaves all of them untouched. Files are
// replaced as a whole; a symbolic link stays one, and the file it leads to changes.
package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/store"
)

// DefaultServer is the name of our MCP server unless init is shown another.
const DefaultServer = "anamnesis"

// An Installer changes the files of agents on this machine, and keeps its record
// in the store.
type Installer struct {
	Store   *store.Store
	Environ []string                         // of an agent's own commands
	Notify  func(format string, args ...any) // tells people something beside the answer; nil tells nobody
}

// A FormatError says that a file of an agent cannot be read without doubt.
type FormatError struct {
	Path string
	Err  error
}

func (e *FormatError) Error() string {
	form := strings.ToUpper(strings.TrimPrefix(filepath.Ext(e.Path), "."))
	if form == "" || form == "JSONC" {
		form = "JSON"
	}
	return fmt.Sprintf("%s is not valid %s (%v); fix it and re-run", e.Path, form, e.Err)
}

// Unwrap returns what is wrong with the file.
func (e *FormatError) Unwrap() error { return e.Err }

// Plugin returns the name of our plugin, where the agent's settings file or another one
// switches it on; it brings the hooks along.
func Plugin(h *Client, home string, also ...string) string {
	host, ok := h.Settings.(pluginHost)
	if !ok || !filepath.IsAbs(home) {
		return ""
	}
	for _, path := range append([]string{host.PluginFile(home)}, also...) {
		if edit, err := readSettings(path); err == nil && edit.Old != nil {
			if name := host.Plugin(edit.Old); name != "" {
				return name
			}
		}
	}
	return ""
}

// BesidePlugin returns the name of our plugin, if the agent has it and there are no
// hooks of ours beside it: a second set would do everything twice.
func BesidePlugin(h *Client, home string) string {
	name := Plugin(h, home)
	if name == "" {
		return ""
	}
	if edit, err := readSettings(h.Settings.SettingsPath(home)); err == nil {
		if hooks, _, err := h.Settings.Installed(edit.Old, Own); err == nil && len(hooks) > 0 {
			return ""
		}
	}
	return name
}

// follow returns where a path leads, whether or not there is a file yet: the record of what
// was changed knows a file by that.
func follow(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if to, err := os.Readlink(path); err == nil { // to a file that is to be made
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	dir, below := filepath.Dir(path), filepath.Base(path)
	for dir != filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, below)
		}
		dir, below = filepath.Dir(dir), filepath.Join(filepath.Base(dir), below)
	}
	return path
}

// readSettings reads an agent's settings file; a missing one has no bytes. A
// symbolic link is followed, so that the file it leads to is the one that is changed.
func readSettings(path string) (Edit, error) {
	path = follow(path)
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() { // to read a pipe is to wait for ever
		return Edit{}, fmt.Errorf("read settings %s: it is no plain file; move it away", path)
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Edit{}, fmt.Errorf("read settings: %w", err)
	}
	return Edit{Path: path, Old: data}, nil
}
