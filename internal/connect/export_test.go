package connect

// ClaudeSettings edits the settings file of Claude Code, for tests of what is its own.
type ClaudeSettings = claudeSettings

// SetManagedFolder sets where managed settings are looked for, until undo is called.
func SetManagedFolder(dir string) (undo func()) {
	before := managedFolder
	managedFolder = map[string]string{"darwin": dir, "windows": dir, "": dir}
	return func() { managedFolder = before }
}
