package session

import (
	"encoding/json"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/text"
)

// maxCommand is how many characters of a command line are quoted.
const maxCommand = 120

// Code writes a command line as code.
func Code(line string) string {
	line, _, _ = strings.Cut(line, "\n")
	return "`" + text.Cut(strings.ReplaceAll(line, "`", "'"), maxCommand) + "`"
}

// CommandOf is the command line that a tool ran, without the folder that it begins with; ""
// when it ran none, or this program.
func CommandOf(u agent.ToolUse) string {
	if u.Own {
		return ""
	}
	line := commandLine(u)
	if before, after, ok := strings.Cut(line, "&&"); ok && strings.HasPrefix(strings.TrimSpace(before), "cd ") {
		line = strings.TrimSpace(after)
	}
	return line
}

// commandLine is the command line that a tool ran; "" when it ran none.
func commandLine(u agent.ToolUse) string {
	if !mayName(u.Input, "command") && !mayName(u.Input, "cmd") {
		return ""
	}
	var input struct {
		Command json.RawMessage `json:"command"`
		Cmd     json.RawMessage `json:"cmd"` // of Codex
	}
	if json.Unmarshal(u.Input, &input) != nil {
		return ""
	}
	if len(input.Command) == 0 {
		input.Command = input.Cmd
	}
	if len(input.Command) == 0 {
		return ""
	}
	var line string
	if json.Unmarshal(input.Command, &line) != nil {
		var words []string // some agents give the words
		if json.Unmarshal(input.Command, &words) != nil {
			return ""
		}
		if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") { // a shell runs the line
			words = words[2:]
		}
		line = strings.Join(words, " ")
	}
	return strings.TrimSpace(line)
}

// has reports whether an object has a member of the name.
func has(object []byte, name string) bool {
	var members map[string]json.RawMessage
	return mayName(object, name) && json.Unmarshal(object, &members) == nil && members[name] != nil
}

// mayName reports whether an object may have a member of the name, in any case or escaped. It
// spares the reading of inputs that hold whole files.
func mayName(object []byte, name string) bool {
	for i := 0; i+len(name) <= len(object); i++ {
		if c := object[i]; c|0x20 == name[0] && strings.EqualFold(string(object[i:i+len(name)]), name) {
			return true
		}
	}
	return strings.Contains(string(object), `\u`)
}
