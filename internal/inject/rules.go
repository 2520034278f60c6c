package inject

import (
	"context"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// ruleList is the kind of the section that lists rules, which is no note of the store.
const ruleList note.Kind = "rules"

// maxListed is how many rules are listed at most; their size ends the list before.
const maxListed = 60

// rules lists what sessions taught about the project and what the working set has no
// place for: a line each. It returns nil when there is none.
func (in *Injector) rules(ctx context.Context, p Place, notes []*note.Note, b *Block) (*note.Note, error) {
	if in.opts.RuleChars <= 0 {
		return nil, nil
	}
	shown := make([]note.ID, len(notes))
	for i, n := range notes {
		shown[i] = n.ID
	}
	rows, err := recall.LearntOf(in.engine).Live(ctx, p.Projects, p.Branches, maxListed, shown)
	if err != nil {
		return nil, err
	}
	size, room := measure(p.Size), in.opts.RuleChars
	var lines strings.Builder
	var learnt []*note.Note
	for _, c := range in.engine.Contents(ctx, rows) {
		if c.Err == nil && in.tells(c.Note) {
			learnt = append(learnt, c.Note)
		}
	}
	for _, n := range in.sift(ctx, p, learnt, b) {
		line := "- " + oneLine(n.Title)
		if unreviewed(n) {
			line += " (unreviewed)"
		}
		if n.Author != "" {
			line += " (shared by " + oneLine(n.Author) + ")"
		}
		if b.moved[n.ID] {
			line += " (" + movedOn + ")"
		}
		if room -= size.of(line) + 1; room < 0 {
			b.Left = append(b.Left, n.ID)
			continue
		}
		lines.WriteString(line + "\n")
		b.listed = append(b.listed, n)
	}
	if len(b.listed) == 0 {
		return nil, nil
	}
	return &note.Note{Kind: ruleList, Body: strings.TrimRight(lines.String(), "\n")}, nil
}

// unreviewed reports whether a session taught a note and nobody has read it.
func unreviewed(n *note.Note) bool {
	return n.Learnt() && !n.HasTag(note.ReviewedTag)
}
