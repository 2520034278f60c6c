package connect

import (
	"path/filepath"
	"strings"
)

// claudeSettings is settings.json of Claude Code.
type claudeSettings struct{ hooksFile }

// SettingsPath implements SettingsEditor.
func (claudeSettings) SettingsPath(home string) string { return filepath.Join(home, "settings.json") }

// ProjectSettings implements SettingsEditor.
func (claudeSettings) ProjectSettings(dir string) []string {
	return []string{filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json")}
}

// PlainHooks implements SettingsEditor: what a session is shown at its start, the sync
// that may run beside it, what it is shown at a prompt, before a tool runs that changes
// something, what a sub-agent is shown, the events that no record of a session keeps, and
// its end. A compaction starts the session again, so the hooks of SessionStart do what is
// due then: Claude Code prints the command of each hook of PreCompact and PostCompact.
func (claudeSettings) PlainHooks(base string) []Hook {
	return []Hook{
		{Event: "SessionStart", Matcher: "startup|resume|clear|compact|fork", Command: base + " inject", Timeout: 15},
		{Event: "SessionStart", Matcher: "startup|resume|compact", Command: base + " sync", Async: true},
		{Event: "UserPromptSubmit", Command: base + " hook claude UserPromptSubmit", Timeout: 10},
		{Event: "PreToolUse", Matcher: claudeTools(), Command: base + " hook claude PreToolUse", Timeout: 10},
		{Event: "PermissionRequest", Matcher: claudeTools(), Command: base + " hook claude PermissionRequest", Timeout: 10},
		{Event: "PostToolUseFailure", Matcher: claudeTools(), Command: base + " hook claude PostToolUseFailure", Timeout: 10},
		{Event: "Notification", Matcher: "permission_prompt", Command: base + " hook claude Notification", Timeout: 10},
		{Event: "SubagentStart", Command: base + " hook claude SubagentStart", Timeout: 10},
		{Event: "SubagentStop", Command: base + " hook claude SubagentStop", Timeout: 10},
		{Event: "SessionEnd", Command: base + " capture", Timeout: 180},
	}
}

// claudeTools matches the tools of which its hooks read something. For others no process is
// started.
func claudeTools() string { return strings.Join(Default().Hooks.ToolNames(), "|") }
