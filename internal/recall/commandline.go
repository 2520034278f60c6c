package recall

import (
	"path"
	"slices"
	"strings"
)

// A runCommand is one program that a command line runs.
type runCommand struct {
	words []string // its name, and what it is told to do when these are words: git push, npm run build
	alone bool     // nothing stands behind the program
	files []string // its arguments that may be files, where it is one that writes
}

// Bounds of what is read of a command line.
const (
	maxCommandLine = 64 << 10
	maxCommands    = 24
	maxShells      = 3 // a shell that is given a command line, in a shell, in a shell
	maxWords       = 3
	maxArguments   = 32
)

// commandsOf returns what a command line runs. It knows the form of the shells, not
// their meaning: nothing is expanded, and what stands in a here-document is data.
func commandsOf(line string, shells int) (all []runCommand) {
	for _, fields := range simpleCommands(line[:min(len(line), maxCommandLine)]) {
		if len(all) >= maxCommands {
			break
		}
		fields = unwrap(fields)
		if len(fields) == 0 {
			continue
		}
		program := programName(fields[0])
		if slices.Contains(shellPrograms, program) && shells < maxShells {
			if i := slices.IndexFunc(fields, func(f string) bool { return f == "-c" || f == "-lc" || f == "-ec" }); i > 0 && i+1 < len(fields) {
				all = append(all, commandsOf(fields[i+1], shells+1)...)
				continue
			}
		}
		all = append(all, commandOf(program, fields))
	}
	return all
}

// commandOf reads the fields of one command.
func commandOf(program string, fields []string) runCommand {
	c := runCommand{words: []string{program}, alone: len(fields) == 1}
	if strings.Contains(fields[0], "/") || strings.Contains(program, ".") {
		c.files = append(c.files, fields[0]) // a program of the project's own
	}
	telling := !slices.Contains(plainPrograms, program)
	for i := 1; i < len(fields); i++ {
		switch f := fields[i]; {
		case f == "":
		case slices.Contains(redirections, f):
			if i++; i < len(fields) && f != "<" {
				c.files = append(c.files, fields[i])
			}
		case f[0] == '-' || f[0] == '+':
			if telling && len(c.words) == 1 && slices.Contains(valuedFlags[program], f) {
				i++
			}
		case strings.Contains(f, "="):
		case telling && len(c.words) < maxWords && commandArgument(f) && i < 8:
			c.words = append(c.words, f)
			c.files = append(c.files, f)
		default:
			telling = false
			if len(c.files) < maxArguments {
				c.files = append(c.files, f)
			}
		}
	}
	if c.reads(fields) {
		c.files = redirected(fields)
	}
	return c
}

// reads reports whether a command only looks at the files that it is given.
func (c *runCommand) reads(fields []string) bool {
	switch c.words[0] {
	case "sed", "perl":
		return !slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, "-i") || strings.HasPrefix(f, "--in-place") })
	case "git":
		return len(c.words) > 1 && slices.Contains(gitReads, c.words[1])
	case "tee":
		return false
	}
	return slices.Contains(plainPrograms, c.words[0])
}

// redirected returns the files that a command writes by its redirections.
func redirected(fields []string) (files []string) {
	for i, f := range fields {
		if f != "<" && slices.Contains(redirections, f) && i+1 < len(fields) {
			files = append(files, fields[i+1])
		}
	}
	return files
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

// unwrap takes off what stands before the program: assignments, words of the shell,
// and programs that run others.
func unwrap(fields []string) []string {
	for len(fields) > 0 {
		f := fields[0]
		switch {
		case f == "" || f[0] == '-' || strings.IndexByte(f, '=') > 0 || slices.Contains(shellWords, f):
			fields = fields[1:]
		case slices.Contains(wrappers, programName(f)):
			if fields = fields[1:]; programName(f) == "timeout" {
				for len(fields) > 0 && fields[0] != "" && (fields[0][0] == '-' || fields[0][0] >= '0' && fields[0][0] <= '9') {
					fields = fields[1:]
				}
			}
		default:
			return fields
		}
	}
	return nil
}

// programName is the name of a program without its folder.
func programName(f string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(f, `\`, "/")), ".exe")
}

// commandArgument reports whether an argument may say what a program is to do.
func commandArgument(w string) bool {
	if len(w) > 40 || !(w[0] >= 'a' && w[0] <= 'z' || w[0] >= '0' && w[0] <= '9') {
		return false
	}
	for i := range len(w) {
		c := w[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_:.-", c) >= 0) {
			return false
		}
	}
	return true
}

// names reports whether a command of a note means the one that is about to run.
// The program and what it is told to do have to be the same. A program that is told
// nothing but options names itself; alone it is only spoken of.
func (c *runCommand) names(said runCommand) bool {
	w, mention := c.words, said.words
	if len(mention) == 0 || mention[0] != w[0] || slices.Contains(plainPrograms, w[0]) {
		return false
	}
	if len(mention) == 1 {
		return !said.alone && len(w[0]) >= 3 && !slices.Contains(families, w[0])
	}
	due := 2
	if nested(w) && len(mention) > 2 {
		due = 3
	}
	return len(w) >= due && slices.Equal(w[:due], mention[:due])
}

// phrase is what a prose that names the command holds, "" when that cannot be told.
func (c *runCommand) phrase() string {
	due := 2
	if nested(c.words) {
		due = 3
	}
	if len(c.words) < due || slices.Contains(plainPrograms, c.words[0]) {
		return ""
	}
	return strings.Join(c.words[:due], " ")
}

// nested reports whether it is the third word that says what a command does.
func nested(words []string) bool {
	if len(words) < 2 {
		return false
	}
	subs, ok := nestedPrograms[words[0]]
	return ok && (subs == nil || slices.Contains(subs, words[1]))
}
