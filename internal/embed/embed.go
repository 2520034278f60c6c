// Package embed turns text into vectors in this process, whose directions say
// what the text means: static word vectors (static.go) and character n-grams
// (ngram.go). Nothing leaves the machine, so it takes plain text; the clients of
// models elsewhere are in package llm.
//
// The table of word vectors is part of the program and is read in place. The
// package keeps no state, opens no file and computes nothing before it is asked.
package embed

import "context"

// An Embedder turns text into vectors. It is safe for concurrent use.
type Embedder interface {
	// Name tells the model and its version. It is part of the digest of every
	// vector: vectors of two names are never compared.
	Name() string
	// Traits says where and when the embedder works.
	Traits() Traits
	// Embed returns a vector for each text, in their order. They need not be of
	// unit length; a text that says nothing to the model has a vector of zeros.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Traits are what those who use an Embedder have to know about it. The zero value is that of a
// model in this process that is fast enough for the indexing of a note.
type Traits struct {
	Deferred bool // too slow for the indexing of a note: a background run makes the vectors
	Leaves   bool // texts leave the machine, so Embed redacts them first
}

// Analysis cuts a text into tokens, stop words and repetitions among them.
// Models that know words instead of letters are keyed by what it returns, so it
// has to be the analysis that their table was made with (index.Words).
type Analysis func(text string) []string
