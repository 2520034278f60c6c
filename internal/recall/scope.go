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
	Shared   []string // other branches whose notes all may see: they are merged or gone, or nobody knows
	Open     []string // other branches whose notes are held back
}

// ScopeOptions widen or narrow what a question is about. The zero value is what a
// session at a place should see.
type ScopeOptions struct {
	Global      bool // notes of all projects
	AllBranches bool // and of all branches
	Only        bool // of the project alone, without what every project is shown
}

// A Scope selects which notes a question is about (R15, A6).
type Scope struct {
	Project     string `json:"project"`
	Branch      string `json:"branch"` // "" for the trunk
	Global      bool   `json:"global"`
	AllBranches bool   `json:"all_branches"`
	Fallback    string `json:"fallback"` // what was searched instead, "" when nothing was

	projects, branches, open []string
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
		s.branches, s.open = append([]string{p.Branch}, p.Shared...), p.Open
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
// that is checked out (project.BranchScope). global asks about the branches of all
// projects. open says which of some branches are there and not merged; it is asked only
// when there are notes of other branches, and without it none is.
func (e *Engine) Place(ctx context.Context, id project.Identity, branch string, global bool, open func([]string) []string) (Place, error) {
	p := Place{Project: id.Key, Projects: project.Names(e.store, id), Branch: branch}
	some, err := e.index.Select(ctx, index.Filter{Projects: p.Projects, Now: e.store.Now()}, 1)
	if err != nil {
		return p, err
	}
	if p.Notes = len(some) > 0; !p.Notes && !global {
		return p, nil
	}
	of := p.Projects
	if global {
		of = nil
	}
	others, err := e.index.Branches(ctx, of)
	others = slices.DeleteFunc(others, func(b string) bool { return b == branch })
	if err == nil && len(others) > 0 && open != nil {
		p.Open = open(slices.Clone(others))
	}
	p.Shared = slices.DeleteFunc(others, func(b string) bool { return slices.Contains(p.Open, b) })
	return p, err
}

// HeldBack counts the notes that would answer q and are held back, because they are of
// other branches that are open. q is a query that the scope was applied to.
func (s Scope) HeldBack(ctx context.Context, e *Engine, q Query) (int, error) {
	if len(s.open) == 0 {
		return 0, nil
	}
	f := e.filter(q)
	f.Branches = s.open
	rows, err := e.index.Select(ctx, f, 0)
	if err != nil {
		return 0, err
	}
	q.only = nil
	for _, r := range rows {
		if slices.Contains(s.open, r.Branch) {
			q.only = append(q.only, r.ID)
		}
	}
	if len(q.only) == 0 {
		return 0, nil
	}
	q.Branches, q.Corpus, q.K, q.MaxTokens, q.Cost = s.open, "", MaxK, 0, nil
	q.NoCache, q.Synthetic = true, true
	words := New(e.index, e.store, e.opts, Models{Words: e.models.Words, Redactor: e.models.Redactor}) // no model is asked for a number
	res, err := words.Recall(ctx, q)
	if err != nil {
		return 0, err
	}
	return len(slices.DeleteFunc(res.Hits, func(h *Hit) bool { return !slices.Contains(s.open, h.Row.Branch) })), nil
}

// HeldBackLine says how many notes were held back, "" for none.
func HeldBackLine(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 note of another branch was held back"
	}
	return fmt.Sprintf("%d notes of other branches were held back", n)
}
