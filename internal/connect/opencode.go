package connect

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"path/filepath"
	"strings"

	"anamnesis/internal/agent"
)

// opencodePlugin is our plugin; the line with the commands is put into it.
//
//go:embed opencode_plugin.js
var opencodePlugin string

// The first line of the plugin, and what begins and ends the line with the commands.
const (
	pluginHead  = "// This file was written by `anamnesis init`"
	pluginBegin = "const commands = "
)

// opencodeSettings is the file of our plugin. It is ours as a whole.
type opencodeSettings struct{}

// SettingsPath implements SettingsEditor.
func (opencodeSettings) SettingsPath(home string) string {
	return filepath.Join(home, "plugin", "anamnesis.js")
}

// ProjectSettings implements SettingsEditor.
func (opencodeSettings) ProjectSettings(dir string) []string {
	return []string{filepath.Join(dir, ".opencode", "plugin", "anamnesis.js")}
}

// opencodeEvents are those that our plugin hands on, by the names that it gives them.
var opencodeEvents = []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PreCompact", "PostCompact", "SessionEnd"}

// PlainHooks implements SettingsEditor.
func (opencodeSettings) PlainHooks(base string) (all []Hook) {
	for _, event := range opencodeEvents {
		all = append(all, Hook{Event: event, Command: base + " hook opencode " + event, Timeout: 10})
	}
	return all
}

// Install implements SettingsEditor.
func (opencodeSettings) Install(old []byte, hooks []Hook, _ func(string) bool) ([]byte, error) {
	if !noText(old) && !bytes.HasPrefix(old, []byte(pluginHead)) {
		return nil, settingsError(old, 0, "the file was not written by this program", "move it away and run the command again")
	}
	commands := "{"
	for i, h := range hooks {
		if i > 0 {
			commands += ", "
		}
		commands += agent.QuoteJSON(h.Event) + ": " + agent.QuoteJSON(h.Command)
	}
	return []byte(strings.Replace(opencodePlugin, pluginBegin+"{}", pluginBegin+commands+"}", 1)), nil
}

// Installed implements SettingsEditor.
func (opencodeSettings) Installed(data []byte, own func(string) bool) (hooks []Hook, off bool, err error) {
	for line := range strings.Lines(string(data)) {
		text, ok := strings.CutPrefix(line, pluginBegin)
		if !ok {
			continue
		}
		var commands map[string]string
		if err := json.Unmarshal([]byte(text), &commands); err != nil {
			return nil, false, settingsError(data, bytes.Index(data, []byte(pluginBegin)), "the line with the commands cannot be read", fixSettings)
		}
		for _, event := range opencodeEvents {
			if c, ok := commands[event]; ok && own(c) {
				hooks = append(hooks, Hook{Event: event, Command: c, Timeout: 10})
			}
		}
		break
	}
	return hooks, false, nil
}

// Uninstall implements SettingsEditor.
func (opencodeSettings) Uninstall(old []byte, _ func(string) bool) ([]byte, error) {
	if bytes.HasPrefix(old, []byte(pluginHead)) {
		return []byte{}, nil
	}
	return old, nil
}
