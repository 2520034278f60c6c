package mcp

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/index"
)

var toolStatus = tool{
	name:  "memory_status",
	doc:   `Count the notes and show the state of sync.`,
	hints: readOnly,
	does:  reads,
	find:  "count notes, state of memory and its synchronisation",
	input: schemaOf[struct{}],
	call:  takes((*Server).status),
}

const maxCounts = 100 // projects that are counted one by one

// A repositoryOut says how the repository of the notes stands.
type repositoryOut struct {
	Initialized bool   `json:"initialized"`
	Remote      string `json:"remote"`
	Head        string `json:"head"`
	Dirty       bool   `json:"dirty"`
	Detail      string `json:"detail"`
}

type statusOut struct {
	Root        string         `json:"root"`
	DBPath      string         `json:"db_path"`
	Total       int            `json:"total"`
	ByType      map[string]int `json:"by_type"`
	ByProject   map[string]int `json:"by_project"`
	ByScope     map[string]int `json:"by_scope"`
	ByWorkspace map[string]int `json:"by_workspace"`
	Sync        repositoryOut  `json:"sync"`
	Waiting     app.Waits      `json:"waiting"` // for a decision of the user
	Held        int            `json:"held"`    // the drafts of them
	Conflicts   int            `json:"conflicts"`
	Stale       int            `json:"stale"` // changed files that are not counted yet; -1: some
	ReadOnly    bool           `json:"read_only"`
}

func (s *Server) status(ctx context.Context, _ caller, _ struct{}) (statusOut, error) {
	st := s.rooms.Store
	out := statusOut{
		Root: st.Root(), DBPath: st.Path("index.db"), ByType: map[string]int{}, ByProject: map[string]int{}, ByScope: map[string]int{},
		ByWorkspace: map[string]int{}, ReadOnly: st.ReadOnly(),
	}
	var err error
	if out.Stale, err = s.refresh(ctx); err != nil {
		return out, err
	}
	if out.Waiting, err = app.CountWaiting(ctx, s.rooms); err != nil {
		return out, err
	}
	out.Held, out.Conflicts = out.Waiting[app.WaitingDraft], out.Waiting[app.WaitingConflict]
	rows, err := s.rooms.Index.Select(ctx, index.Filter{Dead: true}, 0)
	if err != nil {
		return out, err
	}
	out.Total = len(rows)
	for i := range rows {
		r := &rows[i]
		out.ByType[string(r.Type)]++
		out.ByProject[name(r.Project)]++
		out.ByScope[string(r.Ref.Scope)]++
		out.ByWorkspace[name(r.WorkspaceID)]++
	}
	out.ByProject, out.ByWorkspace = largest(out.ByProject), largest(out.ByWorkspace)
	state, err := s.syncState(ctx)
	out.Sync = repositoryOut{state.Initialized, state.Remote, state.Head, state.Dirty, state.Detail}
	return out, err
}

// largest keeps the largest counts of many, and the others as one.
func largest(counts map[string]int) map[string]int {
	if len(counts) <= maxCounts {
		return counts
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	kept := make(map[string]int, maxCounts+1)
	for i, k := range keys {
		if i >= maxCounts {
			k = "(others)"
			kept[k] += counts[keys[i]]
			continue
		}
		kept[k] = counts[k]
	}
	return kept
}
