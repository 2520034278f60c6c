package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"
)

// installedFile remembers what was done to the files of agents, so that they can be
// restored byte for byte.
const installedFile = "installed.json"

type installed struct {
	V       int      `json:"v"`
	Files   []file   `json:"files,omitempty"`
	Servers []string `json:"servers,omitempty"` // names of our MCP server, as an agent's command registered it

	file // of version 1, which knew one file of one agent
}

// A file is one that was changed.
type file struct {
	Agent   string `json:"agent,omitempty"`
	Path    string `json:"path,omitempty"`
	Existed bool   `json:"existed,omitempty"`
	Before  []byte `json:"before,omitempty"` // the bytes before the first time
	After   string `json:"after,omitempty"`  // SHA-256 of the bytes we wrote
	Made    string `json:"made,omitempty"`   // the first folder that was made for it

	At time.Time `json:"at,omitzero"` // the first time
}

// rememberInstalled writes the record, or deletes it when there is nothing to remember.
func rememberInstalled(s *store.Store, rec installed) error {
	if len(rec.Files) == 0 && len(rec.Servers) == 0 {
		if err := os.Remove(s.Path(installedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	rec.V = 2
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
	if rec.Path != "" {
		rec.Agent = agent.Default().Name
		rec.Files = append(rec.Files, rec.file)
	}
	rec.file = file{}
	return rec
}

// Connected lists the agents whose files were changed and were not restored since, in
// the order in which that was done.
func Connected(s *store.Store) (names []string) {
	seen := make(map[string]bool)
	for _, f := range readInstalled(s).Files {
		if !seen[f.Agent] {
			seen[f.Agent] = true
			names = append(names, f.Agent)
		}
	}
	return names
}

// ConnectedSince returns when each agent was connected, zero for one that an earlier version
// connected, which did not write that down.
func ConnectedSince(s *store.Store) map[string]time.Time {
	since := make(map[string]time.Time)
	for _, f := range readInstalled(s).Files {
		if at, ok := since[f.Agent]; !ok || f.At.Before(at) {
			since[f.Agent] = f.At
		}
	}
	return since
}

// writeFile replaces a settings file atomically and keeps its mode. The file must still
// be as it was read, nil for none: an agent that runs writes its settings, too.
func writeFile(path string, old, data []byte) error {
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
		if now, rerr := os.ReadFile(path); rerr == nil && !bytes.Equal(now, old) || old != nil && errors.Is(rerr, fs.ErrNotExist) {
			err = errBusy
		}
	}
	if err == nil {
		err = disk.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(f.Name()))
	}
	return disk.SyncDir(dir)
}

// BackUp keeps the first version of a file of the store: the one that holds the user's own
// state.
func BackUp(s *store.Store, name string) error {
	if _, err := os.Lstat(s.Path(name + ".bak")); err == nil {
		return nil
	}
	data, err := os.ReadFile(s.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = s.Replace(name+".bak", data)
	}
	if err != nil {
		return fmt.Errorf("back up %s: %w", s.Path(name), err)
	}
	return nil
}
