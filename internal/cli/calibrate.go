package cli

import (
	"context"
	"strconv"

	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/recall"

	"github.com/spf13/cobra"
)

type calibrateOptions struct {
	recall.FloorOptions
	write bool
}

func newCalibrate(p *program) *cobra.Command {
	var o calibrateOptions
	cmd := &cobra.Command{
		Use:   "calibrate-thresholds",
		Short: "Calibrate the relevance threshold",
		Long: `Work out from which signal on the gate lets notes through: for the store and
for each project with enough notes. It asks questions that nobody here should
answer, and questions made of the notes themselves, and prints how many of the
first would be answered (false injection) and how many of the second would be
held back (false silence). A background run does this after changes, too.

Then it works out a floor for each arm: what most of the candidates for
questions made of notes lie above. Nothing uses the floors until --write puts
them into config.json; without floors more is found.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.calibrate(cmd, o) },
	}
	f := cmd.Flags()
	f.IntVar(&o.Sample, "sample", 40, "notes that questions are made of, for the floors")
	f.Float64Var(&o.Percentile, "percentile", 10, "share of the candidates, in percent, that may lie below a floor")
	f.Uint64Var(&o.Seed, "seed", 0, "draw other notes")
	f.BoolVar(&o.write, "write", false, "put the floors into config.json")
	return cmd
}

func (p *program) calibrate(cmd *cobra.Command, o calibrateOptions) error {
	if o.Sample < 1 || !(o.Percentile > 0 && o.Percentile < 100) {
		return usage("calibrate-thresholds: --sample is at least 1, --percentile between 0 and 100")
	}
	return run(p, cmd, "calibrate-thresholds", app.OpenWhole, func(ctx context.Context, r *app.Rooms) (curate.CalibrateAnswer, error) {
		return curate.Calibrate(ctx, r, o.FloorOptions, o.write)
	}, func(a curate.CalibrateAnswer) {
		for _, g := range a.Gates {
			p.printGate(g)
		}
		for _, f := range a.Floors {
			p.printf("floor of %s = %g  keeps %.0f %% of %s, refuses %.0f %% of %s for random words\n", f.Arm, f.Floor,
				100*f.Kept, plural(f.Candidates, "candidate"), 100*f.Refused, strconv.Itoa(f.Strangers))
		}
		switch {
		case a.Differ && a.InForce:
			p.note("other floors are in force already (`anamnesis config explain R12`); --write puts these in their place")
		case a.Differ:
			p.note("the floors are not in force; --write puts them into config.json")
		}
	})
}

func (p *program) printGate(g recall.Calibration) {
	name := "the store"
	if g.Project != "" {
		name = printable(g.Project)
	}
	if g.Own == 0 {
		p.printf("gate of %s: threshold %.1f, as shipped, for a store of %s\n", name, g.Threshold, plural(g.Notes, "note"))
		return
	}
	p.printf("gate of %s: threshold %.1f, from %s; %.1f %% of %s of strangers answered, %.1f %% of %s of own questions held back\n", name,
		g.Threshold, plural(g.Notes, "note"), 100*g.FalseInjection, plural(g.Probes, "question"), 100*g.FalseSilence, strconv.Itoa(g.Own))
}
