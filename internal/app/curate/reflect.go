package curate

import (
	"context"
	"errors"

	"anamnesis/internal/app"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
)

// A Request is what would be sent to a model, byte for byte.
type Request struct {
	Project string `json:"project"`
	Notes   int    `json:"notes"` // it is made of
	System  string `json:"system"`
	User    string `json:"user"`
}

// RequestsAnswer lists what would be sent.
type RequestsAnswer struct {
	Model    string    `json:"model"`
	Requests []Request `json:"requests"`
}

// projectKey is the key of a project that is named, "" for all.
func projectKey(r *app.Rooms, name string) string {
	if name == "" {
		return ""
	}
	return app.PlaceProject(r.Store, name).Key
}

// ReflectPlan says which projects have sessions to distil.
type ReflectPlan struct {
	Applied  bool           `json:"applied"`
	Projects []PlannedTopic `json:"projects"`
}

// A PlannedTopic is a project and what waits there.
type PlannedTopic struct {
	Project    string `json:"project"`
	Sessions   int    `json:"sessions"`
	Enough     bool   `json:"enough"`
	Unfinished int    `json:"unfinished"`
}

// PlanReflect says what a run would distil, of one project or with "" of all.
func PlanReflect(ctx context.Context, r *app.Rooms, project string) (a ReflectPlan, err error) {
	reflector, _ := app.NewReflector(r, "reflect")
	plans, err := reflector.Plan(ctx, projectKey(r, project))
	for _, pl := range plans {
		a.Projects = append(a.Projects, PlannedTopic(pl))
	}
	return a, err
}

// ReflectRequests returns what would be sent, project by project.
func ReflectRequests(ctx context.Context, r *app.Rooms, project string) (a RequestsAnswer, err error) {
	reflector, _ := app.NewReflector(r, "reflect")
	plans, err := reflector.Plan(ctx, projectKey(r, project))
	var keys []string
	for _, pl := range plans {
		if pl.Enough {
			keys = append(keys, pl.Project)
		}
	}
	if err != nil {
		return a, err
	}
	return requests(ctx, r, keys, reflector.Request)
}

// requests returns what a pass would send, for each project that has any.
func requests(
	ctx context.Context, r *app.Rooms, keys []string, pass func(context.Context, string) (llm.Prompt, int, error),
) (a RequestsAnswer, err error) {
	a.Model = app.ModelName(r)
	for _, key := range keys {
		p, notes, err := pass(ctx, key)
		if err != nil {
			return a, err
		}
		if notes > 0 {
			a.Requests = append(a.Requests, Request{key, notes, p.System.String(), p.User.String()})
		}
	}
	return a, nil
}

// ReflectAnswer is what a run distilled.
type ReflectAnswer struct {
	Applied  bool            `json:"applied"`
	Projects []Reflected     `json:"projects"`
	Wrote    int             `json:"wrote"`
	Undo     string          `json:"undo,omitempty"`
	Sync     *app.SyncResult `json:"sync,omitempty"`
}

// A Reflected is what became of the sessions of a project.
type Reflected struct {
	Project  string      `json:"project"`
	Sessions int         `json:"sessions"`
	Notes    []Distilled `json:"notes"`
	Left     int         `json:"left"`
	Resumed  bool        `json:"resumed"`
	Error    string      `json:"error,omitempty"`

	Report *reflection.Report `json:"-"`
}

// A Distilled is a note that was made of sessions, or not kept.
type Distilled struct {
	ID          note.ID   `json:"id"`
	Type        note.Type `json:"type"`
	Title       string    `json:"title"`
	Result      string    `json:"result"`
	Why         string    `json:"why,omitempty"`
	Quarantined bool      `json:"quarantined"`
}

func viewReport(rep *reflection.Report) Reflected {
	v := Reflected{Project: rep.Project, Sessions: rep.Sessions, Left: rep.Left, Resumed: rep.Resumed, Report: rep}
	if rep.Err != nil {
		v.Error = rep.Err.Error()
	}
	for _, w := range rep.Notes {
		v.Notes = append(v.Notes, Distilled{w.ID, w.Type, w.Title, w.Result.String(), w.Why, w.Quarantined})
	}
	return v
}

// Reflect lets a model distil the sessions of a project, or with "" of all. The
// error is learn.ErrNoModel when there is no model; when every project
// failed it comes with the answer.
func Reflect(ctx context.Context, r *app.Rooms, project string, noSync bool) (a ReflectAnswer, err error) {
	reflector, missing := app.NewReflector(r, "reflect")
	running, c := app.BeginRun(ctx, r, "reflect")
	reports, err := reflector.ApplyAll(running, projectKey(r, project))
	if missing != nil && err == nil && len(reports) == 0 {
		err = learn.ErrNoModel
	}
	if err != nil && (len(reports) == 0 || errors.Is(err, learn.ErrNoModel)) {
		return a, err
	}
	a.Applied = true
	sessions, failed := 0, 0
	for i := range reports {
		rep := &reports[i]
		if rep.Err != nil {
			failed++
		}
		a.Wrote += rep.Wrote()
		sessions += rep.Sessions
		a.Projects = append(a.Projects, viewReport(rep))
	}
	if a.Wrote+sessions > 0 { // sessions of which nothing was worth keeping are marked, and that travels
		s, serr := c.Finish(ctx, noSync)
		if serr != nil {
			return a, serr
		}
		a.Sync, a.Undo = &s, c.Undo()
	}
	if err == nil && failed > 0 && failed == len(reports) { // it has been said of each
		err = errors.New("reflect: every project failed; the lines above say why")
	}
	if err != nil {
		err = &app.Error{Kind: app.Explain(err).Code, Err: err, Answered: true}
	}
	return a, err
}
