package recall

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A RuleHit is a rule that names what an agent is about to do.
type RuleHit struct {
	Note  *note.Note
	Names string // of the action: a file, a symbol, a command
	Says  string // the sentence of a long note that names it; "" for the whole note

	strength int
}

// Bounds of the search for rules: passages that share words with the names of an
// action, and notes that are read.
const (
	rulePassages = 64
	rulesRead    = 24
)

// Rules returns the rules that name an action, those first that are most about it, and
// what was asked; "" when the action touches nothing that a rule could be about. Words
// alone find the notes, no vector does: the index answers one question, and then the
// text of a note decides. q says which notes may be told.
func Rules(ctx context.Context, e *Engine, q Query, a Action) (hits []RuleHit, asked string, err error) {
	names := a.names()
	if asked = names.question(); asked == "" {
		return nil, "", nil
	}
	f := e.filter(q)
	f.Types = []note.Type{note.Procedural, note.Semantic}
	f.Confidence = max(f.Confidence, leastRuleConfidence)
	m, err := e.index.Ask(ctx, asked, f, rulePassages)
	if err != nil {
		return nil, asked, err
	}
	var keys []int64
	for i := range m.Candidates {
		if key := m.Candidates[i].Key; len(keys) < rulesRead && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	rows, err := e.index.Rows(ctx, keys)
	if err != nil {
		return nil, asked, err
	}
	rows = slices.DeleteFunc(rows, func(r index.Row) bool { return r.Kind != "" || r.Speculative })
	for i, c := range e.index.Contents(ctx, rows) {
		if c.Err != nil || c.Note.ID != rows[i].ID || !IsRule(c.Note) {
			continue
		}
		h := RuleHit{Note: c.Note}
		for _, s := range statements(c.Note) {
			names := names
			if !s.commands {
				names.commands = nil
			}
			if strength, what := names.namedIn(s.text); strength > h.strength {
				h.strength, h.Names, h.Says = strength, what, ""
				if utf8.RuneCountInString(c.Note.Body) > shortRule && strings.Contains(c.Note.Body, s.text) {
					h.Says = s.text
				}
			}
		}
		if h.strength > namesNothing {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(x, y RuleHit) int { return cmp.Compare(y.strength, x.strength) })
	return hits, asked, nil
}

// Touches reports whether an action touches anything that a rule could name.
func (a Action) Touches() bool {
	names := a.names()
	return names.question() != ""
}
