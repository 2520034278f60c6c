package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"anamnesis/internal/app"
	"anamnesis/internal/eval"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"

	"github.com/spf13/cobra"
)

// The parts of eval that measure the user's own store: build, curate, run,
// experiment, history.

// ownOptions are flags that they share.
type ownOptions struct {
	set        string
	unreviewed bool
}

func (o *ownOptions) addFlags(cmd *cobra.Command, unreviewed bool) {
	cmd.Flags().StringVar(&o.set, "eval-set", "", "`FILE` of cases (default: eval/eval.jsonl in the store)")
	if unreviewed {
		cmd.Flags().BoolVar(&o.unreviewed, "include-unreviewed", false, "measure candidates that nobody has looked at, too")
	}
}

// historyFile keeps what runs measured.
const historyFile = "eval/history.jsonl"

func newEvalBuild(p *program) *cobra.Command {
	var o ownOptions
	var n int
	var types []string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Let a model propose questions to notes of yours",
		Long: `Let a model propose, for notes of your store, what somebody might ask whom the note
would help: in other words than the note's. The notes are a sample over all projects;
notes of this machine alone are never sent, and what is sent is redacted. The
candidates wait for ` + "`anamnesis eval curate`" + `.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n < 1 {
				return usage("eval build: --n %d: give the number of notes to ask about", n)
			}
			b := eval.Build{N: n}
			for _, t := range types {
				if !slices.Contains(note.Types, note.Type(t)) {
					return usage("eval build: --types %q: use procedural, semantic or episodic", t)
				}
				b.Types = append(b.Types, note.Type(t))
			}
			return p.evalBuild(cmd.Context(), o, b)
		},
	}
	o.addFlags(cmd, false)
	cmd.Flags().IntVar(&n, "n", eval.DefaultCases, "`NUMBER` of notes to ask about")
	cmd.Flags().StringSliceVar(&types, "types", []string{"semantic", "procedural"}, "`TYPES` of the notes")
	return cmd
}

func (p *program) evalBuild(ctx context.Context, o ownOptions, b eval.Build) error {
	m, err := p.openWhole(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	g, err := m.Generator("eval")
	if err != nil {
		if p.json {
			return p.emit(struct {
				header
				Configured bool `json:"configured"`
			}{head("eval"), false})
		}
		p.printf("eval build: %v\n", reflection.ErrNotConfigured)
		return nil
	}
	bar := p.stages()
	b.Bench, b.Model, b.Redactor, b.File, b.Progress = m.workbench(), g, m.Redactor, m.evalSet(o.set), bar.step
	done, err := b.Run(ctx)
	bar.done()
	if err != nil && done.Wrote == 0 {
		return fmt.Errorf("eval build: %w", err)
	}
	if p.json {
		return errors.Join(p.emit(struct {
			header
			eval.Built
			File string `json:"file"`
		}{head("eval"), done, b.File}), err)
	}
	p.printf("eval build: wrote %d candidate(s) to %s (approved=false; curate before running)\n", done.Wrote, b.File)
	if done.Known+done.Duplicates > 0 {
		p.note("%s had cases already, %d questions were known", plural(done.Known, "note"), done.Duplicates)
	}
	return err
}

func newEvalRun(p *program) *cobra.Command {
	var o ownOptions
	var below float64
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Measure recall and the working set of your store",
		Long: `Ask the approved questions of the eval set, over all projects, and count whether the
right note is among the first 1, 3, 5 and 8; and weigh what a session of each project is
told. What was measured goes into ` + "`anamnesis eval history`" + `.

Exit codes: 1 recall@8 is below --fail-below; 2 there is no eval set.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.evalRun(cmd.Context(), o, below) },
	}
	o.addFlags(cmd, true)
	cmd.Flags().Float64Var(&below, "fail-below", 0, "fail when recall@8 is below this `SHARE`, such as 0.8")
	return cmd
}

// cases reads the cases that are measured.
func (m *memory) cases(ctx context.Context, command string, o ownOptions) ([]eval.Case, error) {
	file := m.evalSet(o.set)
	cases, warnings, err := eval.Load(file, o.unreviewed, eval.Titles(ctx, m.Index))
	if err != nil {
		return nil, missing(command, file, err)
	}
	for _, w := range warnings {
		m.p.note("%s: warning: %s", command, w)
	}
	return cases, nil
}

