package recall

import (
	"path"
	"slices"
	"strings"
)

// A runCommand is one command of a command line.
type runCommand struct {
	forms [][]string // its fields, and those of the command that it runs: "sudo npm install", "npm install"
	files []string   // its arguments that may be files
}

// Bounds of what is read of a command line.
const (
	maxCommandLine = 64 << 10
	maxCommands    = 24
	maxShells      = 3 // a shell that is given a command line, in a shell, in a shell
	maxForms       = 6 // programs that run each other
	maxArguments   = 32
)

// commandsOf returns what a command line runs. It knows the form of the shells, not
// their meaning: nothing is expanded, and the text of a here-document is data.
func commandsOf(line string, shells int) (all []runCommand) {
	for _, fields := range simpleCommands(line[:min(len(line), maxCommandLine)]) {
		if len(all) >= maxCommands {
			break
		}
		c := runCommand{files: argumentFiles(fields), forms: formsOf(withoutRedirections(fields))}
		if len(c.forms) == 0 {
			continue
		}
		last := c.forms[len(c.forms)-1]
		if slices.Contains(shellPrograms, programName(last[0])) && shells < maxShells {
			if i := slices.IndexFunc(last, func(f string) bool { return f == "-c" || f == "-lc" || f == "-ec" }); i > 0 && i+1 < len(last) {
				all = append(all, commandsOf(last[i+1], shells+1)...)
				c.forms, c.files = c.forms[:len(c.forms)-1], nil
				if len(c.forms) == 0 {
					continue
				}
			}
		}
		all = append(all, c)
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

// runnerFields is how many fields of a command stand before the command that it runs, 0 when
// it runs none.
func runnerFields(fields []string) int {
	program := programName(fields[0])
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
	prints := silent(forms)
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

// silent reports whether all programs of a command only print, list or move about.
func silent(forms [][]string) bool {
	return !slices.ContainsFunc(forms, func(f []string) bool { return !slices.Contains(silentPrograms, programName(f[0])) })
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

// simpleCommands cuts a line into commands, and these into fields.
func simpleCommands(line string) (all [][]string) {
	var fields []string
	var here []string // the ends of here-documents that begin below this line
	for len(line) > 0 && len(all) < 2*maxCommands {
		c := line[0]
		switch {
		case c == '\n':
			line = line[1:]
			for _, end := range here {
				line = behind(line, end)
			}
			all, fields, here = append(all, fields), nil, nil
		case c == ' ' || c == '\t' || c == '\r' || c == '\x00':
			line = line[1:]
		case strings.HasPrefix(line, "\\\n"):
			line = line[2:]
		case c == '#' && fields == nil:
			line = line[max(0, strings.IndexByte(line+"\n", '\n')):]
		case strings.HasPrefix(line, "<<<"):
			line = line[3:]
		case strings.HasPrefix(line, "<<"):
			word, rest := shellField(strings.TrimLeft(line[2:], "- \t"))
			here, line = append(here, word), rest
		case strings.HasPrefix(line, "&>"), c == '>', c == '<':
			n := len(line) - len(strings.TrimLeft(line, "&><|"))
			fields, line = append(fields, strings.TrimSuffix(line[:n], "&")), line[n:]
			if len(line) > 0 && line[0] == '&' {
				line = line[1:]
			}
		case strings.IndexByte(";|&(){}", c) >= 0:
			all, fields, line = append(all, fields), nil, line[1:]
		case c == '`' || strings.HasPrefix(line, "$("):
			all, fields, line = append(all, fields), nil, strings.TrimPrefix(line[1:], "(")
		default:
			var word string
			word, line = shellField(line)
			if len(fields) < 4*maxArguments {
				fields = append(fields, word)
			}
		}
	}
	return append(all, fields)
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

// shellField reads one word, without its quotes, and returns what is left.
func shellField(line string) (word, rest string) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && quote != '\'' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte(" \t\r\n;|&()<>\x00", c) >= 0:
			return b.String(), line[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// programName is the name of a program without its folder.
func programName(f string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(f, `\`, "/")), ".exe")
}
