package curate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store/project"
)

// patchPrefix begins the ids of patches of skills.
const patchPrefix = "patch-"

// ProposeSkillPatches looks in the background whether rules that were learnt since say
// something else than the skills of this machine, or more. A skill that cannot be read stops
// no other.
func ProposeSkillPatches(ctx context.Context, r *app.Rooms) (found int, failed []string) {
	if !r.Config.Reflection.SkillPatches || r.Store.ReadOnly() || r.MayRedact() != nil {
		return 0, nil
	}
	rows, err := r.Index.Select(ctx, index.Filter{Kind: note.Skill, Scope: note.Local, Now: r.Store.Now()}, app.MaxSkillList)
	if err != nil {
		return 0, []string{fmt.Sprintf("look for skills to refresh (%v)", err)}
	}
	for i, c := range r.Index.Contents(ctx, rows) {
		n := c.Note
		if c.Err != nil || n.ID != rows[i].ID || n.ID != ingest.SkillID(n.ImportedID) || !filepath.IsAbs(n.ImportedID) ||
			filepath.Base(n.ImportedID) != agent.SkillFile {
			continue // no copy that this program made of a file
		}
		ok, err := proposeSkillPatch(ctx, r, n)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, fmt.Sprintf("look whether the skill %s holds (%v)", n.ImportedID, err))
		}
		if ok {
			found++
		}
	}
	return found, failed
}

func proposeSkillPatch(ctx context.Context, r *app.Rooms, skill *note.Note) (bool, error) {
	var projects []string
	if skill.Project != note.Global {
		projects = append(project.Names(r.Store, app.PlaceProject(r.Store, skill.Project)), note.Global)
	}
	backing, err := recall.Backing(ctx, r.Engine, skill, projects)
	if err != nil {
		return false, err
	}
	var rules []*note.Note
	former := make(map[note.ID][]*note.Note)
	for _, n := range backing {
		if n.Rule == "" && !n.Learnt() {
			continue // it says what was, and lays nothing down
		}
		rules = append(rules, n)
		for _, id := range n.Supersedes {
			if old, err := r.Store.LatestRevision(id); err == nil {
				former[n.ID] = append(former[n.ID], old)
			}
		}
	}
	return reflection.ProposeSkillPatch(r.Store, skill, rules, former)
}

// skillItems are the patches that wait, as things to review.
func skillItems(r *app.Rooms) (items []ReviewItem, err error) {
	all, err := reflection.WaitingPatches(r.Store)
	for _, w := range all {
		p := w.SkillPatch
		it := patchItem(p)
		it.Diff = note.Unified("a/"+filepath.ToSlash(p.Path), "b/"+filepath.ToSlash(p.Path), w.Was, p.Text)
		for _, rule := range p.Rules {
			o := other(r, rule.Note)
			if o == nil {
				continue
			}
			it.Evidence = append(it.Evidence, o.Evidence...)
			it.Sessions++
		}
		items = append(items, it)
	}
	return items, err
}

func patchItem(p *reflection.SkillPatch) ReviewItem {
	turned := 0
	var body strings.Builder
	for _, rule := range p.Rules {
		if rule.Turns != "" {
			turned++
			fmt.Fprintf(&body, "%s (%s, against: %s)\n", rule.Text, rule.Note, note.Line(rule.Turns, 120))
		} else {
			fmt.Fprintf(&body, "%s (%s)\n", rule.Text, rule.Note)
		}
	}
	why := fmt.Sprintf("%s learnt since: %d against what the skill says, %d more than it says", app.Plural(len(p.Rules), "rule"), turned,
		len(p.Rules)-turned)
	return ReviewItem{
		NoteHead: app.NoteHead{
			ID: p.ID, Type: note.Procedural, Title: "skill " + p.Name, Project: p.Project, Scope: string(note.Local), Tags: []string{},
			UpdatedAt: p.At,
		},
		Kind: app.WaitingSkill, Why: why, Body: body.String(),
		Choices: []app.Decision{app.Keep, app.Reject}, Evidence: []history.Quote{}, File: p.Path,
	}
}

// decideSkill applies a patch of a skill, or rejects it.
func decideSkill(ctx context.Context, r *app.Rooms, name string, d app.Decision) (a ReviewDecided, err error) {
	if d != app.Keep && d != app.Reject {
		return a, app.Usagef("%s is a patch of a skill: keep or reject it", name)
	}
	id, err := note.ParseID(name)
	if err != nil {
		return a, app.Usagef("%w", err)
	}
	p, err := reflection.DecideSkillPatch(r.Store, id, d == app.Keep)
	switch {
	case errors.Is(err, reflection.ErrSkillChanged):
		return a, app.Errorf(app.Conflict, "%w", err)
	case errors.Is(err, fs.ErrNotExist):
		return a, app.Errorf(app.NotFound, "%w; `anamnesis review` lists what waits", err)
	case err != nil:
		return a, err
	}
	left, err := Review(ctx, r)
	return ReviewDecided{NoteHead: patchItem(&p).NoteHead, Decision: d, Left: len(left.Notes), File: p.Path}, err
}

// SkillUndone is a skill that has again what it said before a patch.
type SkillUndone struct {
	ID   note.ID `json:"id"`
	File string  `json:"file"`
}

// UndoSkill gives the file of a skill back what it said before a patch was applied.
func UndoSkill(r *app.Rooms, name string) (a SkillUndone, err error) {
	id, err := note.ParseID(name)
	if err != nil {
		return a, app.Usagef("%w", err)
	}
	p, err := reflection.UndoSkillPatch(r.Store, id)
	if errors.Is(err, fs.ErrNotExist) {
		return a, app.Errorf(app.NotFound, "%w", err)
	}
	return SkillUndone{p.ID, p.Path}, err
}
