package models

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"anamnesis/internal/embed/transformer"
)

// try opens the files and reads a short text with the model.
func (p *Plan) try(ctx context.Context, dir string) error {
	m, err := transformer.Open(dir)
	if err != nil {
		return err
	}
	p.Kind, p.What = Encoder, m.String()
	if m.Reads() {
		p.Kind = CrossEncoder
	}
	p.Took, err = try(ctx, m)
	return err
}

// try asks a model for a short text, and returns what that takes once it is warm.
func try(ctx context.Context, m *transformer.Model) (took time.Duration, err error) {
	const text = "how do I rotate the staging certificate"
	var numbers []float64
	for range 2 { // the first one pays for reading the weights
		began := time.Now()
		numbers = nil
		if m.Reads() {
			numbers, err = m.Score(ctx, text, []string{text})
		} else {
			var v [][]float32
			v, err = m.Vectors(ctx, []string{text})
			for _, x := range slices.Concat(v...) {
				numbers = append(numbers, float64(x))
			}
		}
		if err != nil {
			return 0, err
		}
		took = time.Since(began)
	}
	for _, x := range numbers {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, errors.New("it answers with what is no number: its weights are damaged, or too great for float32")
		}
	}
	return took, nil
}

// Try checks every file of a model of a kind, opens it and asks it for a short text.
func (f *Folder) Try(ctx context.Context, name, kind string) (time.Duration, error) {
	m, err := f.Read(name)
	if err != nil {
		return 0, err
	}
	if m.Kind != kind {
		return 0, wrongKind(m, kind)
	}
	if err := f.verify(m, true); err != nil {
		return 0, err
	}
	opened, err := f.Load(name)
	if err != nil {
		return 0, err
	}
	return try(ctx, opened)
}
