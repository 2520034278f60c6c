package agent

import (
	"fmt"
	"path"
	"strings"
)

// MemoryFiles implements MemoryReader: topic files beside the sessions of a
// working directory, one thing a file.
func (claude) MemoryFiles() []string { return []string{"projects/*/memory/*.md"} }

// ReadMemory implements MemoryReader. MEMORY.md is the table of contents of the
// others and holds nothing else.
func (claude) ReadMemory(name string, data []byte) ([]Memory, error) {
	base := path.Base(name)
	if strings.EqualFold(base, "MEMORY.md") {
		return nil, fmt.Errorf("%w: it is the list of the others", ErrNoMemory)
	}
	h, body, ok := readHead(memoryText(data))
	if !ok {
		return nil, fmt.Errorf("%w: no front matter", ErrNoMemory)
	}
	stem := strings.TrimSuffix(base, ".md")
	folder := path.Dir(path.Dir(name))
	m := Memory{Key: path.Base(folder) + "/" + stem, Folder: folder, Body: blankAround(body)}
	if path.Dir(name) == "." { // moved to a folder for all projects
		m.Key, m.Folder = "memory/"+stem, ""
	}
	for _, title := range []string{h["description"], h["name"], stem} {
		if m.Title = oneLine(title); m.Title != "" {
			break
		}
	}
	for _, kind := range []string{h["metadata.type"], h["type"]} {
		if m.Kind = memoryKind(kind); m.Kind != "" {
			break
		}
	}
	if m.Kind == "" {
		m.Kind = "project"
	}
	if m.Title == "" || m.Body == "" {
		return nil, fmt.Errorf("%w: it is empty", ErrNoMemory)
	}
	return []Memory{m}, nil
}

// memoryKind makes a tag of the agent's word for a kind: "" for what is no word.
func memoryKind(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) > 32 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
		return ""
	}
	return s
}
