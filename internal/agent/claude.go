package agent

import "path/filepath"

// Claude is Claude Code.
//
// Its transcripts are JSON lines, one file per session, appended to while the
// session runs (claude_record.go, claude_text.go, claude_session.go,
// claude_glance.go). Its hooks get one JSON object on standard input
// (claude_hook.go). They are set in settings.json (claude_settings.go).
type Claude struct{}

var _ Harness = Claude{}

// Name implements Harness.
func (Claude) Name() string { return "claude" }

// Sessions implements Harness. Below projects there is a folder for each
// working directory, and in it a file for each session.
func (Claude) Sessions(home string) string {
	return filepath.Join(home, "projects", "*", "*.jsonl")
}

// SettingsPath implements Harness.
func (Claude) SettingsPath(home string) string { return filepath.Join(home, "settings.json") }

// Hooks implements Harness: what a session is told at its start, the sync that
// may run beside it, and the two moments at which a session is worth keeping.
func (Claude) Hooks(base string) []Hook {
	return []Hook{
		{Event: "SessionStart", Matcher: "startup|resume|clear", Command: base + " inject", Timeout: 15},
		{Event: "SessionStart", Matcher: "startup|resume", Command: base + " sync", Async: true},
		{Event: "SessionEnd", Command: base + " capture", Timeout: 180},
		{Event: "PreCompact", Command: base + " capture --source precompact --no-sync", Timeout: 60},
	}
}