// missing makes wrong usage of a set that is not there.
func missing(command, file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &app.Error{Kind: app.Usage, Err: fmt.Errorf("%s: no eval set at %s (run `anamnesis eval build` first)", command, file)}
	}
	return fmt.Errorf("%s: %w", command, err)
}

func (p *program) evalRun(ctx context.Context, o ownOptions, below float64) error {
	m, err := p.openWhole(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	cases, err := m.cases(ctx, "eval run", o)
	if err != nil {
		return err
	}
	bar := p.stages()
	rep, err := eval.Measure(ctx, m.workbench(), cases, eval.RunOptions{Progress: bar.step})
	bar.done()
	if err != nil {
		return err
	}
	for _, f := range rep.Failed {
		p.note("left out: %s", f)
	}
	if settings, ferr := eval.Fingerprint(p.cfg.Recall, p.cfg.Inject); ferr == nil && !m.Store.ReadOnly() && len(cases) > 0 {
		if err := eval.Remember(m.Store.Path(historyFile), rep.Past(m.Store.Now(), buildVersion(), settings)); err != nil {
			p.note("%v", err)
		}
	}
	var failed error
	if rep.Recall.At[8] < below {
		failed = &app.Error{Kind: app.Failed, Err: fmt.Errorf("eval run: recall@8 is %.3f, below %.3f", rep.Recall.At[8], below)}
	}
	if p.json {
		return errors.Join(p.emit(struct {
			header
			*eval.Report
		}{head("eval"), rep}), failed)
	}
	p.printf("%s", rep)
	return failed
}

func newEvalExperiment(p *program) *cobra.Command {
	var o ownOptions
	var merge bool
	cmd := &cobra.Command{
		Use:   "experiment",
		Short: "Try reflection, or a merge, on a copy of your store",
		Long: `Copy the store, distil the sessions of every project there (with --merge: merge the
notes that say the same), and compare recall and the working set before and after. The
copy is deleted; your store is not changed.

Exit code 1 says that recall fell.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.evalExperiment(cmd.Context(), o, merge) },
	}
	o.addFlags(cmd, true)
	cmd.Flags().BoolVar(&merge, "merge", false, "try a merge instead of reflection")
	return cmd
}

func (p *program) evalExperiment(ctx context.Context, o ownOptions, merge bool) error {
	m, err := p.openWhole(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	if _, err := m.Generator("experiment"); err != nil {
		if p.json {
			return p.emit(struct {
				header
				Configured bool `json:"configured"`
			}{head("eval"), false})
		}
		p.printf("eval experiment: %v\n", reflection.ErrNotConfigured)
		return nil
	}
	cases, err := m.cases(ctx, "eval experiment", o)
	if err != nil {
		return err
	}
	bar := p.stages()
	lab, opts := p.lab(m, "experiment"), eval.RunOptions{Progress: bar.step}
	run := lab.Reflect
	if merge {
		run = lab.Merge
	}
	x, err := run(ctx, cases, opts)
	bar.done()
	if err != nil {
		return err
	}
	for _, f := range x.After.Failed {
		p.note("left out: %s", f)
	}
	var failed error
	if x.Regressed {
		failed = &app.Error{Kind: app.Failed, Err: errors.New("eval experiment: recall fell; the figures say where")}
	}
	if p.json {
		return errors.Join(p.emit(struct {
			header
			*eval.Experiment
		}{head("eval"), x}), failed)
	}
	p.printf("%s", x)
	return failed
}

func newEvalHistory(p *program) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Draw what runs measured over time",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usage("eval history: --limit %d: give 0 for all, or a number", limit)
			}
			s, err := p.openStore()
			if err != nil {
				return err
			}
			rows, warnings, err := eval.History(s.Path(historyFile))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for _, w := range warnings {
				p.note("eval history: warning: %s", w)
			}
			if limit > 0 {
				rows = rows[max(0, len(rows)-limit):]
			}
			if p.json {
				return p.emit(struct {
					header
					Runs []eval.Past `json:"runs"`
				}{head("eval"), append([]eval.Past{}, rows...)})
			}
			if len(rows) == 0 {
				p.note("nothing was measured yet; `anamnesis eval run` does it")
				return nil
			}
			p.printf("%s", eval.Chart(rows, 60))
			return nil
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 0, "runs at most, the newest; 0 means all")
	return cmd
}
