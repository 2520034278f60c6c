package inject

import (
	"context"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// The ways in which skills are shown at session start (R10).
const (
	SkillsOff       = "off"
	SkillsFirst     = "first"     // before the notes
	SkillsExclusive = "exclusive" // where one is strong, no note is looked up for the start
)

// Bounds of what is looked up for a session's start.
const (
	maxStartSkills = 2
	maxStartFiles  = 20
	maxSkillFiles  = 3   // whose names say what a skill should be about
	leastNamed     = 0.3 // of what the question says, that the name and tags of a skill have
	settles        = 0.8 // above it a fresh skill settles the matter (R11)
	skillChars     = 1500
)

// A startTier is what is looked up for a session's start, besides what every session of
// its project is shown.
type startTier struct {
	skills []*note.Note
	hits   []*note.Note
	runs   int // how often notes were looked up: 0 when a skill made that needless
	why    string
}

// tier looks up what a session's start is about: skills that the branch, the files in work
// and the open items name, and notes that pass the gate. shown are the notes that the block
// has anyway, items the open ones.
func (in *Injector) tier(ctx context.Context, p Place, q recall.Query, shown []*note.Note, items []string) (t startTier, err error) {
	var files []string
	if p.Work != nil {
		files = p.Work()
		files = files[max(0, len(files)-maxStartFiles):]
	}
	if in.opts.tiered() {
		settled, err := in.skillTier(ctx, p, files, items, &t)
		if err != nil || settled {
			return t, err
		}
	}
	t.runs++
	known := func(n *note.Note) bool {
		same := func(o *note.Note) bool { return o.ID == n.ID }
		return n.Kind != "" || slices.ContainsFunc(shown, same) || slices.ContainsFunc(t.hits, same)
	}
	add := func(n *note.Note) {
		if len(t.hits) < startNotes && !known(n) {
			t.hits = append(t.hits, n)
		}
	}
	if len(files) > 0 {
		rules, err := recall.Rules(ctx, in.engine, q, recall.Action{Root: p.Root, Files: files})
		if err != nil {
			return t, err
		}
		for _, r := range rules {
			add(r.Note)
		}
	}
	plan := recall.PlanStart(p.Branch, items)
	if plan.Silent != "" || len(t.hits) >= startNotes {
		return t, nil
	}
	q.K = promptRead
	advice, err := in.engine.Advise(ctx, q, plan.InWork(files))
	if err != nil {
		return t, err
	}
	for _, h := range advice.Hits {
		add(h.Note)
	}
	return t, nil
}

func (o *Options) tiered() bool { return o.SkillTier != "" && o.SkillTier != SkillsOff }

// skillTier finds the skills that are shown, and reports whether they settle the matter: a
// skill that is fresh and has nearly all that is asked, or any strong one where skills
// exclude notes.
func (in *Injector) skillTier(ctx context.Context, p Place, files, items []string, t *startTier) (settled bool, err error) {
	where := recall.BranchWords(p.Branch)
	words := slices.Concat(where, items)
	for _, f := range files[max(0, len(files)-maxSkillFiles):] {
		words = append(words, recall.BranchWords(strings.TrimSuffix(path.Base(f), path.Ext(f)))...)
	}
	hits, err := recall.Skills(ctx, in.engine, recall.SkillQuery{
		Projects: p.Projects, Text: strings.Join(words, " "), Where: strings.Join(append(where, p.Project), " "), Limit: maxStartSkills,
	})
	if err != nil {
		return false, err
	}
	for i := range hits {
		h := &hits[i]
		if h.Named < leastNamed || !h.Own {
			continue
		}
		t.skills = append(t.skills, h.Note)
		switch {
		case in.opts.SkillTier == SkillsExclusive:
			settled, t.why = true, "skills exclude notes"
		case h.Norm > settles && h.Fresh(in.store.Now()):
			settled, t.why = true, "the skill "+h.Note.Title+" is fresh and about all of it"
		}
	}
	return settled, nil
}

// openItems returns the lines of the slot of open items, without who left them.
func openItems(shown []*note.Note) (items []string) {
	for _, n := range shown {
		if n.Kind != note.Slot || n.Title != "pending_items" {
			continue
		}
		for line := range strings.Lines(n.Body) {
			line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "- "), " (session ")
			if line != "" {
				items = append(items, line)
			}
		}
	}
	return items
}
