package inject

import (
	"context"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// toolHeading stands before the rules that are injected at a call of a tool.
const toolHeading = "# Memory for this tool call"

// Bounds of what is injected at one call of a tool.
const (
	maxRules   = 2
	ruleTokens = 60 // of the line of one rule
)

// Tool returns what a session is shown at a call of a tool: the rules with a trigger that fits
// it, a line each, and each once at a tool, whatever the session was shown at its start or at a
// prompt. q says which notes may be injected. What is returned counts as shown.
func (in *Injector) Tool(ctx context.Context, p Place, q recall.Query, a recall.Action) (Reminder, error) {
	var r Reminder
	hits, err := recall.Rules(ctx, in.engine, q, a)
	if err != nil {
		return r, err
	}
	if len(hits) == 0 {
		r.Silent = "no rule has a trigger that fits it"
		return r, nil
	}
	r.Parts = []recall.Part{{Kind: recall.Names, Text: hits[0].Trigger.String()}} // never the call: secrets stand in its arguments
	notes := make([]*note.Note, len(hits))
	for i, h := range hits {
		notes[i] = h.Note
	}
	shown := in.store.Spool().ShownLog(p.Session, p.Agent)
	var st store.ShownState
	if p.Session != "" {
		if st, err = shown.State(); err != nil {
			return r, err
		}
	}
	var looked Block
	notes = r.choose(in.sift(ctx, p, notes, &looked), st.HasAtTool, maxRules)
	if p.Session != "" {
		if notes, err = claimFrom(shown.ClaimAtTool, notes); err != nil {
			return r, err
		}
	}
	r.Block = in.ruleLines(notes, p, looked)
	r.Tokens = recall.Tokens(r.Text)
	if len(notes) == 0 {
		r.Silent = "what there is was shown before"
	}
	return r, nil
}

// ruleLines renders rules, a line each. looked is what sift found.
func (in *Injector) ruleLines(notes []*note.Note, p Place, looked Block) (b Block) {
	b.Withheld = looked.Withheld
	if len(notes) == 0 {
		return b
	}
	begin := p.Start + "\n" + toolHeading + "\n"
	room := toolTokens*recall.CharsPerToken - utf8.RuneCountInString(begin+p.End) - 1
	if p.Limit > 0 {
		room = min(room, p.Limit-measure(p.Size).of(begin+p.End)-1)
	}
	var lines strings.Builder
	for i, n := range notes {
		line, id := "- "+oneLine(neutralise(n.Title))+marks(n, false, looked.moved[n.ID])+p.branchOf(n)+gistLine(n), " ["+shortID(n.ID)+"]"
		short := cutLine(line, max(leastBody, min(ruleTokens*recall.CharsPerToken, room/(len(notes)-i))-1-len(id)))
		lines.WriteString(short + id + "\n")
		room -= utf8.RuneCountInString(short+id) + 1
		b.Shown, b.Injections = append(b.Shown, n.ID), append(b.Injections, store.InjectionOf(n))
		if short != line {
			b.Cut = append(b.Cut, n.ID)
		}
	}
	b.Text = begin + lines.String() + p.End + "\n"
	return b
}
