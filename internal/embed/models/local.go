package models

import (
	"context"
	"fmt"
	"sync"

	"anamnesis/internal/embed"
	"anamnesis/internal/embed/transformer"
)

// A runner is a model that is opened when it is first asked.
type runner struct {
	manifest *Manifest
	load     func() (*transformer.Model, error)
}

func (f *Folder) runner(name, kind string) (*runner, error) {
	m, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	if m.Kind != kind {
		return nil, wrongKind(m, kind)
	}
	return &runner{m, sync.OnceValues(func() (*transformer.Model, error) { return f.Load(name) })}, nil
}

func wrongKind(m *Manifest, kind string) error {
	return fmt.Errorf("the model %s is of kind %s, and one of kind %s is wanted", m.Name, m.Kind, kind)
}

// Name tells the model and its files.
func (r *runner) Name() string { return "local/" + r.manifest.Name + "-" + r.manifest.ID() }

// An Embedder is an encoder of the folder.
type Embedder struct{ *runner }

var _ embed.Embedder = Embedder{}

// Embedder returns the encoder of a name. Its files are read when it is first asked.
func (f *Folder) Embedder(name string) (Embedder, error) {
	r, err := f.runner(name, Encoder)
	return Embedder{r}, err
}

// Traits implements embed.Embedder: a background run makes the vectors of notes.
func (e Embedder) Traits() embed.Traits { return embed.Traits{Deferred: true} }

// Embed implements embed.Embedder. A deadline that cannot be met is a
// transformer.SlowError, early.
func (e Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	m, err := e.load()
	if err != nil {
		return nil, err
	}
	v, err := m.Vectors(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("embed with %s: %w", e.Name(), err)
	}
	return v, nil
}

// A Reranker is a cross-encoder of the folder. It has the methods of llm.Reranker, but
// for texts that stay on this machine.
type Reranker struct{ *runner }

// Reranker returns the cross-encoder of a name. Its files are read when it is first asked.
func (f *Folder) Reranker(name string) (Reranker, error) {
	r, err := f.runner(name, CrossEncoder)
	return Reranker{r}, err
}

// Rerank returns one logit a text: the greater the better, 0 is undecided. A deadline
// that cannot be met is a transformer.SlowError, early.
func (r Reranker) Rerank(ctx context.Context, question string, texts []string) ([]float64, error) {
	m, err := r.load()
	if err != nil {
		return nil, err
	}
	return m.Score(ctx, question, texts)
}
