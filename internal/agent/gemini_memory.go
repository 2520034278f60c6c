package agent

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
)

// geminiMemories are the memories that Gemini CLI keeps: a section of its GEMINI.md, which versions with the tool
// save_memory wrote and which holds everywhere, and a folder for each project with an index and notes.
type geminiMemories struct{}

// MemoryFiles implements MemoryReader.
func (geminiMemories) MemoryFiles() []string { return []string{"GEMINI.md", "tmp/*/memory/*.md"} }

// geminiSaved is the heading of the section of GEMINI.md. The user writes the rest of that file.
const geminiSaved = "Gemini Added Memories"

// ReadMemory implements MemoryReader.
func (geminiMemories) ReadMemory(name string, data []byte) (all []Memory, err error) {
	text := memoryText(data)
	switch base := path.Base(name); {
	case name == "GEMINI.md":
		for _, s := range sections(text, "## ") {
			if s.title == geminiSaved {
				all = append(all, listed("GEMINI.md", "", cutAt(s.body, "# "))...)
			}
		}
	case strings.EqualFold(base, "MEMORY.md"):
		project := path.Dir(path.Dir(name))
		for _, m := range listed(path.Base(project), project, text) {
			if !toNote().MatchString(m.Body) { // the note that it leads to is read
				all = append(all, m)
			}
		}
	default:
		project := path.Dir(path.Dir(name))
		all = noteFile(path.Base(project)+"/"+strings.TrimSuffix(base, ".md"), project, text)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: it lists none", ErrNoMemory)
	}
	return all, nil
}

// toNote matches an entry of an index that leads to a file with a note.
var toNote = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?i)(\\]\\([^()\\s]+\\.md\\)|`[^`\\s]+\\.md`)") })

// cutAt returns a text up to the first line with a mark.
func cutAt(text, mark string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, mark) {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// listed reads the items of lists at the margin, one memory each, with the lines that are indented below them. The text is the
// key: such an item has no name that stays.
func listed(file, folder, text string) (all []Memory) {
	item := ""
	var code codeBlock
	flush := func() {
		if body := blankAround(item); body != "" && len(all) < maxSections {
			all = append(all, Memory{
				Key: file + "#" + strings.ToLower(oneLine(body)), Kind: "memory", Title: oneLine(body), Body: body, Folder: folder,
			})
		}
		item = ""
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case code.has(trimmed):
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "):
			flush()
			item = strings.TrimSpace(line[2:]) + "\n"
			continue
		case trimmed != "" && line[0] != ' ' && line[0] != '\t':
			flush()
		}
		if item != "" {
			item += strings.TrimPrefix(line, "  ")
		}
	}
	flush()
	return all
}

// noteFile reads a file with one memory: its first heading or line is the title.
func noteFile(key, folder, text string) []Memory {
	h, body, ok := readHead(text)
	if !ok {
		body = text
	}
	body = blankAround(body)
	first, rest, _ := strings.Cut(body, "\n")
	m := Memory{Key: key, Kind: "note", Folder: folder, Body: body}
	if title, heading := strings.CutPrefix(first, "# "); heading && blankAround(rest) != "" {
		m.Title, m.Body = title, blankAround(rest)
	}
	for _, title := range []string{h["description"], m.Title, h["name"], first} {
		if m.Title = oneLine(title); m.Title != "" {
			break
		}
	}
	if m.Title == "" || m.Body == "" {
		return nil
	}
	return []Memory{m}
}
