package app

import (
	"context"
	"path/filepath"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/imports"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/project"
)

// A SkillView is a skill of this machine's agents.
type SkillView struct {
	ID      note.ID  `json:"id"`
	Name    string   `json:"name"`
	Summary string   `json:"summary"`
	Tags    []string `json:"tags"`
	Project string   `json:"project"`
	Path    string   `json:"path"`
	Changed string   `json:"changed_at"`
	Stale   string   `json:"stale,omitempty"` // why it may be out of date
	Score   int      `json:"score,omitempty"` // of a match: 2 for a word in name and tags, 1 for one in the summary
	Norm    float64  `json:"norm,omitempty"`  // of a match: the share of what was asked that it has
}

// SkillsAnswer lists skills.
type SkillsAnswer struct {
	Project string      `json:"project"`
	Skills  []SkillView `json:"skills"`
}

// MaxSkillList bounds a list of skills.
const MaxSkillList = 2000

// RefreshSkills brings the copies of the skills of this machine's agents into step with
// their files: those of the user, and those of the projects in some folders.
func RefreshSkills(ctx context.Context, r *Rooms, dirs []string) (imports.SkillChanges, error) {
	if err := r.MayRedact(); err != nil {
		return imports.SkillChanges{}, err
	}
	folders := skillFolders(r.Store.Home(), agent.SkillFolders, note.Global)
	if r.Config.SkillsDir != "" {
		folders = []imports.SkillFolder{{Path: filepath.Clean(r.Config.SkillsDir), Project: note.Global}}
	}
	for _, dir := range dirs {
		if filepath.IsAbs(dir) && dir != r.Store.Home() {
			folders = append(folders, skillFolders(dir, agent.ProjectSkillFolders, project.Identify(r.Store, dir).Key)...)
		}
	}
	return imports.Skills(ctx, r.Ingester, folders)
}

func skillFolders(below string, names []string, key string) (folders []imports.SkillFolder) {
	for _, name := range names {
		folders = append(folders, imports.SkillFolder{Path: filepath.Join(below, filepath.FromSlash(name)), Project: key})
	}
	return folders
}

// ListSkills lists the skills that a session of a project ("" for the one of this folder)
// has, those that may be out of date too.
func ListSkills(ctx context.Context, r *Rooms, key string) (SkillsAnswer, error) {
	return matchSkills(ctx, r, key, "", MaxSkillList)
}

// MatchSkills returns the skills that a text is about, best first, at most limit. Those
// that may be out of date are left out.
func MatchSkills(ctx context.Context, r *Rooms, key, text string, limit int) (SkillsAnswer, error) {
	if strings.TrimSpace(text) == "" {
		return SkillsAnswer{}, Usagef("skills match: say what the skill should be about")
	}
	a, err := matchSkills(ctx, r, key, text, limit)
	if err == nil && len(a.Skills) == 0 {
		err = &Error{Kind: NotFound}
	}
	return a, err
}

func matchSkills(ctx context.Context, r *Rooms, key, text string, limit int) (SkillsAnswer, error) {
	id := PlaceProject(r.Store, key)
	a := SkillsAnswer{Project: id.Key, Skills: []SkillView{}}
	q := recall.SkillQuery{Projects: project.Names(r.Store, id), Text: text, Limit: limit, All: text == ""}
	hits, err := recall.Skills(ctx, r.Engine, q)
	for _, h := range hits {
		n := h.Note
		a.Skills = append(a.Skills, SkillView{
			ID: n.ID, Name: n.Title, Summary: n.KeyInsight, Tags: append([]string{}, n.Tags...), Project: n.Project, Path: n.ImportedID,
			Changed: string(n.UpdatedAt), Stale: h.Stale, Score: h.Score, Norm: h.Norm,
		})
	}
	return a, err
}
