package curate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/eval"
	"anamnesis/internal/index"
	"anamnesis/internal/learn"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
)

// MergeOptions say what is merged, and how carefully.
type MergeOptions struct {
	app.MaintainOptions
	Project string // its key, "." for the one of the current folder, "" for all
	EvalSet string // file of the cases; "" for the store's own
	NoGate  bool   // apply without measuring recall

	Confirm []string // keys of groups that a person found to say the same
}

// MergeAnswer is what a merge did, or would do.
type MergeAnswer struct {
	Applied    bool            `json:"applied"`
	Projects   []Merged        `json:"projects"`
	Superseded int             `json:"superseded"`
	Undo       string          `json:"undo,omitempty"`
	Sync       *app.SyncResult `json:"sync,omitempty"`
}

// A Merged is what became of the groups of a project.
type Merged struct {
	Project    string         `json:"project"`
	Applied    []MergedGroup  `json:"groups"`
	Refused    []RefusedGroup `json:"refused"`
	Superseded int            `json:"superseded"`
	Made       []note.ID      `json:"synthesized,omitempty"`
	Error      string         `json:"error,omitempty"`

	Notes  int          `json:"-"` // that the model was shown
	Plan   []PlannedOne `json:"-"` // the groups of a dry run, in their order
	Groups int          `json:"-"` // that the model proposed
}

// A MergedGroup is a group of notes for which one note stands.
type MergedGroup struct {
	Action     string    `json:"action"`
	Keeper     note.ID   `json:"keeper,omitempty"`
	Title      string    `json:"title,omitempty"`
	Superseded []note.ID `json:"superseded_ids"`
}

