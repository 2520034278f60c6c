package recall

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"anamnesis/internal/index"
)

// An Action is what an agent is about to do.
type Action struct {
	Root    string   // the project's folder, absolute; "" when nobody knows
	Files   []string // that it writes, absolute or below Root
	Text    string   // that it takes out of them or puts in
	Command string   // a line of a shell
}

// An actionNames is what an action touches, by name.
type actionNames struct {
	files    []actionFile
	symbols  []string
	commands []runCommand
}

// An actionFile is a file by its absolute path, "" when nobody knows it, and below
// the project's root.
type actionFile struct{ abs, rel string }

// Bounds of what is looked for.
const (
	maxActionFiles   = 32
	maxActionSymbols = 24
	maxActionText    = 64 << 10
)

// names works out what an action touches.
func (a Action) names() (n actionNames) {
	for _, f := range a.Files {
		n.addFile(a.Root, f, true)
	}
	if a.Command != "" {
		n.commands = commandsOf(strings.ToValidUTF8(a.Command[:min(len(a.Command), maxCommandLine)], ""), 0)
		for i := range n.commands {
			for _, f := range n.commands[i].files {
				n.addFile(a.Root, f, false)
			}
		}
	}
	if a.Text != "" {
		text := strings.ToValidUTF8(a.Text[:min(len(a.Text), maxActionText)], "")
		for _, name := range index.Identifiers(text, 4*maxActionSymbols) {
			if len(n.symbols) < maxActionSymbols && isSymbol(name) {
				n.symbols = append(n.symbols, name)
			}
		}
	}
	return n
}

