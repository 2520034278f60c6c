package project

import (
	"os"
	"path/filepath"
	"strings"
)

// A repository is what a git working tree says of itself in its files.
type repository struct {
	root   string // the main working tree's folder, shared by all worktrees
	top    string // the folder of this working tree
	gitDir string // git's data of this working tree
	origin string // the address of the remote named origin, as it was configured
	branch string
	common string // the folder of git's data that all worktrees share
}

// findRepository looks for the repository that holds dir. Reading two files
// costs a hook a tenth of what starting git does, and the answer does not
// depend on the user's insteadOf rules, which differ between machines.
func findRepository(dir string) repository {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for d := dir; ; d = filepath.Dir(d) {
		if gitDir, ok := gitDirOf(d); ok {
			return readRepository(d, gitDir)
		}
		if d == filepath.Dir(d) {
			return repository{}
		}
	}
}

// gitDirOf returns the repository data of a working tree: its .git folder, or
// the one that a .git file points at (worktrees, submodules).
func gitDirOf(dir string) (string, bool) {
	p := filepath.Join(dir, ".git")
	fi, err := os.Stat(p)
	if err != nil {
		return "", false
	}
	if !fi.IsDir() {
		target, ok := strings.CutPrefix(readSmall(p), "gitdir:")
		if !ok {
			return "", false
		}
		p = strings.TrimSpace(target)
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
	}
	_, err = os.Stat(filepath.Join(p, "HEAD"))
	return p, err == nil
}

func readRepository(workTree, gitDir string) repository {
	r := repository{root: workTree, top: workTree, gitDir: gitDir}
	if ref, ok := strings.CutPrefix(strings.TrimSpace(readSmall(filepath.Join(gitDir, "HEAD"))), "ref: refs/heads/"); ok && ref != ".invalid" {
		r.branch = cleanKey(ref)
	}
	common := gitDir
	if c := strings.TrimSpace(readSmall(filepath.Join(gitDir, "commondir"))); c != "" {
		if common = c; !filepath.IsAbs(c) {
			common = filepath.Join(gitDir, c)
		}
		if filepath.Base(common) == ".git" {
			r.root = filepath.Dir(common)
		}
	}
	r.common = common
	r.origin = originOf(readSmall(filepath.Join(common, "config")))
	return r
}

// originOf returns the first url of [remote "origin"] in a git configuration.
func originOf(config string) string {
	inside := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			header, _, _ := strings.Cut(line[1:], "]")
			section, name, _ := strings.Cut(header, " ")
			inside = strings.EqualFold(section, "remote") && strings.TrimSpace(name) == `"origin"`
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !inside || !ok || !strings.EqualFold(strings.TrimSpace(key), "url") {
			continue
		}
		value = strings.TrimSpace(value)
		if strings.HasPrefix(value, `"`) {
			value, _, _ = strings.Cut(value[1:], `"`)
		} else if i := strings.IndexAny(value, ";#"); i > 0 && value[i-1] == ' ' {
			value = strings.TrimSpace(value[:i])
		}
		return value
	}
	return ""
}

// readSmall returns the text of a file of at most 1 MB, or "".
func readSmall(name string) string {
	fi, err := os.Stat(name)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > 1<<20 {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(data)
}
