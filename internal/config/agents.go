package config

import (
	"path/filepath"
	"runtime"
)

// AgentHomes returns the home folders of the coding agents by their short names,
// "" where it is not known.
func (c *Config) AgentHomes() map[string]string {
	below := func(dir string, names ...string) string {
		if dir == "" {
			return ""
		}
		return filepath.Join(append([]string{dir}, names...)...)
	}
	return map[string]string{
		"claude": c.ClaudeHome, "codex": c.Others.Codex, "gemini": below(c.Agents.Gemini, ".gemini"), "copilot": c.Agents.Copilot,
		"cursor": c.Agents.Cursor, "hermes": c.Agents.Hermes, "opencode": below(c.Agents.XDGConfig, "opencode"),
		"qwen": below(c.UserHome, ".qwen"), "windsurf": below(c.UserHome, ".codeium", "windsurf"), "cline": below(c.UserHome, ".cline"),
		"roo": below(c.UserHome, ".roo"), "kiro": below(c.UserHome, ".kiro"), "zed": below(c.Agents.XDGConfig, "zed"),
		"amp": below(c.Agents.XDGConfig, "amp"), "goose": below(c.Agents.XDGConfig, "goose"),
		"kilo": below(c.Agents.XDGConfig, "kilo"), "kimi": below(c.UserHome, ".kimi"), "pi": below(c.UserHome, ".pi", "agent"),
		"antigravity": below(c.UserHome, ".gemini", "antigravity"), "vscode": c.vscodeHome(runtime.GOOS, below),
	}
}

// vscodeHome returns the folder in which VS Code keeps its user's settings, on an operating system.
func (c *Config) vscodeHome(system string, below func(dir string, names ...string) string) string {
	switch system {
	case "darwin":
		return below(c.UserHome, "Library", "Application Support", "Code", "User")
	case "windows":
		return below(c.UserHome, "AppData", "Roaming", "Code", "User")
	}
	return below(c.Agents.XDGConfig, "Code", "User")
}

// SessionHomes is AgentHomes for sessions and memories: an agent may keep its settings in
// one folder and its sessions in another.
func (c *Config) SessionHomes() map[string]string {
	all := c.AgentHomes()
	if c.Agents.XDGData != "" {
		all["opencode"] = filepath.Join(c.Agents.XDGData, "opencode")
	}
	return all
}

// AgentHomeName returns the environment variable that says where the home folder
// of an agent stands.
func AgentHomeName(agent string) string {
	if row := new(Config).find(agent + "_home"); row != nil {
		return row.Env
	}
	return ""
}
