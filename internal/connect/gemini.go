package connect

import (
	"path/filepath"
)

// geminiSettings is settings.json of Gemini CLI, which holds hooks and servers.
type geminiSettings struct{ hooksFile }

// SettingsPath implements SettingsEditor.
func (geminiSettings) SettingsPath(home string) string { return filepath.Join(home, "settings.json") }

// ProjectSettings implements SettingsEditor.
func (geminiSettings) ProjectSettings(dir string) []string {
	return []string{filepath.Join(dir, ".gemini", "settings.json")}
}

// PlainHooks implements SettingsEditor. A matcher of a session's events is compared as a
// whole, one of tools is a pattern.
func (geminiSettings) PlainHooks(base string) []Hook {
	at := func(event, matcher string) Hook {
		return Hook{Event: event, Matcher: matcher, Command: base + " hook gemini " + event, Timeout: 10}
	}
	const tools = "run_shell_command|replace|write_file"
	return []Hook{
		at("SessionStart", ""), at("BeforeAgent", ""), at("BeforeTool", tools+"|invoke_agent"), at("AfterTool", tools), at("SessionEnd", ""),
	}
}
