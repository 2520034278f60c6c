package agent

// instructions are patterns, in the form of package path, of files that an agent loads on its own:
// below the top folder of a project, and below its home folder.
type instructions struct {
	project, home []string
}

// Instructions returns patterns of the files of instructions that the agent loads on its own, below
// the top folder of a project and below its home folder. dir is the folder of the session: one
// agent keeps a file for each.
func (h *Harness) Instructions(dir string) (project, home []string) {
	t := instructionFiles[h.Name]
	home = t.home
	if h.Name == claudeName && dir != "" {
		home = append([]string{"projects/" + claude{}.FolderName(dir) + "/memory/MEMORY.md"}, home...)
	}
	return t.project, home
}

// instructionFiles are those that the documents of the agents name; AGENTS.md is read by nearly all.
var instructionFiles = map[string]instructions{
	claudeName: {
		project: []string{"CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/rules/*.md"},
		home:    []string{"CLAUDE.md", "rules/*.md"},
	},
	codexName: {project: []string{"AGENTS.override.md", "AGENTS.md"}, home: []string{"AGENTS.override.md", "AGENTS.md"}},
	copilotName: {
		project: []string{".github/copilot-instructions.md", ".github/instructions/*.md", "AGENTS.md"},
		home:    []string{"copilot-instructions.md"},
	},
	geminiName:   {project: []string{"GEMINI.md"}, home: []string{"GEMINI.md"}},
	opencodeName: {project: []string{"AGENTS.md", "CLAUDE.md"}, home: []string{"AGENTS.md"}},
	cursorName:   {project: []string{".cursor/rules/*.mdc", ".cursorrules", "AGENTS.md"}},
	qwenName:     {project: []string{"QWEN.md", "AGENTS.md"}, home: []string{"QWEN.md"}},
	hermesName:   {project: []string{".hermes.md", "AGENTS.md", "CLAUDE.md"}, home: []string{"SOUL.md"}},
}
