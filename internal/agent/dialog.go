package agent

import (
	"path/filepath"
	"slices"
	"strings"
)

// AsksUser is the key of a tool's metadata by which Claude Code runs the tool only when its user has answered a dialog, which
// shows the arguments in full: no mode, rule or hook answers it (measured with the version in connect.Release).
const AsksUser = "anthropic/requiresUserInteraction"

// A Process is the one that started this program, as far as the system tells.
type Process struct {
	Args     []string // its command line
	Terminal bool     // its input is a terminal
	Nested   bool     // it runs in the shell of an agent
}

// headless are the options with which Claude Code asks no user, or lets another program answer.
var headless = []string{
	"-p", "--print", "--output-format", "--input-format", "--permission-prompt-tool", "--bg", "--background", "--remote", "--sdk-url",
}

// ShowsDialog reports whether a client shows its user the dialog of AsksUser: it is Claude Code by its name, in the version
// that was tried, and the process that started this program is that client, in a terminal, started by a person.
func ShowsDialog(client, version, tried string, parent Process) bool {
	if client != "claude-code" || version != tried || tried == "" || !parent.Terminal || parent.Nested || len(parent.Args) == 0 {
		return false
	}
	program := strings.TrimSuffix(filepath.Base(parent.Args[0]), ".exe")
	if program == "node" && len(parent.Args) > 1 {
		program = filepath.Base(parent.Args[1])
	}
	if program != "claude" {
		return false
	}
	options := parent.Args[1:]
	if end := slices.Index(options, "--"); end >= 0 {
		options = options[:end]
	}
	return !slices.ContainsFunc(options, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(headless, name) || len(name) > 2 && name[0] == '-' && name[1] != '-' && strings.Contains(name, "p")
	})
}
