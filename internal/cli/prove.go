package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/config"

	"github.com/spf13/cobra"
)

// proofs are the scripts that show what each feature does, on, off where it has
// a switch, and against a control.
//
//go:embed testdata/proof/*.txtar
var proofs embed.FS

func newProve(p *program) *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:   "prove [ID...]",
		Short: "List the features and show that each of them works here",
		Long: `List the features, with their switches as they are set, and run the proof of
each: a short session in a throw-away store that shows what the feature does,
that it is gone when it is switched off, and a control. Nothing of yours is
read or written. A few proofs need tools that only the tests have; they say so.

Exit code 1 says that a proof failed.`,
		Example: `  anamnesis prove
  anamnesis prove R3 R7
  anamnesis prove --list`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.prove(cmd.Context(), args, list) },
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the features and run nothing")
	return cmd
}

// What became of a proof.
const (
	holds   = "holds"
	fails   = "fails"
	notHere = "not run here"
	notRun  = "not run"
)

type provenJSON struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Home     string         `json:"home"`
	State    string         `json:"state"` // on, off, always on
	Settings []config.Value `json:"settings"`
	Proof    string         `json:"proof"`
	Detail   string         `json:"detail,omitempty"`
	TookMS   float64        `json:"took_ms"`
}

func (p *program) prove(ctx context.Context, ids []string, list bool) error {
	var all []provenJSON
	failed := 0
	chosen, err := chooseFeatures(ids)
	if err != nil {
		return err
	}
	bar := p.progress("proving")
	for i, f := range chosen {
		row := p.feature(f)
		if !list {
			began := time.Now()
			row.Proof, row.Detail = p.proof(ctx, f.ID)
			row.TookMS = float64(time.Since(began).Milliseconds())
			bar.Step(i+1, len(chosen))
		}
		if row.Proof == fails {
			failed++
		}
		all = append(all, row)
	}
	bar.Done()
	if p.json {
		err = p.emit(struct {
			header
			Features []provenJSON `json:"features"`
			Failed   int          `json:"failed"`
			Planned  []string     `json:"planned"`
		}{head("prove"), all, failed, config.Planned})
	} else {
		p.printProven(all)
	}
	if failed > 0 {
		return errors.Join(err, &app.Error{Kind: app.Failed, Err: fmt.Errorf("prove: %s failed", plural(failed, "proof"))})
	}
	return err
}

// chooseFeatures returns the features with some ids, or all.
func chooseFeatures(ids []string) ([]config.Feature, error) {
	all := config.Features()
	if len(ids) == 0 {
		return all, nil
	}
	var chosen []config.Feature
	for _, id := range ids {
		at := slices.IndexFunc(all, func(f config.Feature) bool { return strings.EqualFold(f.ID, id) || f.Name == id })
		if at < 0 {
			return nil, usage("prove: there is no feature %q in this version; `anamnesis prove --list` names them", id)
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}

// feature says how a feature is set.
func (p *program) feature(f config.Feature) provenJSON {
	row := provenJSON{ID: f.ID, Name: f.Name, Home: "internal/" + f.Home, State: "always on", Settings: []config.Value{}, Proof: notRun}
	states := make(map[string]bool)
	for _, s := range f.Settings {
		v, err := p.cfg.Get(s.Key)
		if err != nil {
			continue // unreachable: the row is of this program
		}
		row.Settings = append(row.Settings, v)
		switch {
		case v.Def == "false" || v.Def == "": // widens what the feature does
		case v.Value == "false" || v.Value == "0":
			states["off"] = true
		default:
			states["on"] = true
		}
	}
	switch first := row.Settings; {
	case states["off"] && !states["on"], len(first) > 0 && first[0].Def == "true" && first[0].Value == "false":
		row.State = "off"
	case states["on"]:
		row.State = "on"
	}
	return row
}

// proof runs the proof of a feature in a throw-away folder.
func (p *program) proof(ctx context.Context, id string) (result, detail string) {
	text, err := proofs.ReadFile("testdata/proof/" + id + ".txtar")
	if err != nil {
		return notHere, "it has no script"
	}
	dir, err := os.MkdirTemp("", "anamnesis-prove-*")
	if err != nil {
		return notHere, err.Error()
	}
	defer func() { _ = os.RemoveAll(dir) }()
	switch err := runProof(ctx, dir, string(text)); {
	case errors.Is(err, errTestOnly):
		return notHere, err.Error()
	case err != nil:
		return fails, err.Error()
	}
	return holds, ""
}

func (p *program) printProven(all []provenJSON) {
	for _, r := range all {
		p.printf("%-4s %-20s %-9s  %-12s  %s\n", r.ID, r.Name, r.State, r.Proof, r.Home)
		for _, v := range r.Settings {
			p.printf("       %s = %s  [%s]\n", v.Env, show(v.Value), v.Source)
		}
		if r.Detail != "" {
			p.printf("       %s\n", r.Detail)
		}
	}
}
