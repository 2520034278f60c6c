package agent

import (
	"slices"
	"strings"
)

// A Call is what a tool is about to do or has done, in words of no agent. Its texts
// come from a model and are not trusted; what was not as it should be is empty.
type Call struct {
	Files   []string // that it writes, as the agent names them
	Command string   // that it hands to a shell

	Task     string // that it gives to a sub-agent
	TaskType string // the kind of sub-agent; "" for the usual one
}

// CalledByModel reports whether the metadata of a call of an MCP tool says that a model made it: those of a hook have
// neither the id of a tool's use (Claude Code) nor that of a call (Codex).
func CalledByModel(meta map[string]any) bool {
	_, claude := meta["claudecode/toolUseId"]
	_, codex := meta["callId"]
	return claude || codex
}

// maxCallFiles bounds how many files are read of a call.
const maxCallFiles = 1000

// A toolKind is what a tool does, as far as it matters to us.
type toolKind int

const (
	editTool  toolKind = iota + 1 // takes a text out of a file and puts one in
	patchTool                     // the same, as a patch of several files in one text
	shellTool
	taskTool // starts a sub-agent
)

// A tool is one whose calls are read. Tools that only look are none: nothing of them
// is read.
type tool struct {
	name string // as the agent calls it
	as   string // as policies call it, whatever the agent
	kind toolKind
}

// callOf reads what the tool of an event does. Agents name the members of a call
// differently and never use a name of another for something else.
func callOf(kind toolKind, e Event) (c Call) {
	if len(e.ToolInput) == 0 {
		return c
	}
	text := func(value []byte) string { return strings.ReplaceAll(decode(value), "\x00", "") }
	patch := text(e.ToolInput) // an agent may hand it over as a bare text
	_, _ = eachMember(e.ToolInput, func(key, value []byte) {
		switch name := string(key); kind {
		case editTool:
			if slices.Contains([]string{"file_path", "notebook_path", "filePath", "path", "absolute_path"}, name) {
				if s := text(value); s != "" {
					c.Files = append(c.Files, s)
				}
			}
		case patchTool:
			if name == "command" || name == "input" || name == "patch" || name == "patchText" {
				patch = text(value)
			}
		case shellTool:
			if name == "command" || name == "cmd" {
				c.Command = text(value)
			}
		case taskTool:
			switch name {
			case "prompt", "message", "task", "goal":
				c.Task = strings.TrimSpace(StripInjected(text(value)))
			case "subagent_type", "agent_type", "agent_name":
				if s := text(value); len(s) <= 256 && !hasControl(s) {
					c.TaskType = s
				}
			}
		}
	})
	return c.withPatch(kind, patch)
}

// withPatch reads the patch of a call: the text that a tool got, or one in the command line of a shell, which hands it to
// the program that applies patches.
func (c Call) withPatch(kind toolKind, patch string) Call {
	if kind != patchTool {
		patch = c.Command
	}
	if kind == patchTool || strings.Contains(patch, "*** Begin Patch") {
		c.Files = patchedFiles(patch)
	}
	return c
}

// patchedFiles lists the files of a patch in the form that agents write: headers such as
// "*** Update File: NAME", then lines that begin with + or -.
func patchedFiles(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		if name, ok := patchHeader(strings.TrimRight(line, "\r\n")); ok && len(files) < maxCallFiles {
			files = append(files, name)
		}
	}
	return files
}

// patchHeader reads the header of one file in a patch.
func patchHeader(line string) (file string, ok bool) {
	for _, head := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
		if name, is := strings.CutPrefix(line, head); is && strings.TrimSpace(name) != "" {
			return strings.TrimSpace(name), true
		}
	}
	return "", false
}

// cutBytes cuts a text to at most n bytes, between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
