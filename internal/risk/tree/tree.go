// Package tree looks into the files of a project: which names they hold, and which programs its scripts run. It needs no git,
// runs no program,
// follows no link, and is bounded in time and size: what it did not reach is not known.
package tree

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds of one look.
const (
	maxFiles = 20_000
	maxFile  = 256 << 10 // bytes; of a larger file the begin is read
	maxBytes = 64 << 20
)

// left are folders of what others wrote, or programs made.
var left = []string{"node_modules", "vendor", "dist", "build", "target", "out", "coverage", "__pycache__", "venv"}

// Named returns which of some names the files below dir hold, in their text or in their paths, as whole names and in any case.
// It looks for at most within.
func Named(ctx context.Context, dir string, names []string, within time.Duration) map[string]bool {
	found := make(map[string]bool)
	if dir == "" || len(names) == 0 {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	wanted := make(map[string][]byte, len(names))
	for _, n := range names {
		if n != "" {
			wanted[n] = []byte(strings.ToLower(n))
		}
	}
	seen := func(data []byte) bool {
		data = bytes.ToLower(data)
		for n, low := range wanted {
			if holds(data, low) {
				found[n] = true
				delete(wanted, n)
			}
		}
		return len(wanted) == 0
	}
	walk(ctx, dir, seen)
	return found
}

// walk gives f the path and the text of each file below dir, the ones near dir first, until f returns true.
func walk(ctx context.Context, dir string, f func([]byte) bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	files, size := 0, 0
	for folders := []string{"."}; len(folders) > 0; folders = folders[1:] {
		entries, _ := fs.ReadDir(root.FS(), folders[0]) // what cannot be read is not known
		for _, e := range entries {
			name := path.Join(folders[0], e.Name())
			switch {
			case ctx.Err() != nil || files >= maxFiles || size >= maxBytes:
				return
			case e.IsDir():
				if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(left, e.Name()) || e.Name() == ".github" {
					folders = append(folders, name)
				}
			case e.Type().IsRegular():
				files++
				data := head(root, name)
				size += len(data)
				if f(slices.Concat([]byte(name), []byte("\n"), data)) {
					return
				}
			}
		}
	}
}

// head reads the begin of a file of text, nothing of another one.
func head(root *os.Root, name string) []byte {
	fi, err := root.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxFile)) // half a file names half
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil
	}
	return data
}

// holds reports whether a text holds a name that is no part of a longer one.
func holds(data, name []byte) bool {
	for at := 0; ; {
		i := bytes.Index(data[at:], name)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(name)
		before := i == 0 || !inName(data[i-1]) && (data[i-1] != '.' || i < 2 || !inName(data[i-2]))
		after := end == len(data) || !inName(data[end]) && (data[end] != '.' || end+1 == len(data) || !inName(data[end+1]))
		if before && after {
			return true
		}
		at = i + 1
	}
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// scripts are the files, and the folders of files, in which a project says what it runs.
var scripts = []string{
	"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Taskfile.yml", "package.json", "pyproject.toml", "tox.ini", "noxfile.py",
	"Procfile", "Dockerfile", "compose.yaml", "docker-compose.yml", "Rakefile", "composer.json", "mise.toml",
	".pre-commit-config.yaml", ".gitlab-ci.yml",
	".github/workflows", "scripts", "script", "bin", "tools", "hack", "ci",
}

// kept are programs that a file of a project is for, where its name does not say so.
var kept = map[string][]string{
	"go.mod": {"go", "gofmt"}, "Cargo.toml": {"cargo", "rustc", "rustfmt"}, "package.json": {"node", "npm", "npx"},
	"pyproject.toml":   {"python", "python3"},
	"requirements.txt": {"python", "python3"}, "setup.py": {"python", "python3"}, "Gemfile": {"ruby", "bundle"},
	"mix.exs": {"mix", "elixir"},
	"pom.xml": {"mvn"}, "tsconfig.json": {"tsc"}, "compose.yaml": {"docker"}, "main.tf": {"terraform"},
}

// Runs reports whether a project's own scripts run a program, or one of its files is made for it.
func Runs(dir, program string) bool {
	root, err := os.OpenRoot(dir)
	if dir == "" || err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if slices.Contains(kept[e.Name()], program) || madeFor(e.Name(), program) {
			return true
		}
	}
	for _, s := range scripts {
		if data := head(root, filepath.FromSlash(s)); data != nil {
			if holds(data, []byte(program)) {
				return true
			}
			continue
		}
		inner, _ := fs.ReadDir(root.FS(), s)
		for _, e := range inner[:min(len(inner), 64)] {
			if e.Type().IsRegular() && (e.Name() == program || holds(head(root, path.Join(s, e.Name())), []byte(program))) {
				return true
			}
		}
	}
	return false
}

// madeFor reports whether the name of a file says which program reads it: Makefile, pnpm-lock.yaml, .golangci.yml.
func madeFor(name, program string) bool {
	name = strings.ToLower(strings.TrimPrefix(name, "."))
	rest, ok := strings.CutPrefix(name, strings.ToLower(program))
	return ok && len(program) > 1 && (strings.HasPrefix(rest, "file") || rest != "" && strings.ContainsRune("-._", rune(rest[0])))
}
