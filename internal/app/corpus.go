package app

import (
	"context"
	"errors"

	"anamnesis/internal/recall"
)

// A CorpusView is a named set of notes, and what changed since it was built.
type CorpusView struct {
	*recall.Corpus
	recall.Drift
}

// corpusError makes an error of wrong usage of one about a name.
func corpusError(err error) error {
	if errors.Is(err, recall.ErrNoCorpus) {
		return Usagef("%w", err)
	}
	return err
}

func viewCorpus(ctx context.Context, r *Rooms, c *recall.Corpus, err error) (CorpusView, error) {
	if err != nil {
		return CorpusView{}, corpusError(err)
	}
	drift, err := r.Engine.Drift(ctx, c)
	return CorpusView{c, drift}, err
}

// BuildCorpus saves the notes that a filter selects under a name. was is the
// corpus whose place it takes, nil when there was none.
func BuildCorpus(ctx context.Context, r *Rooms, name string, f recall.CorpusFilter) (v CorpusView, was *recall.Corpus, err error) {
	if f.Project == "." {
		f.Project = PlaceProject(r.Store, ".").Key
	}
	was, _ = r.Engine.Corpus(name)
	c, err := r.Engine.BuildCorpus(ctx, name, f)
	v, err = viewCorpus(ctx, r, c, err)
	return v, was, err
}

// RebuildCorpus applies the filter of a corpus to the notes of now.
func RebuildCorpus(ctx context.Context, r *Rooms, name string) (CorpusView, error) {
	c, err := r.Engine.RebuildCorpus(ctx, name)
	return viewCorpus(ctx, r, c, err)
}

// ShowCorpus returns a corpus.
func ShowCorpus(ctx context.Context, r *Rooms, name string) (CorpusView, error) {
	c, err := r.Engine.Corpus(name)
	return viewCorpus(ctx, r, c, err)
}

// Corpora lists the corpora. One that cannot be read is reported, and left out.
func Corpora(ctx context.Context, r *Rooms) (list []CorpusView, err error) {
	all, err := r.Engine.Corpora()
	if err != nil {
		r.Notify("%v", err)
	}
	for _, c := range all {
		v, err := viewCorpus(ctx, r, c, nil)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// DeleteCorpus deletes a corpus; its notes stay.
func DeleteCorpus(r *Rooms, name string) error { return corpusError(r.Engine.DeleteCorpus(name)) }
