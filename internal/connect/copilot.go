package connect

import (
	"path/filepath"
)

// copilotSettings is a file of hooks of our own: Copilot reads every file of its folder.
type copilotSettings struct{ hooksFile }

// SettingsPath implements SettingsEditor.
func (copilotSettings) SettingsPath(home string) string {
	return filepath.Join(home, "hooks", "anamnesis.json")
}

// ProjectSettings implements SettingsEditor.
func (copilotSettings) ProjectSettings(dir string) []string {
	return []string{filepath.Join(dir, ".github", "hooks", "anamnesis.json")}
}

// PlainHooks implements SettingsEditor. With these names of events a payload bears the
// event's name, and tools have the names of most agents. No matcher is applied to some.
func (copilotSettings) PlainHooks(base string) (all []Hook) {
	for _, event := range []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "SubagentStart", "SubagentStop", "PreCompact", "SessionEnd",
	} {
		all = append(all, Hook{Event: event, Command: base + " hook copilot " + event, Timeout: 10})
	}
	return all
}

// PluginFile implements pluginHost.
func (copilotSettings) PluginFile(home string) string { return filepath.Join(home, "settings.json") }

// PluginServes implements pluginHost.
func (copilotSettings) PluginServes() bool { return true }

// Plugin implements pluginHost.
func (copilotSettings) Plugin(settings []byte) string { return enabledPlugin(settings) }
