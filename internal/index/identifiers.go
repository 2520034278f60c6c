package index

import (
	"slices"
	"strings"
)

// Identifiers returns the things that a text names in a form no prose has: files
// and paths (cmd/main.go, pool.go:42), symbols (recalcTax, max_conns, Foo.bar(),
// std::vec), packages (github.com/x/y, @scope/name), error codes (ECONNREFUSED,
// E0382, ORA-00942), hosts of addresses and, at a forge, what they hold there
// (https://api.stripe.com/v1), and what stands first in the command lines of
// code spans, shell blocks and lines behind "$" (kubectl rollout). Each comes
// once, in the order of the text, at most limit.
func Identifiers(text string, limit int) []string {
	var found []string
	add := func(name string) {
		if name != "" && len(found) < limit && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	b := block{}
	for len(text) > 0 && len(found) < limit {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		if b.fence(line) {
			continue
		}
		if shell, ok := b.shell(line); ok {
			add(command(shell))
			words(line, add)
			continue
		}
		for line != "" { // prose, with code spans inside
			before, after, ok := strings.Cut(line, "`")
			words(before, add)
			if !ok {
				break
			}
			span, rest, closed := strings.Cut(after, "`")
			if closed {
				add(command(strings.TrimPrefix(span, "$ ")))
			} else {
				rest = ""
			}
			words(span, add)
			line = rest
		}
	}
	return found
}

// A block is where in a text of fences and prose a line stands.
type block struct {
	fenced  string // how the fence began, "" outside
	isShell bool
}

// fence reports whether a line opens or closes a block of code.
func (b *block) fence(line string) bool {
	line = strings.TrimSpace(line)
	if b.fenced != "" {
		if strings.HasPrefix(line, b.fenced) && strings.Trim(line, b.fenced[:1]) == "" {
			b.fenced = ""
			return true
		}
		return false
	}
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") || strings.Contains(line[3:], "`") {
		return false
	}
	b.fenced = line[:3]
	switch language, _, _ := strings.Cut(strings.TrimSpace(line[3:]), " "); strings.ToLower(language) {
	case "sh", "bash", "zsh", "shell", "console", "fish":
		b.isShell = true
	default:
		b.isShell = false
	}
	return true
}

// shell returns the command line that a line is, if it is one: behind a prompt,
// or any line of a block of a shell.
func (b *block) shell(line string) (string, bool) {
	line = strings.TrimSpace(line)
	if c, ok := strings.CutPrefix(line, "$ "); ok {
		return c, true
	}
	return line, b.fenced != "" && b.isShell
}

// command returns the program that a command line runs, with what it is asked to
// do when that is a word: "kubectl rollout". It returns "" for what is no
// command line, and for one of a single word, which prose may hold as well.
func command(line string) string {
	fields := strings.Fields(line[:min(len(line), 256)])
	for len(fields) > 0 && (fields[0] == "sudo" || strings.IndexByte(fields[0], '=') > 0) {
		fields = fields[1:]
	}
	if len(fields) < 2 || !commandWord(fields[0]) || slices.Contains(notPrograms, fields[0]) {
		return ""
	}
	if second := strings.TrimRight(fields[1], ";|&,"); commandWord(second) && len(second) > 1 {
		return fields[0] + " " + second
	}
	if strings.HasPrefix(fields[1], "-") && len(fields[0]) > 1 {
		return fields[0]
	}
	return ""
}

// notPrograms are words that lines of code begin with as command lines do.
var notPrograms = []string{
	"alter", "and", "async", "await", "begin", "case", "catch", "class", "const", "create", "def", "delete", "do",
	"drop", "else", "elif", "end", "enum", "export", "extends", "fn", "for", "from", "func", "function", "if", "impl",
	"import", "in", "insert", "int", "interface", "let", "match", "mod", "module", "mut", "new", "not", "or", "package",
	"private", "protected", "pub", "public", "raise", "require", "return", "select", "static", "string", "struct",
	"switch", "then", "throw", "try", "type", "unless", "until", "update", "use", "using", "var", "void", "when",
	"where", "while", "with", "yield",
}

// commandWord reports whether a word may be a program, or what it is asked to do.
func commandWord(w string) bool {
	if w == "" || len(w) > 32 || !isLower(w[0]) {
		return false
	}
	for i := range len(w) {
		if c := w[i]; !isLower(c) && !isDigit(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// words finds what single words of a line name.
func words(line string, add func(string)) {
	for at := 0; at < len(line); {
		for at < len(line) && !identByte(line[at]) {
			at++
		}
		end := at
		for end < len(line) && identByte(line[end]) {
			end++
		}
		if scheme := strings.Index(line[at:end], "://"); scheme > 0 {
			if n := strings.IndexAny(line[end:], " \t\r\"'`<>()[]{}|"); n >= 0 {
				end += n
			} else {
				end = len(line)
			}
			add(host(line[at+scheme+len("://") : end]))
			at = end
			continue
		}
		word := withoutPlace(strings.Trim(line[at:end], "./:-@"))
		at = end
		if len(word) >= 3 && len(word) <= maxToken && identifier(word) {
			add(word)
		}
	}
}

