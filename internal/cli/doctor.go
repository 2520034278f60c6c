package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/diagnose"
	"anamnesis/internal/doctor"

	"github.com/spf13/cobra"
)

type doctorOptions struct {
	only     []string
	fix, yes bool
	all      bool
}

func newDoctor(p *program) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that everything is as it should be",
		Long: `Check the installation, the hooks and whether they fire, the MCP server, the store, the
index, sync, recall and the settings. It only looks. Each finding comes with its
evidence and a next step; --fix shows what it would do about them and asks.

Exit code 5 says that something is wrong, or that --fix left something undone. docs/troubleshooting.md goes by symptom.`,
		Example: `  anamnesis doctor
  anamnesis doctor --only hooks,firing
  anamnesis doctor --fix`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, id := range o.only {
				if !slices.Contains(doctor.IDs(), id) {
					return usage("doctor: --only %q: there are %s", id, strings.Join(doctor.IDs(), ", "))
				}
			}
			return p.doctor(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.only, "only", nil, "these checks alone: their `ID`s, separated by commas")
	f.BoolVar(&o.all, "all", false, "show what is right, too")
	f.BoolVar(&o.fix, "fix", false, "show what would mend it, and ask")
	f.BoolVarP(&o.yes, "yes", "y", false, "with --fix: do it without asking, except what deletes")
	return cmd
}

func (p *program) doctor(ctx context.Context, o doctorOptions) error {
	d, closeRooms, err := diagnose.Diagnose(ctx, p.host(), o.only, buildVersion())
	defer closeRooms()
	mended := false
	var failed error
	err = render(p, "doctor", d, err, func(d diagnose.Diagnosis) {
		p.printResults(d.Checks, o.all)
		p.printf("%d ok, %d worth knowing, %d to look at, %d wrong, %d not checked\n",
			d.Counts[doctor.OK], d.Counts[doctor.Info], d.Counts[doctor.Warn], d.Counts[doctor.Bad], d.Counts[doctor.Skipped])
		switch {
		case o.fix:
			mended, failed = true, p.mend(ctx, d.Plan, o.yes)
		case len(d.Plan) > 0:
			p.printf("`anamnesis doctor --fix` would mend %s\n", plural(len(d.Plan), "thing"))
		}
	})
	if mended {
		return failed
	}
	return err
}

// printResults prints what is not right, and with all the rest as well.
func (p *program) printResults(results []doctor.Result, all bool) {
	styles := map[doctor.State]style{doctor.OK: green, doctor.Info: dim, doctor.Warn: yellow, doctor.Bad: red, doctor.Skipped: dim}
	for _, r := range results {
		if !all && (r.State == doctor.OK || r.State == doctor.Skipped || r.State == doctor.Info && r.Next == "") {
			continue
		}
		p.printf("%s  %s (%s)\n", p.in(styles[r.State], fmt.Sprintf("%-7s", r.State)), r.Title, r.ID)
		for _, e := range r.Evidence {
			p.printf("         %s\n", e)
		}
		if r.Next != "" {
			p.printf("         → %s\n", r.Next)
		}
	}
}

// mend shows the plan, asks, and carries it out. What is left undone is an error of
// kind Degraded that says nothing itself.
func (p *program) mend(ctx context.Context, plan []doctor.Fix, yes bool) error {
	if len(plan) == 0 {
		p.printf("there is nothing that --fix could mend\n")
		return nil
	}
	for _, f := range plan {
		p.printf("fix %s: %s\n", f.Check, f.What)
	}
	undone := &app.Error{Kind: app.Degraded}
	if !yes && !terminal(p.stdin) {
		p.printf("nothing was changed yet; --yes does it\n")
		return undone
	}
	in := bufio.NewReader(p.stdin)
	if !yes && !p.confirm(in, "do all of it?") {
		p.printf("nothing was changed\n")
		return undone
	}
	var failed error
	left := false
	for _, f := range plan {
		if f.Asks && (!terminal(p.stdin) || !p.confirm(in, f.What+": it cannot be made again; do it?")) {
			p.printf("left alone: %s\n", f.What)
			left = true
			continue
		}
		if err := f.Do(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("fix %s: %w", f.Check, err))
			continue
		}
		p.printf("done: %s\n", f.What)
	}
	if failed == nil && left {
		return undone
	}
	return failed
}

// confirm asks a person.
func (p *program) confirm(in *bufio.Reader, question string) bool {
	p.errorf("%s [y/N] ", question)
	line, _ := in.ReadString('\n')
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y")
}
