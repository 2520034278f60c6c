package connect

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A managed editor has settings of whoever manages the machine, which those of a user do not overrule.
type managed interface {
	// ManagedSettings lists the files, whether they are there or not.
	ManagedSettings() []string
	// AllowsHooks reports whether such a file lets the hooks of users run.
	AllowsHooks(settings []byte) bool
}

// managedFolder is where Claude Code looks for managed settings.
var managedFolder = map[string]string{
	"darwin":  "/Library/Application Support/ClaudeCode",
	"windows": `C:\Program Files\ClaudeCode`,
	"":        "/etc/claude-code",
}

// ManagedSettings implements managed.
func (claudeSettings) ManagedSettings() []string {
	folder, ok := managedFolder[runtime.GOOS]
	if !ok {
		folder = managedFolder[""]
	}
	parts, _ := filepath.Glob(filepath.Join(folder, "managed-settings.d", "*.json"))
	return append([]string{filepath.Join(folder, "managed-settings.json")}, parts...)
}

// AllowsHooks implements managed.
func (claudeSettings) AllowsHooks(settings []byte) bool {
	var s struct {
		DisableAllHooks       bool `json:"disableAllHooks"`
		AllowManagedHooksOnly bool `json:"allowManagedHooksOnly"`
	}
	plain, err := hujson.Standardize(slices.Clone(settings))
	return err != nil || json.Unmarshal(plain, &s) != nil || !s.DisableAllHooks && !s.AllowManagedHooksOnly
}

// SwitchedOffIn returns the settings file that keeps an agent from running our hooks, "" for none. What is set for
// single projects is not looked at.
func SwitchedOffIn(c *Client, home string) string {
	if c.Settings == nil {
		return ""
	}
	own, err := readSettings(c.Settings.SettingsPath(home))
	if err == nil {
		if _, off, err := c.Settings.Installed(own.Old, Own); err == nil && off {
			return own.Path
		}
	}
	if m, ok := c.Settings.(managed); ok {
		for _, path := range m.ManagedSettings() {
			if edit, err := readSettings(path); err == nil && edit.Old != nil && !m.AllowsHooks(edit.Old) {
				return path
			}
		}
	}
	return ""
}

// Unapproved reports whether an agent has Anamnesis hooks and its user has approved none of them. The agent itself is not
// asked, so a hook that was changed after its approval counts as approved.
func Unapproved(c *Client, home string) bool {
	if c.Settings == nil || c.Approvals == nil {
		return false
	}
	own, err := readSettings(c.Settings.SettingsPath(home))
	if err != nil {
		return false
	}
	if hooks, _, err := c.Settings.Installed(own.Old, Own); err != nil || len(hooks) == 0 {
		return false
	}
	kept, err := readSettings(c.Approvals.Path(home))
	return err == nil && !c.Approvals.Any(kept.Old, own.Path)
}

// codexAny reports whether config.toml has an approval of a hook from a file.
func codexAny(config []byte, hooks string) bool {
	var file struct {
		Hooks struct {
			State map[string]struct {
				Hash string `toml:"trusted_hash"`
			}
		}
	}
	if readTOML(config, &file) != nil {
		return true // unknown
	}
	real, err := filepath.EvalSymlinks(hooks)
	if err != nil {
		real = hooks
	}
	for key, state := range file.Hooks.State {
		if state.Hash != "" && (strings.HasPrefix(key, hooks+":") || strings.HasPrefix(key, real+":")) {
			return true
		}
	}
	return false
}

// idle returns why an agent runs no Anamnesis hook, "" if it may run them.
func idle(c *Client, home string) string {
	if path := SwitchedOffIn(c, home); path != "" {
		return path + " switches hooks off"
	}
	if Unapproved(c, home) {
		return "you have not approved its hooks"
	}
	return ""
}
