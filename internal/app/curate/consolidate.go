package curate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"
)

// ConsolidateAnswer is what a pass over the learnings folded, or would fold.
type ConsolidateAnswer struct {
	Applied  bool     `json:"applied"`
	New      int      `json:"new"` // learnings since the last pass
	Enough   bool     `json:"enough"`
	Why      string   `json:"why,omitempty"`
	Last     string   `json:"last,omitempty"` // pass
	Foldings []Folded `json:"foldings"`
	Retired  []string `json:"retired"` // observations that nothing supports any more
	Replaced int      `json:"replaced"`
	Model    string   `json:"model_error,omitempty"` // why the model was of no use
	app.Ended
}

// A Folded is an observation and what it is made of.
type Folded struct {
	Project   string    `json:"project"`
	Statement string    `json:"statement"`
	ID        note.ID   `json:"id,omitempty"` // of the observation, or of the note of the user that takes the others in
	Of        []note.ID `json:"of"`
	Replaces  []note.ID `json:"replaces"`
	ByModel   bool      `json:"by_model"`
}

func (a *ConsolidateAnswer) take(c reflection.Consolidation) {
	for _, f := range c.Foldings {
		v := Folded{
			Project: f.Project, Statement: f.Statement, ID: cmp.Or(f.Stands, f.Keeper), Of: []note.ID{},
			Replaces: append([]note.ID{}, f.Replaces...), ByModel: f.ByModel,
		}
		for _, n := range f.Of {
			v.Of = append(v.Of, n.ID)
		}
		a.Foldings = append(a.Foldings, v)
	}
	for _, id := range c.Retired {
		a.Retired = append(a.Retired, string(id))
	}
	a.Replaced = c.Replaced
	if c.Err != nil {
		a.Model = c.Err.Error()
	}
}

// Consolidate folds learnings of a project, or with "" of all, into observations, or says
// what it would fold. A plan asks no model and does not restart the count.
func Consolidate(ctx context.Context, r *app.Rooms, o app.MaintainOptions, project string) (a ConsolidateAnswer, err error) {
	a = ConsolidateAnswer{Applied: o.Apply, Foldings: []Folded{}, Retired: []string{}}
	reflector, merr := app.NewReflector(r, "observe")
	if merr != nil && !errors.Is(merr, llm.ErrNotConfigured) && r.MayRedact() != nil {
		return a, merr
	}
	due, err := reflector.ConsolidationDue(ctx)
	if err != nil {
		return a, err
	}
	a.New, a.Enough, a.Why = due.New, due.Now, due.Why
	if !due.Since.IsZero() {
		a.Last = due.Since.UTC().Format(time.RFC3339)
	}
	key := projectKey(r, project)
	if !o.Apply {
		plan, err := reflector.PlanConsolidation(ctx, key)
		a.take(plan)
		return a, err
	}
	_, a.Ended, err = app.CarryOut(ctx, r, o.NoSync, "reflect", func(ctx context.Context) (int, error) {
		c, err := reflector.Consolidate(ctx, key)
		a.take(c)
		if err == nil && c.Stale != nil {
			err = app.StaleIndex(r, &ingest.StaleError{Err: c.Stale})
		}
		return len(c.Observed) + len(c.Retired), err
	})
	return a, err
}

// ConsolidateDue follows the captures in the background, when it is switched on and enough is
// new. What went wrong is no failure of the captures.
func ConsolidateDue(ctx context.Context, r *app.Rooms) (observed int, failed []string) {
	if !r.Config.Reflection.Consolidate || r.MayRedact() != nil {
		return 0, nil
	}
	due, err := app.PlainReflector(r).ConsolidationDue(ctx)
	if err != nil || !due.Now {
		return 0, nil
	}
	if err := app.RepairGraph(ctx, r, false); err != nil && !errors.Is(err, store.ErrLocked) {
		failed = append(failed, fmt.Sprintf("repair the graph (%v)", err))
	}
	reflector, _ := app.NewReflector(r, "observe")
	running, _ := app.BeginRun(ctx, r, "reflect")
	c, err := reflector.Consolidate(running, "")
	if err = errors.Join(err, c.Err); err != nil && !errors.Is(err, store.ErrLocked) {
		failed = append(failed, fmt.Sprintf("consolidate (%v)", err))
	}
	return len(c.Observed), failed
}

