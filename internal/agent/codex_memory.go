package agent

import (
	"fmt"
	"path"
	"strings"
)

// codexMemories are the memories that Codex keeps: MEMORY.md, grouped by task,
// memory_summary.md with what it holds of its user, rollout_summaries with one
// file a session, skills, and notes that were added in between (extensions). raw_memories.md is what MEMORY.md is made of, and
// is not read.
type codexMemories struct{}

// MemoryFiles implements MemoryReader.
func (codexMemories) MemoryFiles() []string {
	return []string{
		"memories/MEMORY.md", "memories/memory_summary.md",
		"memories/rollout_summaries/*.md", "memories/skills/*/SKILL.md", "memories/extensions/*/notes/*.md",
	}
}

// ReadMemory implements MemoryReader.
func (c codexMemories) ReadMemory(name string, data []byte) ([]Memory, error) {
	text := memoryText(data)
	var all []Memory
	switch dir, base := path.Split(name); {
	case base == "MEMORY.md":
		all = c.tasks(text)
	case base == "memory_summary.md":
		all = c.summary(text)
	case path.Base(dir) == "rollout_summaries":
		all = c.rollout(strings.TrimSuffix(base, ".md"), text)
	case path.Base(dir) == "notes":
		all = noteFile(strings.TrimPrefix(strings.TrimSuffix(name, ".md"), "memories/"), "", text)
	case base == "SKILL.md":
		all = c.skill(path.Base(dir), text)
	}
	kept := all[:0]
	for _, m := range all {
		if m.Title = oneLine(m.Title); m.Title != "" && m.Body != "" {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrNoMemory)
	}
	return kept, nil
}

// tasks reads MEMORY.md: each "# Task Group: …" is a memory.
func (codexMemories) tasks(text string) []Memory {
	var all []Memory
	for _, s := range sections(text, "# ") {
		title := strings.TrimSpace(strings.TrimPrefix(s.title, "Task Group:"))
		all = append(all, Memory{
			Key: "MEMORY.md#" + s.key, Kind: "task", Title: title, Body: s.body, Dir: appliesTo(s.body),
		})
	}
	return all
}

// summary reads memory_summary.md: what it says of the user, not its index.
func (codexMemories) summary(text string) []Memory {
	var all []Memory
	for _, s := range sections(text, "## ") {
		if strings.HasPrefix(strings.ToLower(s.title), "what's in memory") {
			continue
		}
		all = append(all, Memory{Key: "memory_summary.md#" + s.key, Kind: "summary", Title: s.title, Body: s.body})
	}
	return all
}

// rollout reads the summary of one session: lines "key: value" at the top, then text.
func (codexMemories) rollout(stem, text string) []Memory {
	facts := make(head)
	rest := text
	for n := 0; n < 32 && rest != ""; n++ {
		line, behind, _ := strings.Cut(rest, "\n")
		if trimmed := strings.TrimSpace(line); trimmed != "" && (trimmed[0] == '#' || facts.set("", trimmed) == "") {
			break
		}
		rest = behind
	}
	m := Memory{Key: "rollout_summaries/" + stem, Kind: "rollout", Episode: true, Body: blankAround(rest), Title: stem}
	if first, _, _ := strings.Cut(m.Body, "\n"); strings.HasPrefix(first, "# ") {
		m.Title = first[2:]
	}
	if id := facts["thread_id"]; ValidID(id) {
		m.Session = id
	}
	if dir := facts["cwd"]; validDir(dir) {
		m.Dir = dir
	}
	return []Memory{m}
}

// skill reads a skill's front page.
func (codexMemories) skill(folder, text string) []Memory {
	h, body, _ := readHead(text)
	m := Memory{Key: "skills/" + folder, Kind: "skill", Body: blankAround(body), Title: h["description"]}
	for _, title := range []string{h["name"], folder} {
		if oneLine(m.Title) == "" {
			m.Title = title
		}
	}
	return []Memory{m}
}

// maxSections bounds how many memories one file may give.
const maxSections = 2000

// A section is a heading of one level with what stands below it.
type section struct{ title, key, body string }

// sections cuts a text at headings with the given mark. What stands before the
// first is left out; a heading inside a code fence is none.
func sections(text, mark string) []section {
	var all []section
	var body strings.Builder
	seen := make(map[string]int)
	var code codeBlock
	flush := func() {
		if len(all) > 0 {
			all[len(all)-1].body = blankAround(body.String())
		}
		body.Reset()
	}
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case code.has(trimmed):
		case strings.HasPrefix(line, mark) && len(all) < maxSections:
			flush()
			title := strings.TrimSpace(line[len(mark):])
			key := strings.ToLower(oneLine(title))
			if seen[key]++; seen[key] > 1 {
				key += fmt.Sprintf("#%d", seen[key])
			}
			all = append(all, section{title: title, key: key})
			continue
		}
		body.WriteString(line)
	}
	flush()
	return all
}

// appliesTo returns the directory that a line "applies_to: cwd=…;" names.
func appliesTo(body string) string {
	for line := range strings.Lines(body) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "applies_to:")
		if !ok {
			continue
		}
		_, dir, _ := strings.Cut(rest, "cwd=")
		dir, _, _ = strings.Cut(dir, ";")
		if dir = strings.Trim(strings.TrimSpace(dir), "`\"'"); validDir(dir) {
			return dir
		}
		return ""
	}
	return ""
}

// A codeBlock is the fence of the block of code that is open, "" outside of one.
type codeBlock string

// has takes the next line, without white space around it, and reports whether it is part of a block.
func (c *codeBlock) has(line string) bool {
	switch {
	case *c != "":
		if strings.HasPrefix(line, string(*c)) {
			*c = ""
		}
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		*c = codeBlock(line[:3])
	default:
		return false
	}
	return true
}
