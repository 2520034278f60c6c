package learn

import (
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
)

// Relate returns what a rule says of things, for the sidecar of its note: which fix solves which
// problem, which names the rule is about, and which rule it replaces; nil for nothing.
func Relate(s *store.Store, r *redact.Redactor, rule *Rule, n *note.Note) *note.Sidecar {
	at := n.CreatedAt
	clean := func(text string) string { return r.Redact(strings.Join(strings.Fields(text), " ")).String() }
	side := &note.Sidecar{DocumentID: n.ID, ExtractedAt: at}
	entity := func(name string, kind note.EntityType) string {
		if name = note.CutRunes(clean(name), maxEntity); name != "" {
			for _, e := range side.Entities {
				if e.Name == name {
					return name
				}
			}
			side.Entities = append(side.Entities, note.Entity{Name: name, Type: kind})
		}
		return name
	}
	edge := func(source string, relation note.Relation, target string, strength int) {
		if source == "" || target == "" || source == target {
			return
		}
		side.Edges = append(side.Edges, note.Edge{
			Source: source, Target: target, Relation: relation, Strength: strength, Committed: at, Valid: at,
			Description: note.CutRunes(n.Title, maxEntity),
		})
	}
	subject := entity(n.Title, "pattern")
	if rule.Problem != "" && rule.Fix != "" {
		problem, fix := entity(rule.Problem, "error"), entity(rule.Fix, "tool")
		edge(fix, note.Solves, problem, 8)
		if rule.RootCause != "" {
			edge(entity(rule.RootCause, "pattern"), note.Causes, problem, 7)
		}
	}
	for _, name := range index.Identifiers(n.Title, maxNames) {
		edge(subject, note.Uses, entity(name, "code"), note.DefaultStrength)
	}
	for _, id := range n.Supersedes {
		if old, _, err := store.Get(s, id); err == nil {
			edge(subject, note.Supersedes, entity(old.Title, "pattern"), 9)
		}
	}
	if len(side.Edges) == 0 {
		return nil
	}
	return side
}

// Bounds of a sidecar: characters of a name, and names of a rule.
const (
	maxEntity = 120
	maxNames  = 12
)
