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

// claudeTools are the tools of which Call reads something. For others no process is
// started.
const claudeTools = "Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Agent|Task"
