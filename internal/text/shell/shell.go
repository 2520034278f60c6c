// Package shell reads command lines: the commands that a line runs, and the programs that run other programs. It knows
// the form of the shells, not their meaning.
package shell

import (
	"path"
	"slices"
	"strings"
)

// A Command is one command of a command line.
type Command struct {
	Forms [][]string // its fields, and those of the command that it runs: "sudo npm install", "npm install"
	Files []string   // its arguments that may be files
	Inner []string   // command lines within its quoted words: "$(date)"
	Wrote []string   // files that its output goes to
}

// Bounds of what is read of a command line.
const (
	MaxLine      = 64 << 10
	maxCommands  = 24
	maxShells    = 3 // a shell that is given a command line, in a shell, in a shell
	maxForms     = 6 // programs that run each other
	maxArguments = 32
)

// Commands returns what a command line runs: nothing is expanded, and the text of a here-document is data.
func Commands(line string) []Command { return commandsOf(line, 0) }

func commandsOf(line string, shells int) (all []Command) {
	for _, w := range simpleCommands(line[:min(len(line), MaxLine)]) {
		if len(all) >= maxCommands {
			break
		}
		c := Command{Files: argumentFiles(w.fields), Forms: formsOf(withoutRedirections(w.fields)), Inner: w.inner, Wrote: written(w.fields)}
		if len(c.Forms) == 0 {
			continue
		}
		if given, ok := givenLine(c.Forms[len(c.Forms)-1]); ok && shells < maxShells {
			all = append(all, commandsOf(given, shells+1)...)
			c.Forms, c.Files = c.Forms[:len(c.Forms)-1], nil
			if len(c.Forms) == 0 {
				continue
			}
		}
		all = append(all, c)
	}
	return all
}

// givenLine returns the command line that a shell is given as an argument.
func givenLine(fields []string) (line string, ok bool) {
	if !slices.Contains(shellPrograms, Program(fields[0])) {
		return "", false
	}
	i := slices.IndexFunc(fields, func(f string) bool { return slices.Contains(lineFlags, f) })
	if i <= 0 || i+1 >= len(fields) {
		return "", false
	}
	return fields[i+1], true
}

// written returns the files that the output of a command goes to.
func written(fields []string) (files []string) {
	for i := 1; i < len(fields); i++ {
		if strings.Contains(fields[i-1], ">") && slices.Contains(redirections, fields[i-1]) {
			files = append(files, fields[i])
		}
	}
	if len(fields) > 1 && Program(fields[0]) == "tee" {
		files = append(files, fields[1:]...)
	}
	return files
}

// Parts cuts a line into the pipelines that follow each other, each with what joins it to the next one. A line in which
// commands form a loop, a group or a here-document is one part.
func Parts(line string) (all []string) {
	whole := []string{line}
	if len(line) > MaxLine || strings.Contains(line, "<<") {
		return whole
	}
	begin, quote := 0, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case strings.IndexByte("(){}", c) >= 0:
			return whole
		case c == ';' || c == '\n' || strings.HasPrefix(line[i:], "&&") || strings.HasPrefix(line[i:], "||"):
			for i+1 < len(line) && strings.IndexByte(";&|\n \t", line[i+1]) >= 0 {
				i++
			}
			all = append(all, line[begin:i+1])
			begin = i + 1
		}
	}
	all = append(all, line[begin:])
	for _, part := range all {
		if word, _, _ := strings.Cut(strings.TrimSpace(part), " "); slices.Contains(blockWords, word) {
			return whole
		}
	}
	return all
}

// formsOf returns the fields of a command and, where its program only runs another one, those
// of that command, too. Assignments and words of the shell before a program are left out.
func formsOf(fields []string) (all [][]string) {
	for len(fields) > 0 && len(all) < maxForms {
		f := fields[0]
		if f == "" || f[0] == '-' || strings.IndexByte(f, '=') > 0 || slices.Contains(shellWords, f) {
			fields = fields[1:]
			continue
		}
		all = append(all, fields)
		n := runnerFields(fields)
		if n == 0 {
			break
		}
		fields = fields[n:]
	}
	return all
}

// runnerFields is how many fields of a command precede the command that it runs, 0 when
// it runs none.
func runnerFields(fields []string) int {
	program := Program(fields[0])
	orders, ok := runners[program]
	if !ok {
		return 0
	}
	ordered := orders == nil
	for n := 1; n < len(fields); n++ {
		f := fields[n]
		switch {
		case !ordered && slices.Contains(orders, f):
			ordered = true
		case slices.Contains(runnerFlags[program], f):
			n++
		case strings.HasPrefix(f, "-"), program == "timeout" && f != "" && f[0] >= '0' && f[0] <= '9':
		case ordered:
			return n
		default: // another order
			return 0
		}
	}
	return 0
}

