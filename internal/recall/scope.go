package recall

import (
	"context"
	"fmt"
	"slices"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store/project"
)

// A Place is where a question is asked, and what is known there.
type Place struct {
	Project  string   // its key
	Projects []string // all its keys
	Notes    bool     // there are notes of it
	Branch   string   // that is checked out, "" on the trunk and where nobody knows
	Merged   []string // branches that the trunk holds by now
}

// ScopeOptions widen or narrow what a question is about. The zero value is what a
// session at a place should see.
type ScopeOptions struct {
	Global      bool // notes of all projects
	AllBranches bool // and of all branches
	Only        bool // of the project alone, without what every project is told
}

// A Scope selects which notes a question is about (R15, A6).
type Scope struct {
	Project     string `json:"project"`
	Branch      string `json:"branch"` // "" for the trunk
	Global      bool   `json:"global"`
	AllBranches bool   `json:"all_branches"`
	Fallback    string `json:"fallback"` // what was searched instead, "" when nothing was

	projects, branches []string
}

// ScopeOf works out what a question at a place is about: notes of the project
// and those of no project, of the trunk and of the present branch. A project
// without notes never becomes all projects.
func ScopeOf(p Place, r ScopeOptions) Scope {
	s := Scope{Project: p.Project, Branch: p.Branch, Global: r.Global, AllBranches: r.AllBranches}
	if !r.Global {
		s.projects = []string{p.Project} // first: its numbers decide about the gate
		for _, key := range p.Projects {
			if key != p.Project {
				s.projects = append(s.projects, key)
			}
		}
		if !r.Only {
			s.projects = append(s.projects, note.Global, "")
		}
		if !r.Only && !p.Notes {
			s.Fallback = fmt.Sprintf("no notes of project %s yet: only those of all projects were searched", p.Project)
		}
	}
	if !r.AllBranches {
		s.branches = append([]string{p.Branch}, p.Merged...)
	}
	return s
}

// Apply limits a query to the scope.
func (s Scope) Apply(q *Query) {
	q.Project, q.Projects, q.Branches = s.Project, s.projects, s.branches
}

// Branches lists the branches whose notes are in the scope besides those of the
// trunk, which is "". Nil means those of all branches.
func (s Scope) Branches() []string { return slices.Clone(s.branches) }

// Place looks up what a scope needs to know about a project. branch is the one
// that is checked out (store.Side); merged says which of some branches the trunk
// holds, and is asked only when there are notes of other branches.
func (e *Engine) Place(ctx context.Context, id project.Identity, branch string, merged func([]string) []string) (Place, error) {
	p := Place{Project: id.Key, Projects: project.Names(e.store, id), Branch: branch}
	some, err := e.index.Select(ctx, index.Filter{Projects: p.Projects, Now: e.store.Now()}, 1)
	if err != nil {
		return p, err
	}
	if p.Notes = len(some) > 0; !p.Notes || merged == nil {
		return p, nil
	}
	others, err := e.index.Branches(ctx, p.Projects)
	others = slices.DeleteFunc(others, func(b string) bool { return b == branch })
	if err == nil && len(others) > 0 {
		p.Merged = merged(others)
	}
	return p, err
}
