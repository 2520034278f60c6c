package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/eval"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"

	"github.com/spf13/cobra"
)

type mergeOptions struct {
	maintainOptions
	project, set, undo string
	noGate, show       bool
}

func newMerge(p *program) *cobra.Command {
	var o mergeOptions
	cmd := &cobra.Command{
		Use:   "merge",
		Short: "Let one note stand for several that say the same",
		Long: `Ask a model which facts and how-tos of a project say the same, and let one note stand
for each group: one of them, or a new one. The others are kept and not recalled.
Without --apply it shows what the model proposes and writes nothing.

With --apply each group is tried on a copy of the store first: it is applied only if
the questions of the eval set find their notes as before (` + "`anamnesis eval build`" + ` makes
candidates, ` + "`eval curate`" + ` approves them). --no-gate leaves that out. A group that would
lose an exception, a number or a name is refused in any case.`,
		Example: `  anamnesis merge
  anamnesis merge --project . --apply
  anamnesis merge --undo 01M7`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.merge(cmd.Context(), o) },
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.project, "project", "", "of one project: its `KEY`, or . for the one of this folder (default: all)")
	f.StringVar(&o.set, "eval-set", "", "`FILE` of cases (default: eval/eval.jsonl in the store)")
	f.BoolVar(&o.noGate, "no-gate", false, "apply without measuring recall")
	f.BoolVar(&o.show, "show-request", false, "print what would be sent, and send nothing")
	f.StringVar(&o.undo, "undo", "", "let the note `ID` stand for itself again")
	cmd.MarkFlagsMutuallyExclusive("undo", "apply")
	cmd.MarkFlagsMutuallyExclusive("show-request", "apply")
	return cmd
}

