package capture

import (
	"strings"

	"anamnesis/internal/lesson"
	"anamnesis/internal/note"
)

// relate is what a lesson says of things, for the sidecar of its note: which command solves which
// failure, which rule is about which names, and which rule took the place of another; nil for
// nothing.
func (r *Recorder) relate(l *lesson.Lesson, n *note.Note) *note.Sidecar {
	at := note.At(l.Window.At)
	if l.Window.At.IsZero() {
		at = note.At(r.store.Now())
	}
	clean := func(text string) string { return r.redactor.Redact(strings.Join(strings.Fields(text), " ")).String() }
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
			Description: note.CutRunes(l.Title, maxEntity),
		})
	}
	subject := entity(l.Title, "pattern")
	if l.Failed != "" {
		failed, symptom := entity(l.Failed, "tool"), entity(l.Symptom, "error")
		for _, did := range l.Did {
			cure := entity(did, "tool")
			edge(cure, note.Solves, symptom, 8)
			edge(failed, note.Requires, cure, 7)
		}
		edge(symptom, note.Prevents, failed, 6)
	}
	for _, a := range l.Anchors {
		edge(subject, note.Uses, entity(a, "code"), note.DefaultStrength)
	}
	for _, id := range n.Supersedes {
		ref, err := r.store.Find(id)
		if err != nil {
			continue
		}
		if old, _, _, err := r.store.Read(ref.Path); err == nil {
			edge(subject, note.Supersedes, entity(old.Title, "pattern"), 9)
		}
	}
	if len(side.Edges) == 0 {
		return nil
	}
	return side
}

// maxEntity is how long the name of an entity may be, in characters.
const maxEntity = 120
