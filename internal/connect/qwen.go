package connect

import (
	"path/filepath"
)

// qwenSettings is settings.json of Qwen Code, which holds hooks and servers.
type qwenSettings struct{ hooksFile }

// SettingsPath implements SettingsEditor.
func (qwenSettings) SettingsPath(home string) string { return filepath.Join(home, "settings.json") }

// ProjectSettings implements SettingsEditor.
func (qwenSettings) ProjectSettings(dir string) []string {
	return []string{filepath.Join(dir, ".qwen", "settings.json")}
}

// PlainHooks implements SettingsEditor.
func (qwenSettings) PlainHooks(base string) []Hook {
	at := func(event, matcher string) Hook {
		return Hook{Event: event, Matcher: matcher, Command: base + " hook qwen " + event, Timeout: 10}
	}
	const tools = "run_shell_command|edit|write_file"
	return []Hook{
		at("UserPromptSubmit", ""), at("PreToolUse", tools), at("PostToolUse", tools), at("PreCompact", ""), at("PostCompact", ""),
		at("SessionEnd", ""),
	}
}
