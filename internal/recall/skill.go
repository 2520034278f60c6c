package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A SkillHit is a skill of an agent that a text is about (R20).
type SkillHit struct {
	Note  *note.Note
	Score int     // 2 for each word of the text in its name and tags, 1 for each in its summary
	Norm  float64 // share of what the words of the text say that name, tags or summary have, 0 to 1
	Named float64 // likewise of name and tags alone
	Own   bool    // name or tags have a word that no part of the text has that only says where one is
	Stale string  // why it may be out of date (R14); "" when nothing speaks for that
}

// Fresh reports whether the file of the skill was changed in the last while.
func (h *SkillHit) Fresh(now time.Time) bool {
	at, ok := h.Note.UpdatedAt.Time()
	return ok && now.Sub(at) <= skillAge
}

// skillAge is how long the file of a skill counts as fresh.
const skillAge = 30 * 24 * time.Hour

// Bounds of a comparison: skills, and words of the text.
const (
	maxSkillsRead = 2000
	maxSkillWords = 64
)

// A SkillQuery asks for skills.
type SkillQuery struct {
	Projects []string // all keys of the project
	Text     string   // what the skill should be about
	Where    string   // words that only say where one is, such as the project's name and the branch: they name no task
	Limit    int      // skills at most
	All      bool     // also those that the text says nothing about, and those that may be out of date
}

// Skills returns the skills that a text is about, best first. One that may be out of date
// is left out, unless all are wanted.
func Skills(ctx context.Context, e *Engine, q SkillQuery) ([]SkillHit, error) {
	rows, err := e.index.Select(ctx, index.Filter{
		Projects: append(slices.Clone(q.Projects), note.Global), Kind: note.Skill, Now: e.store.Now(),
	}, maxSkillsRead)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	m := skillMatcher{where: uniqueTokens(q.Where)}
	if err := m.ask(ctx, e, q.Text); err != nil {
		return nil, err
	}
	for i, c := range e.index.Contents(ctx, rows) {
		if c.Err == nil && c.Note.ID == rows[i].ID {
			m.add(c.Note)
		}
	}
	var kept []SkillHit
	for _, h := range m.hits(q.All) {
		if len(kept) == q.Limit {
			break
		}
		if h.Stale, err = e.staleness(ctx, h.Note, q.Projects); err != nil {
			return nil, err
		}
		if h.Stale == "" || q.All {
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// A skillMatcher compares skills with the words of a text.
type skillMatcher struct {
	asked  []string
	says   []float64 // the share of what is asked that each word of it says, by its rarity in all notes
	where  []string
	skills []skillWords
}

type skillWords struct {
	note            *note.Note
	strong, summary []string
}

// ask weighs the words of a text. One that no note has weighs as one that a single note has.
func (m *skillMatcher) ask(ctx context.Context, e *Engine, text string) error {
	if m.asked = uniqueTokens(text); len(m.asked) == 0 {
		return nil
	}
	m.asked = m.asked[:min(len(m.asked), maxSkillWords)]
	statistics, err := e.index.Statistics(ctx)
	if err != nil {
		return err
	}
	terms, err := e.index.Frequencies(ctx, m.asked)
	if err != nil {
		return err
	}
	m.asked = m.asked[:0]
	all := 0.0
	for _, t := range terms {
		weight := index.IDF(max(t.Frequency, 1), max(statistics.Passages, 1))
		m.asked, m.says = append(m.asked, t.Token), append(m.says, weight)
		all += weight
	}
	for i := range m.says {
		m.says[i] /= max(all, 1e-9)
	}
	return nil
}

func (m *skillMatcher) add(n *note.Note) {
	m.skills = append(m.skills, skillWords{
		n, uniqueTokens(n.Title + " " + strings.Join(n.Tags, " ")), uniqueTokens(n.KeyInsight),
	})
}

// hits returns the skills that share a word with the text, or all.
func (m *skillMatcher) hits(anyway bool) []SkillHit {
	var hits []SkillHit
	for _, s := range m.skills {
		h := SkillHit{Note: s.note}
		for i, t := range m.asked {
			switch {
			case slices.Contains(s.strong, t):
				h.Score += 2
				h.Norm += m.says[i]
				h.Named += m.says[i]
				h.Own = h.Own || !slices.Contains(m.where, t)
			case slices.Contains(s.summary, t):
				h.Score++
				h.Norm += m.says[i]
			}
		}
		if h.Score > 0 || anyway {
			hits = append(hits, h)
		}
	}
	slices.SortFunc(hits, func(a, b SkillHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Note.Title, b.Note.Title), cmp.Compare(a.Note.ID, b.Note.ID))
	})
	return hits
}

func uniqueTokens(text string) []string {
	tokens := index.Tokens(text)
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

// backers is how many notes are looked at for each tag of a skill.
const backers = 32

// staleness says why a skill may be out of date: a note that backs it was written or
// changed after the skill's file was. A note backs a skill when one of the skill's tags is
// the note's category, or all words of a tag stand in its title. A skill without tags has
// no note that backs it. Nothing is written down.
func (e *Engine) staleness(ctx context.Context, skill *note.Note, projects []string) (why string, err error) {
	err = e.backing(ctx, skill, append(slices.Clone(projects), note.Global), func(n *note.Note, tag string) bool {
		why = "note " + string(n.ID) + " on " + note.Line(tag, 60) + " is newer"
		return false
	})
	return why, err
}

// Backing returns the notes that back a skill and are newer than its file, each once: those
// of some projects, or with none those of all.
func Backing(ctx context.Context, e *Engine, skill *note.Note, projects []string) (all []*note.Note, err error) {
	err = e.backing(ctx, skill, projects, func(n *note.Note, _ string) bool {
		if !slices.ContainsFunc(all, func(has *note.Note) bool { return has.ID == n.ID }) {
			all = append(all, n)
		}
		return true
	})
	slices.SortFunc(all, func(a, b *note.Note) int { return cmp.Compare(a.ID, b.ID) })
	return all, err
}

// backing calls each for the newer notes that back a skill, with the tag, until it returns false.
func (e *Engine) backing(ctx context.Context, skill *note.Note, projects []string, each func(n *note.Note, tag string) bool) error {
	since, ok := skill.UpdatedAt.Time()
	if !ok {
		return nil
	}
	f := index.Filter{
		Projects: projects, Types: []note.Type{note.Procedural, note.Semantic}, WithoutKinds: ownPlace, Now: e.store.Now(),
	}
	for _, tag := range skill.Tags {
		words := uniqueTokens(tag)
		if len(words) == 0 {
			continue
		}
		m, err := e.index.Ask(ctx, tag, f, backers)
		if err != nil {
			return err
		}
		var keys []int64
		for i := range m.Candidates {
			if !slices.Contains(keys, m.Candidates[i].Key) {
				keys = append(keys, m.Candidates[i].Key)
			}
		}
		rows, err := e.index.Rows(ctx, keys)
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(r index.Row) bool { return !r.Effective().After(since) })
		for i, c := range e.index.Contents(ctx, rows) {
			if c.Err != nil || c.Note.ID != rows[i].ID {
				continue
			}
			title := uniqueTokens(c.Note.Title)
			missing := func(word string) bool { return !slices.Contains(title, word) }
			if (strings.EqualFold(c.Note.Category, tag) || !slices.ContainsFunc(words, missing)) && !each(c.Note, tag) {
				return nil
			}
		}
	}
	return nil
}
