package hooks

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/inject"
)

// Bounds of the files of instructions that are read at a session's start.
const (
	maxLoaded     = 12
	maxLoadedSize = 64 << 10 // bytes
)

// loaded reads the files of instructions that the agent of an event loads on its own, in the
// clone that its session works in and in the agent's home folder.
func loaded(r *app.Rooms, e agent.Event, clone string) (files []inject.Loaded) {
	h := agent.ByName(e.Harness)
	if h == nil {
		return nil
	}
	project, home := h.Instructions(e.Dir)
	read := func(dir string, patterns []string) {
		if !filepath.IsAbs(dir) {
			return
		}
		for _, pattern := range patterns {
			names, _ := filepath.Glob(filepath.Join(escapeGlob(dir), filepath.FromSlash(pattern)))
			for _, name := range names {
				if len(files) == maxLoaded {
					return
				}
				if text, ok := readSmall(name, maxLoadedSize); ok {
					files = append(files, inject.Loaded{Name: filepath.Base(name), Text: text})
				}
			}
		}
	}
	read(clone, project)
	read(r.Config.AgentHomes()[h.Name], home)
	return files
}

// readSmall reads the beginning of a regular file, at most n bytes; ok is false for anything else.
func readSmall(name string, n int64) (text string, ok bool) {
	if fi, err := os.Stat(name); err != nil || fi.Mode()&fs.ModeType != 0 { // nothing that would wait
		return "", false
	}
	f, err := os.Open(name)
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, n))
	return string(data), err == nil
}

// escapeGlob makes a folder a pattern of itself.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' { // there a backslash divides folders, and the other marks stand in no name
		return dir
	}
	out := make([]byte, 0, len(dir))
	for i := range len(dir) {
		switch dir[i] {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, dir[i])
	}
	return string(out)
}
