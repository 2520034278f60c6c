package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/note"
)

// A Repair is a change of one line in a note's front matter, which a look over
// the whole store proposes. Nothing else of the file changes, its time neither.
type Repair struct {
	ID       note.ID
	Type     note.Type
	Project  string
	Title    string
	Key      string // "project" or "prov_source"
	From, To string

	path string
}

// field returns what the repair is about.
func (r Repair) field(n *note.Note) *string {
	if r.Key == "project" {
		return &n.Project
	}
	return &n.Provenance.Source
}

// A Moving says which notes belong to other projects: all of a project, or
// single ones, which take precedence.
type Moving struct {
	Projects map[string]string  // former key to new key
	Notes    map[note.ID]string // id to new key
}

// PlanMove looks for the notes that a renaming of projects changes, in both
// trees. Files that are no notes are passed over.
func (g *Ingester) PlanMove(ctx context.Context, m Moving) ([]Repair, error) {
	return g.look(ctx, "project", func(n *note.Note) string {
		if to, ok := m.Notes[n.ID]; ok {
			return to
		}
		if to, ok := m.Projects[n.Project]; ok {
			return to
		}
		return n.Project
	})
}

// PlanProvenance looks for notes that say a person wrote them while their tags
// say who did: sessions, imports, distilled and merged notes. A source that
// says more than "human" is never touched.
func (g *Ingester) PlanProvenance(ctx context.Context) ([]Repair, error) {
	return g.look(ctx, "prov_source", func(n *note.Note) string {
		if n.Provenance.Source != note.Human {
			return n.Provenance.Source
		}
		for _, by := range []struct{ tag, source string }{
			{"import", note.Import},
			{"session", note.SessionEnd},
			{"reflection", note.Reflection},
			{"merge", note.Merge},
		} {
			machine := by.source == note.Import || by.source == note.SessionEnd || n.Provenance.Confidence < 1
			if n.HasTag(by.tag) && machine {
				return by.source
			}
		}
		return note.Human
	})
}

func (g *Ingester) look(ctx context.Context, key string, want func(*note.Note) string) ([]Repair, error) {
	plan := []Repair{}
	for ref := range g.store.Walk() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, _, _, err := g.store.Read(ref.Path)
		if err != nil {
			continue // status and the doctor name such files
		}
		r := Repair{ID: n.ID, Type: n.Type, Project: n.Project, Title: n.Title, Key: key, path: ref.Path}
		r.From, r.To = *r.field(n), want(n)
		if r.From != r.To {
			plan = append(plan, r)
		}
	}
	slices.SortFunc(plan, func(a, b Repair) int { return cmp.Compare(a.ID, b.ID) })
	return plan, nil
}

// Repair carries a plan out and returns how many notes it changed. What changed
// since the plan was made is left alone.
func (g *Ingester) Repair(ctx context.Context, plan []Repair) (changed int, err error) {
	err = g.Revise(ctx, func(all *Revision) error {
		for _, r := range plan {
			was, _, ref, rerr := g.store.Read(r.path)
			if rerr != nil || was.ID != r.ID || *r.field(was) != r.From {
				continue
			}
			now := was.Clone()
			*r.field(now) = r.To
			err := now.Validate()
			if err == nil {
				err = all.keepAuthor(was, now, r.Key)
			}
			if err == nil {
				err = all.Put(now, ref)
			}
			if err != nil {
				return fmt.Errorf("change %s of note %s from %q to %q: %w", r.Key, r.ID, r.From, r.To, err)
			}
			changed++
		}
		return nil
	})
	return changed, err
}

// keepAuthor leaves a note the user's word when only its project was wrong, and disowns one that no person wrote.
func (r *Revision) keepAuthor(was, now *note.Note, key string) error {
	switch {
	case key == "prov_source":
		now.Vouched = ""
		return r.w.Disown(now.ID)
	case was.Trusted:
		return r.w.Trust(now)
	}
	return nil
}
