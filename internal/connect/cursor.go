package connect

import (
	"path/filepath"
)

// cursorSettings is hooks.json of Cursor.
type cursorSettings struct{ hooksFile }

// SettingsPath implements SettingsEditor.
func (cursorSettings) SettingsPath(home string) string { return filepath.Join(home, "hooks.json") }

// ProjectSettings implements SettingsEditor.
func (cursorSettings) ProjectSettings(dir string) []string {
	return []string{filepath.Join(dir, ".cursor", "hooks.json")}
}

// PlainHooks implements SettingsEditor.
func (cursorSettings) PlainHooks(base string) []Hook {
	at := func(event, matcher string) Hook {
		return Hook{Event: event, Matcher: matcher, Command: base + " hook cursor " + event, Timeout: 10}
	}
	const tools = "Shell|StrReplace|Write"
	return []Hook{
		at("sessionStart", ""), at("preToolUse", tools), at("postToolUse", tools), at("preCompact", ""), at("sessionEnd", ""),
	}
}

// ToDo implements Advisor.
func (cursorSettings) ToDo() string {
	return "Cursor takes no text at a prompt. Copy what `anamnesis agents --rules` prints into its User Rules, so that it " +
		"asks on its own."
}
