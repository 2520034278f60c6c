package eval

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// A WorkingSet is the pages that sessions are shown at their start, in tokens as
// recall.Tokens estimates them.
type WorkingSet struct {
	PerProject   map[string]int `json:"per_project"` // every project but the global one
	MeanTokens   float64        `json:"mean_tokens"`
	MedianTokens float64        `json:"median_tokens"`
	CorpusTokens int            `json:"corpus_tokens"` // titles and bodies of all notes
}

// share is how much of all notes a session is shown on average, 0 to 1 and more.
func (s *WorkingSet) share() float64 {
	if s.CorpusTokens == 0 {
		return 0
	}
	return s.MeanTokens / float64(s.CorpusTokens)
}

// A survey is what reading every note of a store once tells.
type survey struct {
	tokens   int
	projects map[string]bool // as notes name them
	standing standing
}

// look reads all notes. A file that is no note is passed over: the index names it.
func look(ctx context.Context, s *store.Store) (*survey, error) {
	refs := slices.Collect(s.Walk())
	threads := runtime.GOMAXPROCS(0)
	parts := make([]*survey, threads)
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			part := &survey{projects: make(map[string]bool), standing: make(standing)}
			for at := i; at < len(refs) && ctx.Err() == nil; at += threads {
				if n, _, _, err := s.Read(refs[at].Path); err == nil {
					part.add(n)
				}
			}
			parts[i] = part
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read the notes: %w", err)
	}
	all := parts[0]
	for _, p := range parts[1:] {
		all.tokens += p.tokens
		maps.Copy(all.projects, p.projects)
		for id, by := range p.standing {
			all.standing[id] = append(all.standing[id], by...)
		}
	}
	for _, by := range all.standing { // the threads do not take turns
		slices.Sort(by)
	}
	return all, nil
}

func (v *survey) add(n *note.Note) {
	v.tokens += recall.Tokens(n.Title) + recall.Tokens(n.Body)
	v.projects[n.Project] = true
	for _, old := range n.Supersedes {
		v.standing[old] = append(v.standing[old], n.ID)
	}
}

// workingSet renders what a session of each project is shown. missing names notes
// that could not be read.
func (w *Workbench) workingSet(ctx context.Context, v *survey, p Progress) (ws WorkingSet, missing []string, err error) {
	ws = WorkingSet{PerProject: make(map[string]int), CorpusTokens: v.tokens}
	projects := make(map[string]bool)
	for name := range v.projects {
		if name == "" || name == note.Global {
			continue
		}
		if name = project.Canonical(w.Store, name); name != note.Global {
			projects[name] = true
		}
	}
	var sizes []int
	for i, name := range slices.Sorted(maps.Keys(projects)) {
		place := inject.Place{Project: name, Projects: project.Names(w.Store, project.Identity{Key: name}), Start: w.Start, End: w.End}
		b, err := w.Injector.Page(ctx, place, recall.Query{})
		if err != nil {
			return ws, nil, fmt.Errorf("weigh what project %s is shown: %w", name, err)
		}
		missing = append(missing, b.Missing...)
		ws.PerProject[name] = recall.Tokens(b.Text)
		sizes = append(sizes, ws.PerProject[name])
		p.step("weighing projects", i+1, len(projects))
	}
	ws.MeanTokens, ws.MedianTokens = middle(sizes)
	return ws, missing, nil
}

// middle returns the mean and the median, zeros of none.
func middle(sizes []int) (mean, median float64) {
	if len(sizes) == 0 {
		return 0, 0
	}
	slices.Sort(sizes)
	sum := 0
	for _, s := range sizes {
		sum += s
	}
	n := len(sizes)
	return float64(sum) / float64(n), float64(sizes[(n-1)/2]+sizes[n/2]) / 2
}
