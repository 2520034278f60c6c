package connect

import (
	"slices"
	"strings"
)

// HookMark is the assignment that stands before every hook command of ours. It
// tells our entries in a settings file from everybody else's.
const HookMark = "ANAMNESIS_HOOK=1"

// An Env is what a hook's command line carries with it: a harness started from
// a desktop has not read the user's shell profile.
type Env struct {
	MachineID string
	Remote    string // empty if the memory stays on this machine
	Home      string // empty if it is the default
}

// CommandPrefix makes the part of a hook command that stands before the
// subcommand: the mark, the environment, and the program with its arguments.
//
// Quoting is that of a POSIX shell. It serves on Windows too, where Claude Code
// runs hook commands with Git Bash: an unquoted backslash would be eaten there,
// a quoted one stays.
func CommandPrefix(env Env, program ...string) string {
	words := []string{HookMark}
	for _, v := range env.assignments() {
		words = append(words, v[0]+"="+Quote(v[1]))
	}
	for _, p := range program {
		words = append(words, Quote(p))
	}
	return strings.Join(words, " ")
}

// assignments lists the variables of e that have a value, with it.
func (e Env) assignments() (set [][2]string) {
	for _, v := range [][2]string{
		{"ANAMNESIS_MACHINE_ID", e.MachineID},
		{"ANAMNESIS_GIT_REMOTE", e.Remote},
		{"ANAMNESIS_HOME", e.Home},
	} {
		if v[1] != "" {
			set = append(set, v)
		}
	}
	return set
}

// Quote makes one word of a POSIX shell out of s.
func Quote(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_@%+:,./-", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}

// Own reports whether a hook command is one of ours: a command that begins
// with HookMark, wherever it stands in the line, or exactly what the program
// that came before this one installed or documented. A command that mentions
// our variables, or another program with a name like ours, is not.
func Own(command string) bool {
	commands := splitCommands(command)
	for _, words := range commands {
		if env, _ := assignments(words); slices.Contains(env, HookMark) {
			return true
		}
	}
	if len(commands) != 1 {
		return false
	}
	env, words := assignments(commands[0])
	if len(words) > 3 && words[len(words)-3] == "hook" && isProgram(words[:len(words)-3]) {
		return true
	}
	for _, tail := range [][]string{
		{"inject"},
		{"sync"},
		{"capture"},
		{"capture", "--source", "precompact", "--no-sync"},
	} {
		n := len(words) - len(tail)
		if n < 1 || !slices.Equal(words[n:], tail) {
			continue
		}
		// The old program could be installed under any name, but never without its machine id.
		renamed := slices.ContainsFunc(env, func(a string) bool { return strings.HasPrefix(a, "ANAMNESIS_MACHINE_ID=") })
		if renamed || isProgram(words[:n]) {
			return true
		}
	}
	return false
}

// isProgram reports whether words run our program, alone or with "uv run".
func isProgram(words []string) bool {
	name := baseName(words[len(words)-1])
	uv := len(words) > 2 && baseName(words[0]) == "uv" && words[1] == "run"
	return name == "anamnesis" && (len(words) == 1 || uv)
}

func baseName(path string) string {
	return strings.TrimSuffix(path[strings.LastIndexAny(path, `/\`)+1:], ".exe")
}

// assignments splits a command into the variables before it and its words.
func assignments(words []string) (env, rest []string) {
	if len(words) > 0 && baseName(words[0]) == "env" {
		words = words[1:]
	}
	for i, w := range words {
		name, _, ok := strings.Cut(w, "=")
		if !ok || !isVariable(name) {
			return words[:i], words[i:]
		}
	}
	return words, nil
}

// splitCommands splits a shell line into simple commands and those into words,
// as far as is needed to see what a line runs: quotes, escapes, comments,
// separators and redirections are understood, expansions are not. A line with
// an open quote has no commands.
func splitCommands(line string) [][]string {
	var commands [][]string
	var words []string
	var word strings.Builder
	open, target := false, false // inside a word; the next word is a file to redirect to
	endWord := func() {
		if open && !target {
			words = append(words, word.String())
		}
		if open {
			target = false
		}
		open = false
		word.Reset()
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words, target = nil, false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\r':
			endWord()
		case '\n', ';', '|', '&', '(', ')':
			endCommand()
		case '<', '>':
			if strings.Trim(word.String(), "0123456789") == "" {
				open = false // "2>": a file descriptor, not a word
			}
			endWord()
			target = true
			if i+1 < len(line) && (line[i+1] == '&' || line[i+1] == '>') {
				i++
			}
		case '#':
			if !open {
				if end := strings.IndexByte(line[i:], '\n'); end >= 0 {
					i += end - 1
				} else {
					i = len(line)
				}
				continue
			}
			word.WriteByte(c)
		case '\'', '"':
			open = true
			for i++; i < len(line) && line[i] != c; i++ {
				if c == '"' && line[i] == '\\' && i+1 < len(line) && strings.IndexByte("$`\"\\\n", line[i+1]) >= 0 {
					i++
				}
				word.WriteByte(line[i])
			}
			if i >= len(line) {
				return nil
			}
		case '\\':
			if i++; i < len(line) && line[i] != '\n' {
				open = true
				word.WriteByte(line[i])
			}
		default:
			open = true
			word.WriteByte(c)
		}
	}
	endCommand()
	return commands
}

// Split splits a command line into words as a POSIX shell does. It returns nil
// for a line that is not one simple command.
func Split(line string) []string {
	commands := splitCommands(line)
	if len(commands) != 1 {
		return nil
	}
	return commands[0]
}

// CommandLine writes a command as one types it.
func CommandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}

// isVariable reports whether s is the name of a variable, or of something like it.
func isVariable(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
