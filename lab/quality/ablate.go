package quality

import (
	"context"
	"fmt"
	"os"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A Variant is a way of asking: settings that differ from those in force.
type Variant struct {
	Name string
	Set  []string // settings, as key=value
	Arms []string // only these; none means all
}

// Runs asks the same questions of one store in several ways: what differs
// between two runs is the variant and nothing else.
func (r Retrieval) Runs(ctx context.Context, open Opener, variants []Variant) ([]*Run, error) {
	root, err := os.MkdirTemp("", "anamnesis-eval-*")
	if err != nil {
		return nil, fmt.Errorf("make a throw-away store: %w", err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	names, err := r.prepare(ctx, open, root)
	if err != nil {
		return nil, err
	}
	runs := make([]*Run, 0, len(variants))
	for _, v := range variants {
		run, err := r.variant(ctx, open, root, names, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}

func (r Retrieval) variant(ctx context.Context, open Opener, root string, names map[note.ID]string, v Variant) (*Run, error) {
	box, err := open(ctx, root, append(append([]string{}, r.Set...), v.Set...))
	if err != nil {
		return nil, err
	}
	defer box.Close()
	r.Arms = v.Arms
	return r.ask(ctx, box, names)
}

// prepare makes the store in an empty folder.
func (r Retrieval) prepare(ctx context.Context, open Opener, root string) (map[note.ID]string, error) {
	box, err := open(ctx, root, r.Set)
	if err != nil {
		return nil, err
	}
	defer box.Close()
	names, err := Fill(box.Store, r.Corpus)
	if err != nil {
		return nil, err
	}
	if _, err := box.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return nil, fmt.Errorf("index the corpus: %w", err)
	}
	if _, err := box.Index.EmbedMissing(ctx, 0, nil); err != nil {
		return nil, err
	}
	if _, err := box.Engine.CalibrateAll(ctx); err != nil { // as the background run does after a change
		return nil, fmt.Errorf("calibrate the gate: %w", err)
	}
	return names, nil
}

// Gate is how the gate does on a set.
type Gate struct {
	Own       int     `json:"own"`
	Kept      float64 `json:"kept"` // share of the own questions that it lets through
	Strangers int     `json:"strangers"`
	Answered  float64 `json:"answered"` // share of the strangers that it lets through
}

// MeasureGate asks the questions of the set, and strangers, with the gate.
func (r Retrieval) MeasureGate(ctx context.Context, open Opener, strangers []Question) (g Gate, err error) {
	r.Gate = true
	root, err := os.MkdirTemp("", "anamnesis-eval-*")
	if err != nil {
		return g, fmt.Errorf("make a throw-away store: %w", err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	names, err := r.prepare(ctx, open, root)
	if err != nil {
		return g, err
	}
	share := func(questions []Question) (float64, error) {
		r.Queries = questions
		run, err := r.variant(ctx, open, root, names, Variant{Name: "gate"})
		if err != nil {
			return 0, err
		}
		answered := make(map[string]bool)
		for _, f := range run.Found {
			answered[f.Query] = true
		}
		return float64(len(answered)) / float64(max(1, len(questions))), nil
	}
	g.Own, g.Strangers = len(r.Queries), len(strangers)
	if g.Kept, err = share(r.Queries); err != nil {
		return g, err
	}
	g.Answered, err = share(strangers)
	return g, err
}
