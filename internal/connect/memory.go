package connect

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// An OwnMemory says what the settings of an agent's user do to the memories that the agent keeps for itself.
type OwnMemory struct {
	Dir string // the folder to which they are moved, "" for the usual place
	Off string // the file that switches them off, "" for none
}

// OwnMemory reads the settings of the agent for all projects. A repository cannot move memories: the agents ignore what its
// settings say of that.
func (c *Client) OwnMemory(user, home string) OwnMemory {
	if c.Memories == nil || !filepath.IsAbs(home) {
		return OwnMemory{}
	}
	return c.Memories(user, home)
}

// claudeMemory reads the settings of the machine, which count more, and those of the user. In each the first that says
// something counts.
func claudeMemory(user, home string) (m OwnMemory) {
	var s claudeSettings
	decided := false
	for _, path := range append(s.ManagedSettings(), s.SettingsPath(home)) {
		edit, err := readSettings(path)
		if err != nil || edit.Old == nil {
			continue
		}
		var file struct {
			Dir     string `json:"autoMemoryDirectory"`
			Enabled *bool  `json:"autoMemoryEnabled"`
			Env     map[string]any
		}
		plain, err := hujson.Standardize(slices.Clone(edit.Old))
		if err != nil || json.Unmarshal(plain, &file) != nil {
			continue
		}
		if m.Dir == "" {
			m.Dir = expandHome(file.Dir, user)
		}
		off := file.Enabled != nil && !*file.Enabled
		if v, ok := file.Env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"].(string); ok && (v == "1" || strings.EqualFold(v, "true")) {
			off = true
		}
		if off && !decided {
			m.Off = path
		}
		decided = decided || off || file.Enabled != nil
	}
	return m
}

// expandHome returns an absolute path, in which a tilde is the user's home folder; "" for any other.
func expandHome(path, user string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && user != "" {
		path = filepath.Join(user, rest)
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Clean(path)
}

// codexMemory reads whether the user has switched the feature off.
func codexMemory(_, home string) (m OwnMemory) {
	edit, err := readSettings(filepath.Join(home, "config.toml"))
	var file struct{ Features struct{ Memories *bool } }
	if err == nil && readTOML(edit.Old, &file) == nil && file.Features.Memories != nil && !*file.Features.Memories {
		m.Off = edit.Path
	}
	return m
}