// A RefusedGroup is one that was not applied, and why.
type RefusedGroup struct {
	MergedGroup
	Why    string  `json:"why"`
	Key    string  `json:"confirm,omitempty"` // confirms the group, when words alone cannot tell
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// A PlannedOne is a group of a dry run, with the titles of its notes.
type PlannedOne struct {
	MergedGroup
	Body    string // of the new note; "" when one stays
	Refused string // why it would be refused
	Would   bool   // be refused
	Confirm string // confirms it, when words alone cannot tell
	Titles  map[note.ID]string
}

func viewGroup(g reflection.Group) MergedGroup {
	return MergedGroup{g.Action, g.Keeper, g.New.Title, g.Superseded}
}

// confirmKey is the key of a group that a person can confirm, or "".
func confirmKey(f reflection.Refusal) string {
	if !f.Undecided {
		return ""
	}
	return f.Group.Key()
}

// Merge asks a model which notes say the same, and lets one note stand for each
// group; without Apply it says what it would do. Each group is tried on a copy of
// the store first, unless NoGate is set. The error is learn.ErrNoModel
// when there is no model; when every project failed it comes with the answer.
func Merge(ctx context.Context, r *app.Rooms, o MergeOptions) (a MergeAnswer, err error) {
	reflector, missing := app.NewReflector(r, "merge")
	projects, err := projectsToMerge(ctx, r, o.Project)
	if err != nil {
		return a, err
	}
	if missing != nil {
		return a, learn.ErrNoModel
	}
	var gate *eval.MergeGate
	if o.Apply && !o.NoGate {
		if gate, err = mergeGate(ctx, r, o.EvalSet); err != nil {
			return a, err
		}
		defer func() { _ = gate.Close() }()
	}
	a.Applied = o.Apply
	unused := slices.Clone(o.Confirm)
	running, c := app.BeginRun(ctx, r, "merge")
	failed := 0
	for _, project := range projects {
		m, err := mergeProject(running, r, reflector, gate, project, o, &unused)
		if err != nil {
			m.Error = err.Error()
			failed++
		}
		a.Superseded += m.Superseded
		a.Projects = append(a.Projects, m)
		if ctx.Err() != nil {
			break
		}
	}
	for _, key := range unused {
		r.Notify("merge: --confirm %s: no group is called that this time; "+
			"a model can word a new note differently, and then it is another group", key)
	}
	if a.Superseded > 0 {
		s, err := c.Finish(ctx, o.NoSync)
		if err != nil {
			return a, err
		}
		a.Sync, a.Undo = &s, c.Undo()
	}
	if failed > 0 && failed == len(a.Projects) {
		err = &app.Error{Kind: app.Failed, Err: errors.New("merge: every project failed; the lines above say why"), Answered: true}
	}
	return a, err
}

// mergeProject merges one project, or says what it would do.
func mergeProject(ctx context.Context, r *app.Rooms, reflector *reflection.Reflector, gate *eval.MergeGate, project string,
	o MergeOptions, unused *[]string,
) (Merged, error) {
	prop, err := reflector.Propose(ctx, project)
	m := Merged{Project: project, Notes: prop.Notes, Groups: len(prop.Groups)}
	prop.Confirmed = o.Confirm
	for _, g := range prop.Groups {
		*unused = slices.DeleteFunc(*unused, func(key string) bool { return key == g.Key() })
	}
	switch {
	case err != nil:
		return m, err
	case !o.Apply:
		return m, planMerge(ctx, r, reflector, prop, &m)
	}
	var done reflection.Merging
	if gate != nil {
		done, err = gate.Merge(ctx, reflector, prop)
	} else {
		done, err = reflector.Merge(ctx, prop, nil)
	}
	m.Superseded, m.Made = done.Superseded, done.Synthesized
	for _, g := range done.Applied {
		m.Applied = append(m.Applied, viewGroup(g))
	}
	for _, f := range done.Refused {
		m.Refused = append(m.Refused, RefusedGroup{viewGroup(f.Group), f.Why, confirmKey(f), f.Before, f.After})
	}
	if done.Stale != nil {
		r.Notify("the notes are safe, but not in the index yet: %v; `anamnesis doctor reindex` mends that", done.Stale)
	}
	return m, err
}

// planMerge says what a model proposes: which notes, and what would stand for
// them. A group that would be refused anyway is shown as that.
func planMerge(ctx context.Context, r *app.Rooms, reflector *reflection.Reflector, prop reflection.Proposal, m *Merged) error {
	refused, err := reflector.Check(ctx, prop)
	if err != nil {
		return err
	}
	for _, g := range prop.Groups {
		one := PlannedOne{MergedGroup: viewGroup(g), Titles: map[note.ID]string{}}
		if g.Action == reflection.Synthesize {
			one.Body = g.New.Body
		} else {
			app.TitleOf(ctx, r, one.Titles, g.Keeper)
		}
		for _, id := range g.Superseded {
			app.TitleOf(ctx, r, one.Titles, id)
		}
		at := slices.IndexFunc(refused, func(f reflection.Refusal) bool { return f.Group.String() == g.String() })
		if at >= 0 {
			one.Would, one.Refused, one.Confirm = true, refused[at].Why, confirmKey(refused[at])
			m.Refused = append(m.Refused, RefusedGroup{MergedGroup: one.MergedGroup, Why: one.Refused, Key: one.Confirm})
		} else {
			m.Applied = append(m.Applied, one.MergedGroup)
		}
		m.Plan = append(m.Plan, one)
	}
	return nil
}

// projectsToMerge lists the projects that have portable facts or how-tos.
func projectsToMerge(ctx context.Context, r *app.Rooms, named string) ([]string, error) {
	if named != "" {
		return []string{projectKey(r, named)}, nil
	}
	rows, err := r.Index.Select(ctx, index.Filter{
		Scope: note.Portable, Types: []note.Type{note.Procedural, note.Semantic},
		Now: r.Store.Now(),
	}, 0)
	seen := map[string]bool{}
	for _, row := range rows {
		seen[row.Project] = true
	}
	return slices.Sorted(maps.Keys(seen)), err
}

// mergeGate opens the gate over a copy of the store.
func mergeGate(ctx context.Context, r *app.Rooms, file string) (*eval.MergeGate, error) {
	cases, warnings, err := eval.GateCases(evalSet(r, file), eval.Titles(ctx, r.Index))
	for _, w := range warnings {
		r.Notify("merge: warning: %s", w)
	}
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	bar := stages(r)
	defer bar.done()
	return lab(r, "merge").Gate(ctx, cases, reflection.GateHits, bar.step)
}

// MergeRequests returns what would be sent, project by project.
func MergeRequests(ctx context.Context, r *app.Rooms, project string) (a RequestsAnswer, err error) {
	reflector, _ := app.NewReflector(r, "merge")
	projects, err := projectsToMerge(ctx, r, project)
	if err != nil {
		return a, err
	}
	return requests(ctx, r, projects, reflector.MergeRequest)
}

// UnmergeAnswer says that a note stands for itself again.
type UnmergeAnswer struct {
	ID       note.ID        `json:"id"`
	Released []note.ID      `json:"released_by"` // the notes that stood for it
	Sync     app.SyncResult `json:"sync"`

	Title string `json:"-"`
}

// Unmerge lets the note that name names stand for itself again.
func Unmerge(ctx context.Context, r *app.Rooms, name string, noSync bool) (a UnmergeAnswer, err error) {
	row, err := app.Resolve(ctx, r, name)
	if err != nil {
		return a, err
	}
	reflector, _ := app.NewReflector(r, "merge")
	a.ID, a.Title = row.ID, row.Title
	if a.Released, err = reflector.Release(app.Deciding(ctx, r, "unmerge"), row.ID); err != nil {
		return a, err
	}
	a.Sync, err = app.BeginChange(r).Finish(ctx, noSync)
	return a, err
}

// evalSet is the file of the cases: file, or the store's own for "".
func evalSet(r *app.Rooms, file string) string {
	if file == "" {
		return r.Store.Path("eval/eval.jsonl")
	}
	if rest, ok := strings.CutPrefix(filepath.ToSlash(file), "~/"); ok && r.Config.UserHome != "" {
		return filepath.Join(r.Config.UserHome, rest)
	}
	return file
}
