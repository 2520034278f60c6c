package capture

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/lesson"
	"anamnesis/internal/note"
)

// A fix is a command that failed, and passed later in the session.
type fix struct {
	command string
	output  string   // what it said when it failed
	edited  []string // files that were edited in between
}

// maxFixes is how many a note keeps.
const maxFixes = 5

// fixes finds the commands of a session that failed and then passed, in the order
// in which they passed. Commands that only look (ls, grep, git status) say nothing.
func fixes(turns []agent.Turn) (out []fix) {
	failed := make(map[string]*fix)
	for i := range turns {
		for _, u := range turns[i].Tools {
			if u.Path != "" {
				for _, f := range failed {
					if !slices.Contains(f.edited, u.Path) {
						f.edited = append(f.edited, u.Path)
					}
				}
				continue
			}
			command := shellCommand(u)
			key := normalCommand(command)
			if key == "" || looks(key) || u.Denied {
				continue
			}
			f := failed[key]
			switch {
			case u.Error && f == nil && u.Result != "":
				failed[key] = &fix{command: command, output: u.Result}
			case !u.Error && f != nil && u.Result != "": // a result that was never met is no pass
				out = append(out, *f)
				delete(failed, key)
			}
		}
	}
	if len(out) > maxFixes {
		out = out[len(out)-maxFixes:]
	}
	return out
}

// shellCommand is the command line that a tool ran, "" when it ran none.
func shellCommand(u agent.ToolUse) string {
	var input struct {
		Command json.RawMessage `json:"command"`
	}
	if json.Unmarshal(u.Input, &input) != nil {
		return ""
	}
	var line string
	if json.Unmarshal(input.Command, &line) != nil {
		var words []string // some agents give the words
		if json.Unmarshal(input.Command, &words) != nil {
			return ""
		}
		line = strings.Join(words, " ")
	}
	return strings.TrimSpace(line)
}

// normalCommand is a command line without what may differ between two tries: the
// folder it begins with, flags, and what cuts its output.
func normalCommand(line string) string {
	line, _, _ = strings.Cut(line, "\n")
	if before, after, ok := strings.Cut(line, "&&"); ok && strings.HasPrefix(strings.TrimSpace(before), "cd ") {
		line = after
	}
	line, _, _ = strings.Cut(line, "|")
	var words []string
	for _, w := range strings.Fields(line) {
		if !strings.HasPrefix(w, "-") && w != "2>&1" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// looks reports whether a command only looks at something.
func looks(command string) bool {
	first, rest, _ := strings.Cut(command, " ")
	switch first {
	case "ls", "cat", "cd", "grep", "rg", "find", "echo", "which", "head", "tail", "sed", "awk", "test", "[", "pwd", "stat", "wc", "type",
		"command", "tree", "file", "diff",
		"sleep", "kill", "pkill", "ps", "curl", "wget", "ping", "env", "printenv", "true", "false", "mkdir", "rm", "cp", "mv":
		return true
	case "git":
		second, _, _ := strings.Cut(rest, " ")
		return slices.Contains([]string{
			"status", "diff", "log", "show", "branch", "grep", "blame", "fetch", "stash", "checkout", "switch",
		}, second)
	}
	return false
}

// symptoms are the words of a line that says what went wrong.
var symptoms = []string{
	"error", "fail", "panic", "exception", "undefined", "cannot", "not found", "denied", "refused", "expected", "want",
}

// symptom picks the line of an output that says what went wrong.
func symptom(output string) string {
	first := ""
	for line := range strings.Lines(note.CutRunes(output, 20_000)) {
		line = strings.Join(strings.Fields(line), " ")
		lower := strings.ToLower(line)
		if line == "" || strings.HasPrefix(lower, "exit code") {
			continue
		}
		if first == "" {
			first = line
		}
		if slices.ContainsFunc(symptoms, func(word string) bool { return strings.Contains(lower, word) }) {
			return line
		}
	}
	return first
}

// String renders a fix as a line of a note.
func (f *fix) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "`%s` failed", lesson.Cut(strings.ReplaceAll(f.command, "`", "'"), 120))
	if line := symptom(f.output); line != "" {
		fmt.Fprintf(&b, " (%s)", lesson.Cut(line, 160))
	}
	b.WriteString(", then passed")
	if n := len(f.edited); n > 0 {
		fmt.Fprintf(&b, " after %s", strings.Join(f.edited[:min(n, 3)], ", "))
		if n > 3 {
			fmt.Fprintf(&b, " and %d more", n-3)
		}
		b.WriteString(" changed")
	}
	return b.String()
}
