// Package recall is the one way out: whatever reads memory, a session start,
// a prompt, the command line, asks Engine.Recall or, for what a session is
// always told, Engine.WorkingSet.
//
// Arms ask the index for candidates; everything after that is arithmetic on
// what they returned. A score changes only through Hit.add, which writes the
// reason with the number, so that an explanation cannot drift from the score.
//
// Failure policy: an arm that fails is left out and named in the result; a
// note whose file is gone or broken is left out and named; only when no arm
// answers is there an error.
package recall

import (
	"context"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// Options are the engine's settings. The zero value ranks by plain BM25 with
// K1 and B of zero; the product's values stand in package config.
type Options struct {
	K1          float64 // BM25: how soon repetitions of a word stop counting
	B           float64 // BM25: how much the length of a passage counts, 0 to 1
	TitleWeight float64 // what a word in the title is worth against one in the body
	TagsWeight  float64 // likewise for tags and the structured fields
	Candidates  int     // passages scored per question
}

// A Query is a question to memory.
type Query struct {
	Text        string
	Projects    []string // keys; none means every project
	Types       []note.Type
	Scope       note.Scope
	Tags        []string
	UserID      string
	WorkspaceID string
	K           int  // how many hits at most, 1 to MaxK
	MaxTokens   int  // of what is returned; 0 means no budget
	Dead        bool // superseded, expired and archived notes too
}

// K values: what a search returns by default and at most.
const (
	DefaultK = 8
	MaxK     = 100
)

// A Result is the answer to a query.
type Result struct {
	Query    Query
	Hits     []*Hit
	Terms    []index.Term // the words that were looked for
	Missing  []string     // notes that were left out, and why
	Failed   []string     // arms that did not answer, and why
	Searched int          // notes in the index
	Tokens   int          // an estimate of what the hits cost a model
	Took     time.Duration
}

// An Engine answers queries. It is safe for concurrent use.
type Engine struct {
	index *index.Index
	store *store.Store
	opts  Options
}

// New returns an Engine.
func New(ix *index.Index, s *store.Store, o Options) *Engine {
	return &Engine{index: ix, store: s, opts: o}
}

// Recall answers q. The stages run in this order, always:
//
//	interpret   bounds of the query
//	ask         all arms; lifecycle and scope are predicates inside every arm
//	fuse        one list, by weighted reciprocal ranks
//	pack        the notes themselves, within the budget
//
// A stage that has nothing to do returns its input. Reranking, the gate, boosts
// and diversity have their places between fuse and pack, in this order.
func (e *Engine) Recall(ctx context.Context, q Query) (*Result, error) {
	began := time.Now()
	q = e.interpret(q)
	res := &Result{Query: q}
	lists, err := e.ask(ctx, q, res)
	if err != nil {
		return nil, err
	}
	hits := fuse(lists)
	e.pack(q, hits, res)
	res.Took = time.Since(began)
	return res, nil
}

// maxQuestion bounds a query text in bytes; a pasted log is cut, not refused.
const maxQuestion = 64 << 10

func (e *Engine) interpret(q Query) Query {
	if q.K == 0 {
		q.K = DefaultK
	}
	q.K = max(1, min(q.K, MaxK))
	q.Text = strings.ToValidUTF8(q.Text[:min(len(q.Text), maxQuestion)], "")
	return q
}

// filter is the part of a query that every arm applies itself.
func (e *Engine) filter(q Query) index.Filter {
	return index.Filter{
		Projects: q.Projects, Types: q.Types, Scope: q.Scope, Tags: q.Tags,
		UserID: q.UserID, WorkspaceID: q.WorkspaceID, Dead: q.Dead, Now: e.store.Now(),
	}
}