// ObserveOptions say what a person observed.
type ObserveOptions struct {
	Statement string
	Category  string
	About     string // "user" or "project": the statement is what Category, a field of that persona, is
	Project   string
	From      []string // learnings that show it
	To        string   // the observation that gets it; "" makes one
	Retire    string   // the observation that goes
	Why       string   // it goes
	NoSync    bool
}

// ObservedAnswer is an observation as it stands.
type ObservedAnswer struct {
	app.NoteHead
	Result   string          `json:"result"` // created, updated, unchanged or retired
	Evidence int             `json:"evidence"`
	Sync     *app.SyncResult `json:"sync,omitempty"`
}

// Observe makes, changes or retires an observation for a person. What a person says without
// a learning is separate evidence.
func Observe(ctx context.Context, r *app.Rooms, o ObserveOptions) (a ObservedAnswer, err error) {
	if err := r.MayRedact(); err != nil {
		return a, err
	}
	c := app.BeginChange(r)
	switch {
	case o.Retire != "":
		a, err = retireObservation(ctx, r, o)
	default:
		a, err = observe(ctx, r, o)
	}
	if err != nil {
		return a, err
	}
	s, err := c.Finish(ctx, o.NoSync)
	a.Sync = &s
	return a, err
}

func observe(ctx context.Context, r *app.Rooms, o ObserveOptions) (a ObservedAnswer, err error) {
	in := ingest.Observation{
		Statement: strings.Join(strings.Fields(o.Statement), " "), Category: o.Category,
		Project: app.PlaceProject(r.Store, o.Project).Key, Human: true,
	}
	if in.Statement == "" && o.To == "" {
		return a, app.Usagef("observe: say what you observed")
	}
	if o.About != "" {
		switch {
		case o.About != "user" && o.About != "project":
			return a, app.Usagef("observe: --about is user or project")
		case o.To != "" || !ingest.FieldForm().MatchString(o.Category):
			return a, app.Usagef("observe: --about names the field with --category, as in --category commit_style, and replaces its value")
		case o.About == "user":
			in.Project = note.Global
		}
		in.Field = o.Category
	}
	for _, name := range o.From {
		rows, err := app.FindNamed(ctx, r, []string{name}, "")
		if err != nil {
			return a, err
		}
		in.Of = append(in.Of, rows[0].ID)
	}
	in.ID = note.NewID(r.Store.Now())
	fresh := o.To == ""
	if !fresh {
		rows, err := app.FindNamed(ctx, r, []string{o.To}, "")
		if err != nil {
			return a, err
		}
		in.ID = rows[0].ID
	}
	if len(in.Of) == 0 {
		in.Evidence = []note.Evidence{{Session: "person/" + string(note.NewID(r.Store.Now())), Quote: note.CutRunes(in.Statement, note.MaxQuote)}}
	}
	in.New = fresh
	out, err := r.Ingester.Observe(ctx, in)
	if errors.Is(err, fs.ErrNotExist) {
		return a, app.Usagef("%w; `anamnesis list --tags observation` lists them", err)
	}
	if err != nil {
		return a, err
	}
	if out.Result == ingest.Dropped {
		return a, errors.New(out.Why)
	}
	return ObservedAnswer{NoteHead: app.HeadOf(out.Note), Result: out.Result.String(), Evidence: out.Note.Sessions()}, nil
}

func retireObservation(ctx context.Context, r *app.Rooms, o ObserveOptions) (a ObservedAnswer, err error) {
	rows, err := app.FindNamed(ctx, r, []string{o.Retire}, "")
	if err != nil {
		return a, err
	}
	if rows[0].Kind != note.Observation {
		return a, app.Usagef("%s is no observation; `anamnesis archive` retires notes", rows[0].ID)
	}
	done, err := r.Ingester.Archive(ctx, []note.ID{rows[0].ID}, o.Why)
	if err = app.StaleIndex(r, err); err != nil {
		return a, err
	}
	n, _, _, err := r.Store.Read(done[0].Ref.Path)
	if err != nil {
		return a, err
	}
	a = ObservedAnswer{NoteHead: app.HeadOf(n), Result: "retired", Evidence: n.Sessions()}
	if !done[0].Changed {
		a.Result = "unchanged"
	}
	return a, nil
}
