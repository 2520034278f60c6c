package recall

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"anamnesis/internal/text/shell"
)

// An Action is what an agent is about to do.
type Action struct {
	Root    string   // the project's folder, absolute; "" when nobody knows
	Files   []string // that it writes, absolute or below Root
	Command string   // a line of a shell
	Output  string   // what the command printed, where it failed
}

// An actionNames is what an action touches, by name.
type actionNames struct {
	files    []actionFile
	commands []shell.Command
	output   string
}

// An actionFile is a file by its absolute path, "" when nobody knows it, and below
// the project's root.
type actionFile struct {
	abs, rel string
	outside  bool // the project; rel means little then
}

// maxActionFiles is how many files of an action are looked at.
const maxActionFiles = 32

// names works out what an action touches.
func (a Action) names() (n actionNames) {
	for _, f := range a.Files {
		n.addFile(a.Root, f, true)
	}
	if a.Command != "" {
		n.commands = shell.Commands(strings.ToValidUTF8(a.Command[:min(len(a.Command), shell.MaxLine)], ""))
		for i := range n.commands {
			for _, f := range n.commands[i].Files {
				n.addFile(a.Root, f, false)
			}
		}
	}
	n.output = failure(a.Output)
	return n
}

// maxTask is how much of a task is looked at for what it is about, in bytes.
const maxTask = 16 << 10

// TaskAction returns what a task in words is about: the files that it names, the commands in its
// code spans, and its text as a failure that it may quote.
func TaskAction(root, task string) Action {
	task = cutWords(task, maxTask)
	a := Action{Root: root, Command: strings.Join(codeSpans(task), "\n"), Output: task}
	for word := range pathWords(task) {
		if word = strings.TrimRight(word, ".:/"); fileLike(word) && len(a.Files) < maxActionFiles {
			a.Files = append(a.Files, word)
		}
	}
	return a
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
		file.outside = root != "" && !inside
	} else if strings.HasPrefix(f, "../") {
		return
	}
	if !slices.Contains(n.files, file) {
		n.files = append(n.files, file)
	}
}

// The strength with which a text names a file.
const (
	namesNothing = iota
	namesFolder
	namesFile
	namesPath
)

// namedIn says how a text names a file of the action, and which.
func (n *actionNames) namedIn(text string) (strength int, what string) {
	for word := range pathWords(text) {
		for _, f := range n.files {
			if s := f.namedBy(word); s > strength {
				strength, what = s, f.rel
			}
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

// fileLike reports whether the last part of a path has the form of a file's name.
func fileLike(m string) bool {
	base := path.Base(m)
	if slices.Contains(bareFiles, base) {
		return true
	}
	ext := path.Ext(base)
	return len(ext) > 1 && len(ext) <= 12 && strings.ContainsFunc(ext, unicode.IsLetter)
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
