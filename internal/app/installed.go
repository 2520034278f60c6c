package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"
)

// installedFile remembers what init did to a settings file, so that uninstall
// can restore it byte for byte.
const installedFile = "installed.json"

type installed struct {
	V       int    `json:"v"`
	Path    string `json:"path"`
	Existed bool   `json:"existed"`
	Before  []byte `json:"before"` // the bytes before the first init
	After   string `json:"after"`  // SHA-256 of the bytes we wrote

	Servers []string `json:"servers,omitempty"` // names of our MCP server, as init registered it
}

// installHooks writes the settings file: backup first, then the record, then the file.
func installHooks(s *store.Store, h *agent.Harness, edit agent.Edit) error {
	if !edit.Changed() {
		return nil
	}
	was := readInstalled(s)
	clean, err := h.Settings.Uninstall(edit.Old, agent.Own) // without what an earlier init put there
	if err != nil {
		return fmt.Errorf("read %s: %w", edit.Path, err)
	}
	rec := installed{V: 1, Path: edit.Path, Existed: edit.Old != nil, Before: clean, After: store.Digest(edit.New), Servers: was.Servers}
	ours := was.Path == rec.Path && was.After == store.Digest(edit.Old)
	if ours { // our own earlier work: the first state counts
		rec.Existed, rec.Before = was.Existed, was.Before
	}
	if edit.Old != nil && !ours {
		if err := keepFirst(edit.Path+".bak", edit.Old); err != nil {
			return fmt.Errorf("back up %s: %w", edit.Path, err)
		}
	}
	if err := rememberInstalled(s, rec); err != nil {
		return err
	}
	return writeFile(edit.Path, edit.New)
}

// rememberInstalled writes the record, or deletes it when there is nothing to remember.
func rememberInstalled(s *store.Store, rec installed) error {
	if rec.Path == "" && len(rec.Servers) == 0 {
		if err := os.Remove(s.Path(installedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	return s.Replace(installedFile, append(data, '\n'))
}

func readInstalled(s *store.Store) (rec installed) {
	if data, err := os.ReadFile(s.Path(installedFile)); err == nil && json.Unmarshal(data, &rec) != nil {
		return installed{}
	}
	return rec
}

// keepFirst writes a backup unless there is one: the first is the one that
// holds the user's own state.
func keepFirst(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, werr := f.Write(data)
	return errors.Join(werr, f.Sync(), f.Close())
}

// writeFile replaces a settings file atomically and keeps its mode.
func writeFile(path string, data []byte) error {
	mode := fs.FileMode(0o600)
	if fi, err := os.Stat(path); err == nil {
		mode = fi.Mode().Perm()
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	disk := store.OS{}
	f, err := disk.Create(dir)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, os.Chmod(f.Name(), mode), f.Sync(), f.Close())
	if err == nil {
		err = disk.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return disk.SyncDir(dir)
}

// BackUp keeps the first version of a file of the store.
func BackUp(s *store.Store, name string) error {
	data, err := os.ReadFile(s.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = keepFirst(s.Path(name+".bak"), data)
	}
	if err != nil {
		return fmt.Errorf("back up %s: %w", s.Path(name), err)
	}
	return nil
}

// UninstallAnswer says what became of our hooks and our server.
type UninstallAnswer struct {
	Settings string `json:"settings"`
	Result   string `json:"result"`
	MCP      string `json:"mcp"`
	Store    string `json:"store"`
}

// Uninstall takes our hooks out of the agent's settings, and with mcp our server
// out of the agent: the one of that name, or every one that Install registered.
func Uninstall(ctx context.Context, h Host, mcp bool, name string) (a UninstallAnswer, err error) {
	s, err := OpenStore(h)
	if err != nil {
		return a, err
	}
	harness := agent.Default()
	a.Settings, a.Store = harness.Settings.SettingsPath(h.Config.AgentHomes()[harness.Name]), s.Root()
	if a.Result, err = uninstallHooks(s, harness, a.Settings); err == nil && mcp {
		if servers, ok := harness.Settings.(agent.ServerCommand); ok {
			a.MCP, err = unregisterAll(ctx, s, servers, name)
		}
	}
	return a, err
}

func uninstallHooks(s *store.Store, h *agent.Harness, path string) (what string, err error) {
	edit, err := readSettings(path)
	if err != nil {
		return "", fmt.Errorf("uninstall: %w", err)
	}
	rec := readInstalled(s)
	switch {
	case edit.Old == nil:
		return "nothing to remove from", nil
	case rec.Path == edit.Path && rec.After == store.Digest(edit.Old) && !rec.Existed:
		what, err = "removed", os.Remove(edit.Path)
	case rec.Path == edit.Path && rec.After == store.Digest(edit.Old):
		what, err = "restored", writeFile(edit.Path, rec.Before)
	default:
		if edit.New, err = h.Settings.Uninstall(edit.Old, agent.Own); err != nil {
			return "", fmt.Errorf("uninstall: %s: %w", edit.Path, err)
		}
		if bytes.Equal(edit.Old, edit.New) {
			return "nothing to remove from", nil
		}
		what, err = "removed ours from", writeFile(edit.Path, edit.New)
	}
	if err != nil {
		return "", fmt.Errorf("uninstall: %w", err)
	}
	if err := rememberInstalled(s, installed{V: 1, Servers: rec.Servers}); err != nil {
		return what, fmt.Errorf("uninstall: %w", err)
	}
	return what, nil
}
