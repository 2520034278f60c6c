package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"

	"github.com/spf13/cobra"
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

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// install writes the settings file: backup first, then the record, then the file.
func (p *program) install(s *store.Store, pl plan) error {
	if !pl.edit.Changed() {
		return nil
	}
	was := p.installed(s)
	clean, err := agent.Claude{}.Uninstall(pl.edit.Old, agent.Own) // without what an earlier init put there
	if err != nil {
		return fmt.Errorf("read %s: %w", pl.edit.Path, err)
	}
	rec := installed{V: 1, Path: pl.edit.Path, Existed: pl.edit.Old != nil, Before: clean, After: digest(pl.edit.New), Servers: was.Servers}
	ours := was.Path == rec.Path && was.After == digest(pl.edit.Old)
	if ours { // our own earlier work: the first state counts
		rec.Existed, rec.Before = was.Existed, was.Before
	}
	if pl.edit.Old != nil && !ours {
		if err := keepFirst(pl.edit.Path+".bak", pl.edit.Old); err != nil {
			return fmt.Errorf("back up %s: %w", pl.edit.Path, err)
		}
	}
	if err := p.remember(s, rec); err != nil {
		return err
	}
	return writeSettings(pl.edit.Path, pl.edit.New)
}

// remember writes the record, or deletes it when there is nothing to remember.
func (p *program) remember(s *store.Store, rec installed) error {
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

func (p *program) installed(s *store.Store) (rec installed) {
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

// writeSettings replaces a settings file atomically and keeps its mode.
func writeSettings(path string, data []byte) error {
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

// backup keeps the first version of a file of the store.
func (p *program) backup(s *store.Store, name string) error {
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

func newUninstall(p *program) *cobra.Command {
	var name string
	var noMCP bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take our hooks and our server out of Claude Code",
		Long: `Take our hooks out of Claude Code's settings and leave everything else. If the
file is still as init left it, its former bytes come back. The MCP server is taken
out by Claude Code's own command. The store stays: your notes are yours.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("name") {
				if err := checkServerName(name); err != nil {
					return err
				}
			}
			s, err := p.openStore()
			if err != nil {
				return err
			}
			path := agent.Claude{}.SettingsPath(p.cfg.ClaudeHome)
			what, err := p.uninstall(s, path)
			if err != nil {
				return err
			}
			server := ""
			if !noMCP {
				if server, err = p.unregisterAll(cmd.Context(), s, name); err != nil {
					return err
				}
			}
			if p.json {
				return p.emit(struct {
					header
					Settings string `json:"settings"`
					Result   string `json:"result"`
					MCP      string `json:"mcp"`
					Store    string `json:"store"`
				}{head("uninstall"), path, what, server, s.Root()})
			}
			p.printf("hooks: %s %s\n", what, path)
			if server != "" {
				p.printf("%s\n", server)
			}
			p.printf("uninstall: done. Your notes stay in %s\n", s.Root())
			return nil
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "`NAME` of the MCP server (default: as init registered it)")
	cmd.Flags().BoolVar(&noMCP, "no-mcp", false, "leave the MCP server where it is")
	return cmd
}

func (p *program) uninstall(s *store.Store, path string) (what string, err error) {
	edit, err := readSettings(path)
	if err != nil {
		return "", fmt.Errorf("uninstall: %w", err)
	}
	rec := p.installed(s)
	switch {
	case edit.Old == nil:
		return "nothing to remove from", nil
	case rec.Path == edit.Path && rec.After == digest(edit.Old) && !rec.Existed:
		what, err = "removed", os.Remove(edit.Path)
	case rec.Path == edit.Path && rec.After == digest(edit.Old):
		what, err = "restored", writeSettings(edit.Path, rec.Before)
	default:
		if edit.New, err = (agent.Claude{}).Uninstall(edit.Old, agent.Own); err != nil {
			return "", fmt.Errorf("uninstall: %s: %w", edit.Path, err)
		}
		if bytes.Equal(edit.Old, edit.New) {
			return "nothing to remove from", nil
		}
		what, err = "removed ours from", writeSettings(edit.Path, edit.New)
	}
	if err != nil {
		return "", fmt.Errorf("uninstall: %w", err)
	}
	if err := p.remember(s, installed{V: 1, Servers: rec.Servers}); err != nil {
		return what, fmt.Errorf("uninstall: %w", err)
	}
	return what, nil
}
