package agent

import (
	"io"
	"path"
	"path/filepath"
	"strings"
)

// claude is Claude Code.
//
// Its transcripts are JSON lines, one file per session, appended to while the
// session runs (claude_record.go, claude_text.go, claude_session.go,
// claude_peek.go). Its hooks get one JSON object on standard input
// (claude_hook.go). They are set in settings.json (settings_hooks.go).
type claude struct{}

const claudeName = "claude"

var (
	_ SessionSource  = claude{}
	_ ProjectFolders = claude{}
	_ HookDialect    = claude{}
	_ SettingsEditor = claudeSettings{}
	_ ServerCommand  = claudeSettings{}
	_ PluginHost     = claudeSettings{}
	_ MemoryReader   = claude{}
)

// SessionFiles implements SessionSource. Below projects there is a folder for
// each working directory, and in it a file for each session.
func (claude) SessionFiles() []string { return []string{"projects/*/*.jsonl"} }

// SessionsIn implements SessionSource. A file is one session; that of a
// sub-agent is shown by its name.
func (claude) SessionsIn(name string, _ File) ([]string, error) {
	if strings.HasPrefix(path.Base(filepath.ToSlash(name)), "agent-") {
		return nil, nil
	}
	return []string{""}, nil
}

// Open implements SessionSource: the records are the file.
func (claude) Open(f File, _ string) (*io.SectionReader, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.NewSectionReader(f, 0, fi.Size()), nil
}

// ProjectFolder implements ProjectFolders.
func (claude) ProjectFolder(file string) string {
	words := strings.Split(file, "/")
	if len(words) < 3 || words[0] != "projects" {
		return ""
	}
	return path.Join(words[:2]...)
}

// FolderName implements ProjectFolders: a hyphen for every UTF-16 code unit that
// is no ASCII letter and no digit.
func (claude) FolderName(dir string) string {
	var b strings.Builder
	for _, r := range dir {
		switch {
		case '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// claudeSettings is settings.json of Claude Code.
type claudeSettings struct{ hooksFile }

// SettingsPath implements SettingsEditor.
func (claudeSettings) SettingsPath(home string) string { return filepath.Join(home, "settings.json") }

// ProjectSettings implements SettingsEditor.
func (claudeSettings) ProjectSettings(dir string) []string {
	return []string{filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json")}
}

// PlainHooks implements SettingsEditor: what a session is shown at its start, the
// sync that may run beside it, what it is shown at a prompt, before a tool runs that
// changes something, what a sub-agent is shown and, because a compaction loses that, again
// after one, the events that no record of a session keeps, and the two moments at which a
// session is worth keeping.
func (claudeSettings) PlainHooks(base string) []Hook {
	return []Hook{
		{Event: "SessionStart", Matcher: "startup|resume|clear|compact|fork", Command: base + " inject", Timeout: 15},
		{Event: "SessionStart", Matcher: "startup|resume", Command: base + " sync", Async: true},
		{Event: "UserPromptSubmit", Command: base + " hook claude UserPromptSubmit", Timeout: 10},
		{Event: "PreToolUse", Matcher: claudeTools, Command: base + " hook claude PreToolUse", Timeout: 10},
		{Event: "PermissionRequest", Matcher: claudeTools, Command: base + " hook claude PermissionRequest", Timeout: 10},
		{Event: "PostToolUseFailure", Matcher: claudeTools, Command: base + " hook claude PostToolUseFailure", Timeout: 10},
		{Event: "Notification", Matcher: "permission_prompt", Command: base + " hook claude Notification", Timeout: 10},
		{Event: "SubagentStart", Command: base + " hook claude SubagentStart", Timeout: 10},
		{Event: "SubagentStop", Command: base + " hook claude SubagentStop", Timeout: 10},
		{Event: "PostCompact", Command: base + " hook claude PostCompact", Timeout: 10},
		{Event: "SessionEnd", Command: base + " capture", Timeout: 180},
		{Event: "PreCompact", Command: base + " capture --source precompact --no-sync", Timeout: 60},
	}
}

// claudeTools are the tools of which Call reads something. For others no process is
// started.
const claudeTools = "Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Agent|Task"