func (p *program) merge(ctx context.Context, o mergeOptions) error {
	m, err := p.openWhole(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	if o.undo != "" {
		return p.unmerge(ctx, m, o)
	}
	r, missing := m.Reflector("merge")
	projects, err := m.projectsToMerge(ctx, o.project)
	if err != nil {
		return err
	}
	if o.show {
		return p.showMerge(ctx, r, projects)
	}
	if missing != nil {
		if p.json {
			return p.emit(struct {
				header
				Configured bool `json:"configured"`
			}{head("merge"), false})
		}
		p.printf("merge: %v\n", reflection.ErrNotConfigured)
		return nil
	}
	var gate *eval.MergeGate
	if o.apply && !o.noGate {
		if gate, err = p.mergeGate(ctx, m, o.set); err != nil {
			return err
		}
		defer func() { _ = gate.Close() }()
	}
	return p.mergeProjects(ctx, m, r, gate, projects, o)
}

// projectsToMerge lists the projects that have portable facts or how-tos.
func (m *memory) projectsToMerge(ctx context.Context, named string) ([]string, error) {
	if named != "" {
		return []string{m.p.project(m.Store, named).Key}, nil
	}
	rows, err := m.Index.Select(ctx, index.Filter{Scope: note.Portable, Types: []note.Type{note.Procedural, note.Semantic}, Now: m.Store.Now()}, 0)
	if err != nil {
		return nil, err
	}
	seen := app.Counts{}
	for _, r := range rows {
		seen[r.Project]++
	}
	return sortedKeys(seen), nil
}

// mergeGate opens the gate over a copy of the store.
func (p *program) mergeGate(ctx context.Context, m *memory, file string) (*eval.MergeGate, error) {
	cases, warnings, err := eval.GateCases(m.evalSet(file), eval.Titles(ctx, m.Index))
	for _, w := range warnings {
		p.note("merge: warning: %s", w)
	}
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	bar := p.stages()
	defer bar.done()
	return p.lab(m, "merge").Gate(ctx, cases, p.cfg.Reflection.GateK, bar.step)
}

type mergedJSON struct {
	Project    string       `json:"project"`
	Applied    []groupJSON  `json:"groups"`
	Refused    []refuseJSON `json:"refused"`
	Superseded int          `json:"superseded"`
	Made       []note.ID    `json:"synthesized,omitempty"`
	Error      string       `json:"error,omitempty"`
}

type groupJSON struct {
	Action     string    `json:"action"`
	Keeper     note.ID   `json:"keeper,omitempty"`
	Title      string    `json:"title,omitempty"`
	Superseded []note.ID `json:"superseded_ids"`
}

type refuseJSON struct {
	groupJSON
	Why    string  `json:"why"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

func describeGroup(g reflection.Group) groupJSON {
	return groupJSON{g.Action, g.Keeper, g.New.Title, append([]note.ID{}, g.Superseded...)}
}

func (p *program) mergeProjects(ctx context.Context, m *memory, r *reflection.Reflector, gate *eval.MergeGate, projects []string, o mergeOptions) error {
	b := p.batch(m)
	all := []mergedJSON{}
	superseded, failed := 0, 0
	for _, project := range projects {
		name := firstLine(project, 80)
		prop, err := r.Propose(ctx, project)
		j := mergedJSON{Project: project, Applied: []groupJSON{}, Refused: []refuseJSON{}}
		switch {
		case err == nil && o.apply:
			j, err = p.mergeOne(ctx, r, gate, prop, o)
			superseded += j.Superseded
		case err == nil:
			j, err = p.showProposal(ctx, m, r, prop)
		}
		if err != nil {
			j.Error = err.Error()
			failed++
			p.say("merge: %s: failed (%s); skipped\n", name, firstLine(j.Error, 300))
		}
		all = append(all, j)
		if ctx.Err() != nil {
			break
		}
	}
	answer := struct {
		header
		Applied    bool            `json:"applied"`
		Projects   []mergedJSON    `json:"projects"`
		Superseded int             `json:"superseded"`
		Undo       string          `json:"undo,omitempty"`
		Sync       *app.SyncResult `json:"sync,omitempty"`
	}{header: head("merge"), Applied: o.apply, Projects: all, Superseded: superseded}
	if superseded > 0 {
		how, s, err := b.finish(ctx, o.noSync)
		if err != nil {
			return err
		}
		answer.Sync = &s
		p.say("merge: superseded %d note(s); %s\n", superseded, how)
		answer.Undo = b.undo()
		for _, j := range all {
			for _, id := range j.Made { // it has no former form
				answer.Undo += " && anamnesis archive " + string(id)
			}
		}
		if !p.json {
			p.undoLine(answer.Undo)
			p.say("`anamnesis merge --undo ID` lets one note stand for itself again\n")
		}
	}
	var bad error
	if failed > 0 && failed == len(all) {
		bad = &app.Error{Kind: app.Failed, Err: errors.New("merge: every project failed; the lines above say why")}
	}
	if p.json {
		return errors.Join(p.emit(answer), bad)
	}
	return bad
}

// showProposal prints what a model proposes: which notes, and what would stand
// for them. A group that would be refused anyway is shown as that.
func (p *program) showProposal(ctx context.Context, m *memory, r *reflection.Reflector, prop reflection.Proposal) (mergedJSON, error) {
	j := mergedJSON{Project: prop.Project, Applied: []groupJSON{}, Refused: []refuseJSON{}}
	refused, err := r.Check(ctx, prop)
	if err != nil {
		return j, err
	}
	name := firstLine(prop.Project, 80)
	for _, g := range prop.Groups {
		at := slices.IndexFunc(refused, func(f reflection.Refusal) bool { return f.Group.String() == g.String() })
		what := fmt.Sprintf("keep %s supersedes %d note(s)", g.Keeper, len(g.Superseded))
		if g.Action == reflection.Synthesize {
			what = fmt.Sprintf("synthesize '%s' from %d note(s)", firstLine(g.New.Title, 70), len(g.Superseded))
		}
		if at >= 0 {
			j.Refused = append(j.Refused, refuseJSON{describeGroup(g), refused[at].Why, 0, 0})
			p.say("merge: %s: would refuse to %s%s\n", name, what, because(printable(refused[at].Why)))
		} else {
			j.Applied = append(j.Applied, describeGroup(g))
			p.say("merge: %s: %s (dry-run; pass --apply)\n", name, what)
		}
		if g.Action == reflection.Synthesize {
			p.say("  new  %s\n", firstLine(g.New.Body, 160))
		} else {
			p.sayNote(ctx, m, "stays", g.Keeper)
		}
		for _, id := range g.Superseded {
			p.sayNote(ctx, m, "goes", id)
		}
	}
	if len(prop.Groups) == 0 && prop.Notes > 0 {
		p.say("merge: %s: no redundant groups found (dry-run)\n", name)
	}
	return j, nil
}

// sayNote names a note of a plan.
func (p *program) sayNote(ctx context.Context, m *memory, what string, id note.ID) {
	title := "it is not there"
	if row, ok, err := m.Index.Lookup(ctx, id); err == nil && ok {
		title = firstLine(row.Title, 70)
	}
	p.say("  %-5s %s  %s\n", what, id, title)
}

// mergeOne applies what passes.
func (p *program) mergeOne(ctx context.Context, r *reflection.Reflector, gate *eval.MergeGate, prop reflection.Proposal, o mergeOptions) (mergedJSON, error) {
	var done reflection.Merging
	var err error
	if gate != nil {
		done, err = gate.Merge(ctx, r, prop)
	} else {
		done, err = r.Merge(ctx, prop, nil)
	}
	name := firstLine(prop.Project, 80)
	j := mergedJSON{Project: prop.Project, Applied: []groupJSON{}, Refused: []refuseJSON{}, Superseded: done.Superseded, Made: done.Synthesized}
	for _, g := range done.Applied {
		j.Applied = append(j.Applied, describeGroup(g))
	}
	switch {
	case prop.Notes == 0 || len(prop.Groups) == 0:
	case o.noGate:
		p.say("merge: %s: %d group(s), %d synthesized, %d superseded\n", name, len(done.Applied), len(done.Synthesized), done.Superseded)
	default:
		p.say("merge: %s: %d group(s) applied, %d rejected\n", name, len(done.Applied), len(done.Refused))
	}
	for _, f := range done.Refused {
		j.Refused = append(j.Refused, refuseJSON{describeGroup(f.Group), f.Why, f.Before, f.After})
		what := "keep " + string(f.Group.Keeper)
		if f.Group.Action == reflection.Synthesize {
			what = "synthesize '" + firstLine(f.Group.New.Title, 70) + "'"
		}
		why := printable(f.Why)
		if why == "" {
			why = fmt.Sprintf("recall@%d %.3f -> %.3f", p.cfg.Reflection.GateK, f.Before, f.After)
		}
		p.say("merge: %s: rejected %s (%s)\n", name, what, why)
	}
	if done.Stale != nil {
		p.note("the notes are safe, but not in the index yet: %v; `anamnesis reindex` mends that", done.Stale)
	}
	return j, err
}

// showMerge prints what would be sent.
func (p *program) showMerge(ctx context.Context, r *reflection.Reflector, projects []string) error {
	var all []request
	for _, project := range projects {
		prompt, n, err := r.MergeRequest(ctx, project)
		if err != nil {
			return err
		}
		if n > 0 {
			all = append(all, newRequest(project, n, prompt))
		}
	}
	return p.printRequests("merge", all, "no project has enough notes (merge.min_durable)")
}

// unmerge lets a note stand for itself again.
func (p *program) unmerge(ctx context.Context, m *memory, o mergeOptions) error {
	row, err := app.Resolve(ctx, m.Rooms, o.undo)
	if err != nil {
		return err
	}
	r, _ := m.Reflector("merge")
	by, err := r.Release(ctx, row.ID)
	if err != nil {
		return err
	}
	_, s, err := p.batch(m).finish(ctx, o.noSync)
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(struct {
			header
			ID       note.ID        `json:"id"`
			Released []note.ID      `json:"released_by"`
			Sync     app.SyncResult `json:"sync"`
		}{head("merge"), row.ID, append([]note.ID{}, by...), s})
	}
	if len(by) == 0 {
		p.printf("merge: no note stands for %s\n", row.ID)
		return nil
	}
	for _, id := range by {
		p.printf("merge: %s %q stands for itself again; %s did\n", row.ID, firstLine(row.Title, 60), id)
	}
	return nil
}

// evalSet is the file of the cases.
func (m *memory) evalSet(file string) string {
	if file == "" {
		return m.Store.Path("eval/eval.jsonl")
	}
	if rest, ok := cutHome(file); ok && m.p.cfg.UserHome != "" {
		return filepath.Join(m.p.cfg.UserHome, rest)
	}
	return file
}