// argumentFiles returns the arguments of a command that may be files, with the files of its
// redirections. What a program prints is no file, and neither is the message of a commit.
func argumentFiles(fields []string) (files []string) {
	forms := formsOf(fields)
	if len(forms) == 0 {
		return nil
	}
	prints := Silent(forms)
	for i, f := range fields {
		before := fields[max(0, i-1)]
		switch {
		case f == "" || f[0] == '-' || f[0] == '+' || slices.Contains(redirections, f) || before == "-m" || before == "--message":
		case prints && !slices.Contains(redirections, before), strings.ContainsAny(f, " \t="), len(files) == maxArguments:
		default:
			files = append(files, f)
		}
	}
	return files
}

// Silent reports whether all programs of a command only print, list or move about.
func Silent(forms [][]string) bool {
	return !slices.ContainsFunc(forms, func(f []string) bool { return !slices.Contains(silentPrograms, Program(f[0])) })
}

// withoutRedirections returns the fields of a command without its redirections.
func withoutRedirections(fields []string) (kept []string) {
	for i := 0; i < len(fields); i++ {
		if slices.Contains(redirections, fields[i]) {
			i++
			continue
		}
		kept = append(kept, fields[i])
	}
	return kept
}

var redirections = []string{">", ">>", ">|", "&>", "&>>", "<"}

// A simple is one command with its words as the line has them.
type simple struct{ fields, inner []string }

// simpleCommands cuts a line into commands, and these into fields.
func simpleCommands(line string) (all []simple) {
	var w simple
	var here []string // the ends of here-documents that begin below this line
	for len(line) > 0 && len(all) < 2*maxCommands {
		c := line[0]
		switch {
		case c == '\n':
			line = line[1:]
			for _, end := range here {
				line = behind(line, end)
			}
			all, w, here = append(all, w), simple{}, nil
		case c == ' ' || c == '\t' || c == '\r' || c == '\x00':
			line = line[1:]
		case strings.HasPrefix(line, "\\\n"):
			line = line[2:]
		case c == '#' && w.fields == nil:
			line = line[max(0, strings.IndexByte(line+"\n", '\n')):]
		case strings.HasPrefix(line, "<<<"):
			line = line[3:]
		case strings.HasPrefix(line, "<<"):
			word, _, rest := shellField(strings.TrimLeft(line[2:], "- \t"))
			here, line = append(here, word), rest
		case strings.HasPrefix(line, "&>"), c == '>', c == '<':
			n := len(line) - len(strings.TrimLeft(line, "&><|"))
			w.fields, line = append(w.fields, strings.TrimSuffix(line[:n], "&")), line[n:]
			if len(line) > 0 && line[0] == '&' {
				line = line[1:]
			}
		case strings.IndexByte(";|&(){}", c) >= 0:
			all, w, line = append(all, w), simple{}, line[1:]
		case c == '`' || strings.HasPrefix(line, "$("):
			all, w, line = append(all, w), simple{}, strings.TrimPrefix(line[1:], "(")
		default:
			var word string
			var inner []string
			word, inner, line = shellField(line)
			if len(w.fields) < 4*maxArguments {
				w.fields, w.inner = append(w.fields, word), append(w.inner, inner...)
			}
		}
	}
	return append(all, w)
}

// behind returns what follows a here-document.
func behind(text, end string) string {
	for len(text) > 0 {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		if strings.TrimSpace(line) == end {
			break
		}
	}
	return text
}

// shellField reads one word, without its quotes, and returns the command lines in it and what is left.
func shellField(line string) (word string, inner []string, rest string) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
		case quote == '"' && (c == '`' || c == '$' && strings.HasPrefix(line[i:], "$(")):
			inner = append(inner, substituted(line[i:]))
			b.WriteByte(c)
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte(" \t\r\n;|&()<>\x00", c) >= 0:
			return b.String(), inner, line[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), inner, ""
}

// substituted returns the command line of a substitution, "$(date)" or one in back-ticks, with which a text begins.
func substituted(s string) string {
	if s[0] == '`' {
		line, _, _ := strings.Cut(s[1:], "`")
		return line
	}
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[2:i]
			}
		}
	}
	return s[2:]
}

// Program is the name of a program without its folder.
func Program(f string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(f, `\`, "/")), ".exe")
}
