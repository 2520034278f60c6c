package agent

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Skills are files of one form for all agents: SKILL.md in a separate folder, with a
// name and a description in its front matter.
//
// SkillFolders are the folders below a user's home, with slashes, in which agents look
// for them; ProjectSkillFolders those below a project's folder. A folder holds skills one
// or two levels below it.
var (
	SkillFolders = []string{
		".claude/skills", ".agents/skills", ".codex/skills", ".copilot/skills", ".gemini/skills", ".cursor/skills",
		".config/opencode/skill", ".config/opencode/skills", ".hermes/skills", ".qwen/skills",
	}
	ProjectSkillFolders = []string{
		".claude/skills", ".agents/skills", ".codex/skills", ".github/skills", ".gemini/skills", ".cursor/skills", ".opencode/skills",
		".qwen/skills",
	}
)

// SkillFile is the name of the file of a skill.
const SkillFile = "SKILL.md"

// A Skill is what a file says of a skill. Its texts come from files of others and are not
// trusted.
type Skill struct {
	Name    string // of the front matter, else of the folder
	Summary string // the first line of the description, at most 240 characters
	Tags    []string
	Body    string
}

// Bounds of a skill.
const (
	maxSkillName    = 64
	maxSkillSummary = 240
	maxSkillTags    = 32
	maxSkillBody    = 16 << 10 // bytes
)

// ReadSkill reads the file of a skill; name is its path, with slashes. A file without
// readable front matter is known by its folder's name.
func ReadSkill(name string, data []byte) Skill {
	h, body, _ := readHead(memoryText(data))
	s := Skill{Name: shownLine(h["name"], maxSkillName), Summary: shownLine(h["description"], maxSkillSummary), Body: strings.TrimSpace(body)}
	if s.Name == "" {
		s.Name = shownLine(path.Base(path.Dir(name)), maxSkillName)
	}
	for _, key := range []string{"tags", "triggers", "metadata.tags", "metadata.triggers"} {
		for _, tag := range headList(h[key]) {
			if tag = strings.ToLower(shownLine(tag, maxSkillName)); tag != "" && len(s.Tags) < maxSkillTags && !slices.Contains(s.Tags, tag) {
				s.Tags = append(s.Tags, tag)
			}
		}
	}
	s.Body = strings.ToValidUTF8(cutBytes(s.Body, maxSkillBody), "")
	return s
}

// headList reads a list of a head: [a, b], or "a, b", or lines that begin with a dash,
// which readHead joins.
func headList(value string) (list []string) {
	value = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(value), "["), "]")
	separator := ","
	if rest, ok := strings.CutPrefix(value, "- "); ok {
		value, separator = rest, " - "
	}
	for _, item := range strings.Split(value, separator) {
		if item = strings.TrimSpace(unquoteValue(strings.TrimSpace(item))); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// shownLine is a text on one line without what nobody sees, of at most most characters.
func shownLine(s string, most int) string {
	s = oneLine(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return s
}
