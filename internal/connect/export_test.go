package connect

// ClaudeSettings edits the settings file of Claude Code, for tests of what is its own.
type ClaudeSettings = claudeSettings