// addFile adds a path. An argument of a command has to look like a file.
func (n *actionNames) addFile(root, f string, sure bool) {
	f = strings.ReplaceAll(f, `\`, "/")
	if f == "" || len(f) > 1024 || len(n.files) >= maxActionFiles || strings.ContainsAny(f, "\x00\n*?$") || strings.Contains(f, "://") {
		return
	}
	rooted := path.IsAbs(f) || len(f) > 2 && f[1] == ':' && f[2] == '/'
	f = path.Clean(f)
	if !sure && !strings.Contains(f, "/") && path.Ext(f) == "" && !slices.Contains(bareFiles, f) || f == "." || f == "/" {
		return
	}
	file := actionFile{rel: f}
	if rooted {
		file.abs = f
		root = strings.TrimSuffix(strings.ReplaceAll(root, `\`, "/"), "/")
		below, inside := strings.CutPrefix(f, root+"/")
		if file.rel = strings.TrimPrefix(f, "/"); root != "" && inside {
			file.rel = below
		}
	} else if strings.HasPrefix(f, "../") {
		return
	}
	if !slices.Contains(n.files, file) {
		n.files = append(n.files, file)
	}
}

// question returns the words by which the index finds notes that may name it, "" when
// the action touches nothing that a rule could be about.
func (n *actionNames) question() string {
	var words []string
	add := func(w string) {
		if w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	for i := range n.commands {
		c := &n.commands[i]
		if slices.Contains(plainPrograms, c.words[0]) {
			continue
		}
		if len(c.words) > 1 || !slices.Contains(families, c.words[0]) {
			add(strings.Join(c.words, " "))
		}
	}
	for _, f := range n.files {
		add(lastSegments(f.rel, 4))
		add(path.Base(f.rel))
	}
	for _, s := range n.symbols {
		add(s)
	}
	return strings.Join(words, "\n")
}

func lastSegments(p string, most int) string {
	segments := strings.Split(p, "/")
	return strings.Join(segments[max(0, len(segments)-most):], "/")
}

// The strength with which a statement names an action. Of several rules the one
// that is most about the action is told first.
const (
	namesNothing = iota
	namesSymbol
	namesFolder
	namesFile
	namesCommand
	namesPath
)

// namedIn says how a statement of a note names the action, and what it names.
func (n *actionNames) namedIn(statement string) (strength int, what string) {
	better := func(s int, w string) {
		if s > strength {
			strength, what = s, w
		}
	}
	for word := range pathWords(statement) {
		for _, f := range n.files {
			better(f.namedBy(word), f.rel)
		}
		if slices.Contains(n.symbols, strings.TrimRight(word, ".:/")) {
			better(namesSymbol, word)
		}
	}
	if len(n.commands) == 0 {
		return strength, what
	}
	mentions := commandMentions(statement)
	for i := range n.commands {
		c := &n.commands[i]
		if i := slices.IndexFunc(mentions, c.names); i >= 0 {
			better(namesCommand, strings.Join(c.words[:min(len(c.words), len(mentions[i].words), 2)], " "))
		} else if phrase := c.phrase(); proseNames(statement, phrase) {
			better(namesCommand, phrase)
		}
	}
	return strength, what
}

// namedBy says how a word of a note names the file.
func (f actionFile) namedBy(word string) int {
	folder := strings.HasSuffix(word, "/")
	m := strings.TrimPrefix(strings.TrimRight(word, "./:"), "./")
	switch {
	case len(m) < 2 || !strings.ContainsFunc(m, unicode.IsLetter):
		return namesNothing
	case strings.Contains(m, "*"):
		if f.matches(m) {
			return namesFolder
		}
		return namesNothing
	case m[0] == '/':
		if m == f.abs {
			return namesPath
		}
		return namesNothing
	case strings.HasPrefix(m, "~/"):
		m = m[2:]
	}
	segments := strings.Count(m, "/") + 1
	if m == f.rel && !folder && (segments > 1 || fileLike(m)) {
		return namesPath
	}
	if strings.HasPrefix(f.rel, m+"/") && (folder || segments > 1) || segments > 1 && folder && strings.Contains("/"+f.rel, "/"+m+"/") {
		return namesFolder
	}
	if folder || !strings.HasSuffix("/"+f.rel, "/"+m) || !fileLike(m) {
		return namesNothing
	}
	switch base := path.Base(m); {
	case slices.Contains(commonFiles, base) || slices.Contains(bareFiles, base) || base[0] == '.':
		if segments > 2 {
			return namesPath
		}
		return namesNothing // there is one in every folder
	case segments > 1:
		return namesPath
	}
	return namesFile
}

// matches reports whether a pattern of a note holds for the file.
func (f actionFile) matches(pattern string) bool {
	if len(strings.Trim(pattern, "*./?")) < 2 {
		return false
	}
	if !strings.Contains(pattern, "/") {
		ok, err := path.Match(pattern, path.Base(f.rel))
		return ok && err == nil
	}
	return matchSegments(strings.Split(pattern, "/"), strings.Split(f.rel, "/"))
}

// matchSegments matches a path; ** is any number of folders.
func matchSegments(pattern, segments []string) bool {
	if len(pattern) > 16 || len(segments) > 64 || strings.Count(strings.Join(pattern, "/"), "**") > 2 { // each is a search of its own
		return false
	}
	for i, p := range pattern {
		if p == "**" {
			for j := i; j <= len(segments); j++ {
				if i+1 == len(pattern) || matchSegments(pattern[i+1:], segments[j:]) {
					return true
				}
			}
			return false
		}
		if i >= len(segments) {
			return false
		}
		if ok, err := path.Match(p, segments[i]); !ok || err != nil {
			return false
		}
	}
	return len(pattern) == len(segments)
}

// fileLike reports whether the last part of a path has the form of a file's name.
func fileLike(m string) bool {
	base := path.Base(m)
	if slices.Contains(bareFiles, base) {
		return true
	}
	ext := path.Ext(base)
	return len(ext) > 1 && len(ext) <= 12 && strings.ContainsFunc(ext, unicode.IsLetter)
}

// isSymbol reports whether a name is one of code: a file, a command or a host is not.
func isSymbol(name string) bool {
	if len(name) < 5 || strings.ContainsAny(name, "/ .@-:") {
		return false
	}
	hump := false
	for i := 1; i < len(name); i++ {
		hump = hump || name[i] >= 'A' && name[i] <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z'
	}
	return hump || strings.Contains(strings.Trim(name, "_"), "_")
}

// bareFiles are names of files without an ending; commonFiles stand in so many
// folders that the name alone says nothing.
var (
	bareFiles = []string{
		"BUILD", "CODEOWNERS", "Containerfile", "Dockerfile", "Gemfile", "Jenkinsfile", "Justfile", "Makefile", "Podfile", "Procfile",
		"Rakefile", "Taskfile", "Tiltfile", "Vagrantfile", "WORKSPACE", "justfile", "makefile",
	}
	commonFiles = []string{
		"App.tsx", "CHANGELOG.md", "CLAUDE.md", "AGENTS.md", "CMakeLists.txt", "Cargo.lock", "Cargo.toml", "LICENSE.md", "README.md",
		"README.rst", "__init__.py", "app.js", "app.py", "app.ts", "application.yml", "build.gradle", "build.rs", "compose.yaml",
		"config.go", "config.js", "config.json", "config.py", "config.toml", "config.ts", "config.yaml", "config.yml", "conftest.py",
		"constants.ts", "docker-compose.yml", "go.mod", "go.sum", "handler.go", "index.css", "index.html", "index.js", "index.jsx",
		"index.md", "index.ts", "index.tsx", "init.lua", "lib.rs", "main.c", "main.cpp", "main.go", "main.js", "main.py", "main.rs",
		"main.tf", "main.ts", "mod.rs", "models.py", "package-lock.json", "package.json", "page.tsx", "pom.xml", "pyproject.toml",
		"requirements.txt", "routes.ts", "schema.sql", "server.go", "server.js", "server.ts", "settings.json", "settings.py",
		"setup.py", "styles.css", "test.js", "test.py", "tests.py", "tsconfig.json", "types.go", "types.ts", "urls.py", "utils.go",
		"utils.js", "utils.py", "utils.ts", "values.yaml", "variables.tf", "views.py",
	}
)
