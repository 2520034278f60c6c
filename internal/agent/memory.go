package agent

import (
	"errors"
	"strings"

	textform "anamnesis/internal/text"
)

// A Memory is one thing that an agent has written down for itself, in its own
// files and without us.
type Memory struct {
	// Key names the memory within its agent. It stays the same when the text
	// changes, and does not depend on where the home folder is.
	Key string

	Kind  string // what the agent calls it: feedback, user, task, rollout, skill …
	Title string // one line; never empty
	Body  string // LF line ends, no blank lines around it

	// Folder is the folder, as ProjectFolders.ProjectFolder gives it, whose
	// sessions say which project the memory belongs to, Dir a working directory
	// that the memory itself names. Both are empty for what holds everywhere.
	Folder string
	Dir    string

	Session string // the session that an episode tells of, if it says
	Episode bool   // it tells what happened once
}

// A MemoryReader reads the memories that an agent keeps on its own. Like the
// other abilities it opens no file: a caller finds those that match and hands
// over their bytes.
type MemoryReader interface {
	// MemoryFiles are patterns of the files of memories below the agent's home
	// folder, with slashes, in the form of package path.
	MemoryFiles() []string

	// ReadMemory reads one such file; name is its path below the home folder,
	// with slashes. A file without a memory gives ErrNoMemory. It is lenient:
	// whatever can be understood is, and a broken line spoils only itself.
	ReadMemory(name string, data []byte) ([]Memory, error)
}

// ErrNoMemory says that a file among an agent's memories is none.
var ErrNoMemory = errors.New("no memory in it")

// The bounds of what is read of a memory file before its text.
const (
	maxHeadLines = 200
	maxHeadBytes = 32 << 10
)

// A head is what stands between two lines of dashes at the top of a file: keys
// at the margin, and keys one level below a key without a value ("metadata.type").
type head map[string]string

// readHead splits a file into its head and its body. It knows no YAML: a key is
// what stands before the first colon of a line, and lines that are indented
// below a key go on with its value. So nothing in a head can be expensive.
func readHead(text string) (h head, body string, ok bool) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return nil, text, false
	}
	h = make(head)
	key, parent := "", ""
	for n, left := 0, rest; n < maxHeadLines && len(rest)-len(left) <= maxHeadBytes; n++ {
		if left == "" {
			return nil, text, false
		}
		var line string
		line, left, _ = strings.Cut(left, "\n")
		if strings.TrimRight(line, " \t") == "---" {
			for k, v := range h {
				h[k] = unquoteValue(v)
			}
			return h, left, true
		}
		trimmed := strings.TrimSpace(line)
		switch indented := line != "" && (line[0] == ' ' || line[0] == '\t'); {
		case trimmed == "" || trimmed[0] == '#':
		case !indented:
			key, parent = h.set("", trimmed), ""
			if key != "" && h[key] == "" {
				parent = key
			}
		case parent != "":
			if k := h.set(parent+".", trimmed); k != "" {
				key = k
				continue
			}
			parent = "" // words, not keys: the value begins on the next line
			fallthrough
		case key != "":
			if v := h[key]; strings.Trim(v, "|>+-") == "" {
				h[key] = trimmed
			} else {
				h[key] = v + " " + trimmed
			}
		}
	}
	return nil, text, false
}

// set notes a line "key: value" and returns the key, "" when it is none. Of two
// equal keys the first counts.
func (h head) set(prefix, line string) string {
	key, value, ok := strings.Cut(line, ":")
	if !ok || key == "" || len(key) > 64 || strings.ContainsAny(key, " \t\"'[]{},") || value != "" && value[0] != ' ' && value[0] != '\t' {
		return ""
	}
	key = prefix + key
	if _, twice := h[key]; !twice {
		h[key] = strings.TrimSpace(value)
	}
	return key
}

// unquoteValue takes the quotes off a value; what is not closed stays as it is.
func unquoteValue(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch s[0] {
	case '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	case '"':
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, " ", `\t`, " ").Replace(s[1 : len(s)-1])
	}
	return s
}

// memoryText decodes a file: UTF-8, LF, no byte order mark, no control characters.
func memoryText(data []byte) string {
	text := textform.Plain(strings.TrimPrefix(string(data), "\ufeff"))
	return StripInjected(strings.ReplaceAll(text, "\r\n", "\n"))
}

// oneLine makes a title: white space folded, at most 300 characters.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		return strings.TrimSpace(string(r[:299])) + "…"
	}
	return s
}

// blankAround cuts blank lines at both ends and white space at the end of a body.
func blankAround(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, "\n"), " \t\n")
}
