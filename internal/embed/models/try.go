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

// alike is how far the answers to two texts lie apart at most when they are one answer.
const alike = 1e-6

// try asks a model for two short texts, and returns what the first takes once it is warm.
func try(ctx context.Context, m *transformer.Model) (took time.Duration, err error) {
	const text, other = "how do I rotate the staging certificate", "bananas ripen in a paper bag"
	var numbers []float64
	for range 2 { // the first one pays for reading the weights
		began := time.Now()
		if numbers, err = answer(ctx, m, text, text); err != nil {
			return 0, err
		}
		took = time.Since(began)
	}
	second, err := answer(ctx, m, text, other)
	if err != nil {
		return 0, err
	}
	apart := len(numbers) != len(second)
	for i, x := range numbers {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, errors.New("it answers with what is no number: its weights are damaged, or too great for float32")
		}
		apart = apart || math.Abs(x-second[i]) > alike
	}
	if !apart {
		return 0, errors.New("it answers two texts alike: its weights are all zero or all the same, as of a file that was never filled")
	}
	return took, nil
}

// answer asks a model for a text: for its vector, or for its score as an answer to question.
func answer(ctx context.Context, m *transformer.Model, question, text string) (numbers []float64, err error) {
	if m.Reads() {
		return m.Score(ctx, question, []string{text})
	}
	v, err := m.Vectors(ctx, []string{text})
	for _, x := range slices.Concat(v...) {
		numbers = append(numbers, float64(x))
	}
	return numbers, err
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
