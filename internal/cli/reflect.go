package cli

import (
	"context"
	"errors"

	"anamnesis/internal/app"
	"anamnesis/internal/ingest"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"

	"github.com/spf13/cobra"
)

type reflectOptions struct {
	maintainOptions
	project string
	show    bool
}

func newReflect(p *program) *cobra.Command {
	var o reflectOptions
	cmd := &cobra.Command{
		Use:   "reflect",
		Short: "Distil the sessions of a project into facts and how-tos",
		Long: `Let a model distil the sessions of a project, that no run has distilled yet, into
facts and how-tos. Without --apply it tells which projects have enough of them, and
asks nobody. The sessions stay, and are marked; what was made of them says so
(` + "`anamnesis why ID`" + `). An answer that is not exactly what was asked for changes nothing.

The model is set with ` + "`anamnesis config set reflection.provider ...`" + `; docs/reflection.md is
the guide. --show-request prints what would leave this machine, and sends nothing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.reflect(cmd.Context(), o) },
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&o.project, "project", "", "of one project: its `KEY`, or . for the one of this folder (default: all)")
	cmd.Flags().BoolVar(&o.show, "show-request", false, "print what would be sent")
	return cmd
}

func (p *program) reflect(ctx context.Context, o reflectOptions) error {
	if o.show && o.apply {
		return usage("reflect: --show-request sends nothing; leave --apply out")
	}
	m, err := p.openWhole(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	r, missing := m.Reflector("reflect")
	project := o.project
	if project != "" {
		project = p.project(m.Store, project).Key
	}
	switch {
	case o.show:
		return p.showRequests(ctx, r, project)
	case o.apply:
		return p.reflectApply(ctx, m, r, missing, project, o.noSync)
	}
	return p.reflectPlan(ctx, r, project)
}

// reflectPlan tells what a run would do.
func (p *program) reflectPlan(ctx context.Context, r *reflection.Reflector, project string) error {
	plans, err := r.Plan(ctx, project)
	if err != nil {
		return err
	}
	if p.json {
		type row struct {
			Project    string `json:"project"`
			Sessions   int    `json:"sessions"`
			Enough     bool   `json:"enough"`
			Unfinished int    `json:"unfinished"`
		}
		rows := []row{}
		for _, pl := range plans {
			rows = append(rows, row(pl))
		}
		return p.emit(struct {
			header
			Applied  bool  `json:"applied"`
			Projects []row `json:"projects"`
		}{head("reflect"), false, rows})
	}
	few := 0
	for _, pl := range plans {
		if pl.Unfinished > 0 {
			p.printf("reflect: %s: %s of an earlier run to finish (dry-run; pass --apply)\n", firstLine(pl.Project, 80), plural(pl.Unfinished, "batch"))
		}
		if !pl.Enough {
			few++
			continue
		}
		p.printf("reflect: %s: %d episodic(s) would be distilled (dry-run; pass --apply)\n", firstLine(pl.Project, 80), pl.Sessions)
	}
	if few > 0 {
		p.note("%s with fewer than %d sessions to distil (reflection.min_episodics)", plural(few, "project"), p.cfg.Reflection.MinSessions)
	}
	return nil
}

// showRequests prints what would be sent, project by project.
func (p *program) showRequests(ctx context.Context, r *reflection.Reflector, project string) error {
	plans, err := r.Plan(ctx, project)
	if err != nil {
		return err
	}
	var all []request
	for _, pl := range plans {
		if !pl.Enough {
			continue
		}
		prompt, n, err := r.Request(ctx, pl.Project)
		if err != nil {
			return err
		}
		all = append(all, newRequest(pl.Project, n, prompt))
	}
	return p.printRequests("reflect", all, "no project has enough sessions (reflection.min_episodics)")
}

// modelName says which model would be asked.
func (p *program) modelName() string {
	c := p.cfg.Models.Chat
	if c.Provider == llm.Heuristic {
		return "no model (reflection.provider)"
	}
	name := c.Provider
	if c.Model != "" {
		name += "/" + c.Model
	}
	if url := llm.BaseURL(c.Provider, c.URL); url != "" {
		name += " at " + url
	}
	return name
}

type reflectedJSON struct {
	Project  string        `json:"project"`
	Sessions int           `json:"sessions"`
	Notes    []writtenJSON `json:"notes"`
	Left     int           `json:"left"`
	Resumed  bool          `json:"resumed"`
	Error    string        `json:"error,omitempty"`
}

type writtenJSON struct {
	ID          note.ID   `json:"id"`
	Type        note.Type `json:"type"`
	Title       string    `json:"title"`
	Result      string    `json:"result"`
	Why         string    `json:"why,omitempty"`
	Quarantined bool      `json:"quarantined"`
}

func (p *program) reflectApply(ctx context.Context, m *memory, r *reflection.Reflector, missing error, project string, noSync bool) error {
	b := p.batch(m)
	reports, err := r.ApplyAll(ctx, project)
	if missing != nil && err == nil && len(reports) == 0 {
		err = reflection.ErrNotConfigured
	}
	if errors.Is(err, reflection.ErrNotConfigured) {
		if p.json {
			return p.emit(struct {
				header
				Configured bool `json:"configured"`
			}{head("reflect"), false})
		}
		p.printf("reflect: %v\n", reflection.ErrNotConfigured)
		return nil
	}
	if err != nil && len(reports) == 0 {
		return err
	}
	wrote, sessions, failed := 0, 0, 0
	rows := []reflectedJSON{}
	for i := range reports {
		rep := &reports[i]
		if rep.Err != nil {
			failed++
		}
		wrote += rep.Wrote()
		sessions += rep.Sessions
		rows = append(rows, p.printReflected(rep))
	}
	answer := struct {
		header
		Applied  bool            `json:"applied"`
		Projects []reflectedJSON `json:"projects"`
		Wrote    int             `json:"wrote"`
		Undo     string          `json:"undo,omitempty"`
		Sync     *app.SyncResult `json:"sync,omitempty"`
	}{header: head("reflect"), Applied: true, Projects: rows, Wrote: wrote}
	if wrote+sessions > 0 { // sessions of which nothing was worth keeping are marked, and that travels
		how, s, serr := b.finish(ctx, noSync)
		if serr != nil {
			return serr
		}
		answer.Sync, answer.Undo = &s, b.undo()
		p.say("reflect: wrote %d note(s); %s\n", wrote, how)
		for _, rep := range reports {
			for _, w := range rep.Notes {
				if w.Result == ingest.Created {
					answer.Undo += " && anamnesis archive " + string(w.ID)
				}
			}
		}
		if !p.json {
			p.undoLine(answer.Undo)
		}
	} else if len(reports) == 0 {
		p.note("there is nothing to distil: no project has %d sessions that were not distilled yet (reflection.min_episodics)", p.cfg.Reflection.MinSessions)
	}
	if err == nil && failed > 0 && failed == len(reports) { // it has been said of each
		err = &app.Error{Kind: app.Failed, Err: errors.New("reflect: every project failed; the lines above say why")}
	}
	if p.json {
		return errors.Join(p.emit(answer), err)
	}
	return err
}

// printReflected says what became of a project, and returns it as JSON.
func (p *program) printReflected(rep *reflection.Report) reflectedJSON {
	j := reflectedJSON{Project: rep.Project, Sessions: rep.Sessions, Notes: []writtenJSON{}, Left: rep.Left, Resumed: rep.Resumed}
	name := firstLine(rep.Project, 80)
	if rep.Err != nil {
		j.Error = rep.Err.Error()
		p.say("reflect: %s: failed (%s); skipped\n", name, firstLine(j.Error, 300))
	}
	if rep.Sessions > 0 {
		p.say("reflect: %s: distilled %d episodic(s) -> %d note(s)\n", name, rep.Sessions, rep.Wrote())
	}
	for _, w := range rep.Notes {
		j.Notes = append(j.Notes, writtenJSON{w.ID, w.Type, w.Title, w.Result.String(), w.Why, w.Quarantined})
		more := ""
		switch {
		case w.Quarantined:
			more = " (it reads like orders to an agent and waits for you: `anamnesis review`)"
		case w.Why != "":
			more = because(printable(w.Why))
		}
		if w.Result == ingest.Dropped {
			p.say("  not kept: %q%s\n", firstLine(w.Title, 70), more)
			continue
		}
		p.say("  %s %s [%s] %s%s\n", w.Result, w.ID, w.Type, firstLine(w.Title, 70), more)
	}
	if len(rep.Changed) > 0 {
		p.note("%s of %s changed meanwhile and will be distilled again", plural(len(rep.Changed), "session"), name)
	}
	if rep.Err == nil && rep.Left >= p.cfg.Reflection.MinSessions {
		p.note("%s: %d sessions had no room; run it again", name, rep.Left)
	}
	if rep.Stale != nil {
		p.note("the notes are safe, but not in the index yet: %v; `anamnesis reindex` mends that", rep.Stale)
	}
	return j
}
