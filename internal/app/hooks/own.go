package hooks

import (
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/store"
	"anamnesis/internal/text/shell"
)

// maxLinks bounds the symbolic links of one path; the system's own limit is lower.
const maxLinks = 64

// storeFile returns the file of the store that the call of a tool would write: as the call names it, and where that
// leads. Both are empty for a call that writes nowhere in the store. Of a command line the redirections count, and the
// patches in it.
func storeFile(s *store.Store, e agent.Event) (named, file string) {
	h := agent.ByName(e.Harness)
	if h == nil || h.Hooks == nil {
		h = agent.Default()
	}
	root, err := os.Stat(s.Root())
	if err != nil {
		return "", ""
	}
	dir := e.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	call := h.Hooks.Call(e)
	for _, f := range call.Files {
		if at := insideStore(s, root, dir, f); at != "" {
			return f, at
		}
	}
	return redirected(s, root, dir, call.Command, 0)
}

// maxInner is how deep command lines within command lines are read.
const maxInner = 3

// redirected is storeFile for a command line that starts in dir.
func redirected(s *store.Store, root os.FileInfo, dir, line string, depth int) (named, file string) {
	if depth > maxInner || !strings.Contains(line, ">") && !strings.Contains(line, "tee") {
		return "", ""
	}
	now := dir
	for _, c := range shell.Commands(line) {
		for _, f := range c.Wrote {
			f = expand(s, f)
			for _, from := range []string{now, dir} { // a cd in a subshell does not last
				if at := insideStore(s, root, from, f); at != "" {
					return f, at
				}
			}
		}
		for _, inner := range c.Inner {
			if named, file := redirected(s, root, now, inner, depth+1); file != "" {
				return named, file
			}
		}
		if len(c.Forms) > 0 && len(c.Forms[0]) > 1 && c.Forms[0][0] == "cd" {
			now = absolute(s, now, expand(s, c.Forms[0][1]))
		}
	}
	return "", ""
}

// expand puts in the variables of a word of a command line that name the home folder and the store.
func expand(s *store.Store, word string) string {
	return os.Expand(word, func(name string) string {
		switch name {
		case "HOME":
			return s.Home()
		case "ANAMNESIS_HOME":
			return s.Root()
		}
		return "$" + name
	})
}

// absolute returns a path that is named in dir. It does not clean the path, since ".." behind a link does not lead
// back.
func absolute(s *store.Store, dir, path string) string {
	rest, tilde := strings.CutPrefix(path, "~")
	switch {
	case tilde && s.Home() != "" && (rest == "" || os.IsPathSeparator(rest[0])):
		return s.Home() + rest
	case filepath.IsAbs(path):
		return path
	}
	return dir + string(filepath.Separator) + path
}

// insideStore returns where a path leads that is named in dir, if that is the store or below it, else "". Programs
// resolve ".." before or after links, so both count.
func insideStore(s *store.Store, root os.FileInfo, dir, path string) string {
	path = absolute(s, dir, path)
	for _, p := range []string{path, filepath.Clean(path)} {
		at := physical(p)
		for up := at; ; up = filepath.Dir(up) {
			if fi, err := os.Stat(up); err == nil && os.SameFile(fi, root) {
				return at
			}
			if filepath.Dir(up) == up {
				break
			}
		}
	}
	return ""
}

// physical resolves the links of a path name by name, as the system does. The rest of a path that is not there stays: a
// tool may make it, and a link may lead to a file that is not there yet.
func physical(path string) string {
	volume := filepath.VolumeName(path)
	top := volume + string(filepath.Separator)
	at, todo := top, names(path[len(volume):])
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		to, err := os.Readlink(next)
		if err != nil || links == maxLinks {
			at = next
			continue
		}
		links++
		if filepath.IsAbs(to) {
			at = top
			if v := filepath.VolumeName(to); v != "" {
				at, to = v+string(filepath.Separator), to[len(v):]
			}
		}
		todo = append(names(to), todo...)
	}
	return at
}

func names(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}