// forges are hosts that say nothing without whose and which repository is meant.
var forges = []string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"}

// host returns the host of the rest of an address, without user, port and "www.",
// or the repository that it names at a forge. It returns "" for numbers and for
// this machine.
func host(address string) string {
	end := strings.IndexAny(address, "/?#,;")
	if end < 0 {
		end = len(address)
	}
	name := address[:end]
	name = name[strings.LastIndexByte(name, '@')+1:]
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimPrefix(strings.ToLower(strings.Trim(name, ".-*")), "www.")
	letters := 0
	for i := range len(name) {
		c := name[i]
		if isLower(c) {
			letters++
		} else if !isDigit(c) && c != '.' && c != '-' {
			return "" // a placeholder
		}
	}
	switch {
	case letters < 2 || len(name) < 3 || len(name) > maxToken || name == "localhost":
		return ""
	case slices.Contains(forges, name):
		path := strings.FieldsFunc(address[end:], func(r rune) bool { return r == '/' || r == '?' || r == '#' })
		if len(path) < 2 {
			return ""
		}
		whole := name + "/" + path[0] + "/" + strings.TrimSuffix(strings.TrimRight(path[1], ".,;:"), ".git")
		if len(whole) > maxToken {
			return ""
		}
		return whole
	}
	return name
}

func identByte(c byte) bool {
	return c < 0x80 && asciiWord[c] || c == '_' || c == '-' || c == '.' || c == '/' || c == '@' || c == ':'
}

// withoutPlace cuts line and column off a file: "pool.go:42:7".
func withoutPlace(w string) string {
	for {
		i := strings.LastIndexByte(w, ':')
		if i <= 0 || strings.Trim(w[i+1:], "0123456789") != "" || !strings.Contains(w[:i], ".") {
			return w
		}
		w = w[:i]
	}
}

// identifier reports whether a word is no prose: it holds an underscore, a
// slash, a dot or two colons between letters, changes from small to capital
// letters, or is a code of capital letters with digits.
func identifier(w string) bool {
	letters, digits, upper, lower := 0, 0, 0, 0
	special, hump := false, false
	for i := range len(w) {
		c := w[i]
		switch {
		case isUpper(c):
			upper++
			letters++
			hump = hump || i > 0 && isLower(w[i-1])
		case isLower(c):
			lower++
			letters++
		case isDigit(c):
			digits++
		case c == '.' && len(w) < 5: // "e.g", "U.S"
		case c == '_' || c == '/' || c == '.' || c == '@':
			special = special || i > 0 && i+1 < len(w)
		case c == ':': // a time, or "note:"
			if !(w[i-1] == ':' || i+1 < len(w) && w[i+1] == ':') {
				return false
			}
			special = true
		}
	}
	switch {
	case letters == 1:
		return w[0] == 'E' && digits == len(w)-1 && digits >= 4
	case letters < 2:
		return false // a date, a version, an address
	case special, hump:
		return true
	}
	return upper >= 2 && lower == 0 && (digits >= 2 || upper >= 6)
}
