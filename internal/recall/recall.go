// Package recall is the one way out: whatever reads memory, a session start,
// a prompt, the command line, asks Engine.Recall or, for what a session is
// always shown, Engine.WorkingSet.
//
// Arms ask the index for candidates; everything after that is arithmetic on
// what they returned. A score changes only through Hit.add and Hit.times, which
// write the reason with the number, so that an explanation cannot drift from
// the score. The same notes, question, clock and settings give the same answer.
//
// Failure policy: an arm or a model that fails is left out and named in the
// result; a note whose file is gone or broken is left out and named; only when
// no arm answers is there an error.
package recall

import (
	"context"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
)

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

	Project     string    // the project the question is asked in, for R16; need not be among Projects
	Branches    []string  // see index.Filter
	Boost       []string  // tags that raise a note (R8)
	Corpus      string    // name of a saved corpus: only its notes (M7)
	Gate        bool      // say nothing rather than something irrelevant (R7)
	MinOverlap  float64   // of the fixed gate, 0 to 1; 0 means the calibrated one
	AsOf        time.Time // edges that held then; zero means now (A2)
	KnownAt     time.Time // edges that were known then; zero means now (A2)
	Confidence  float64   // notes of at least this confidence
	Arms        []string  // ask only these of Sources; none means all that are on
	Fields      []string  // to project (S1)
	Strict      bool      // the budget ends at the first note that does not fit (R4)
	NoMMR       bool
	OwnWords    bool // a note is found by what it says, not by what the note said that it replaced
	NoCache     bool
	Session     string
	PersonaOnly bool // ask for a habit and nothing else (O3)
	Synthetic   bool // nobody asked this: no gap, no memory of it

	only    []note.ID // of Corpus
	reading bool      // hits come back also when the gate is shut: the caller judges them
	asPut   bool      // without an invented answer

	Cost func(h *Hit) int // what a hit costs in tokens as it will be rendered; nil means title and body
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
	Failed   []string     // arms and models that did not answer, and why
	Searched int          // notes in the index
	Tokens   int          // an estimate of what the hits cost a model
	Took     time.Duration
	Window   *Window  // the time the question speaks of, nil when none (R6)
	Recent   bool     // it asks for what is so now
	Persona  *Persona // the answer to a question about habits, which is the first hit too; nil when none (O3)
	Gate     *Gate    // what the gate saw; nil when it was not asked
	Near     note.ID  // the best of what the gate held back
	Cached   string   // "exact" or "fuzzy" when the arms were not asked again (R9)
	Arms     []ArmReport
	Reranker string // that ordered the hits, "" when none did

	// How many passages of how many had no vector of the present model when the
	// semantic arm was asked. It is counted only when none has one, as after a
	// change of the model; else both are 0.
	WithoutVector, Passages int

	late       error            // why the model gave no vector for the question while an agent waited
	key        *cacheKey        // what the arms find is kept under it; nil when it may not be kept
	weighed    []index.Term     // Terms as the gate weighs them (weigh)
	statistics index.Statistics // that the lexical arm scored by
}

// Models are what the engine asks besides the index. The zero value has none.
type Models struct {
	Words    *embed.Static // what words mean, for matches that share none
	Reranker llm.Reranker  // instead of the one that is built in
	Local    Local         // the same on this machine; it comes before Reranker
	Expand   Expand        // writes a hypothetical answer (HyDE)
	Redactor *redact.Redactor
}

// A Local is an llm.Reranker in this process: what it reads stays here, as it is.
type Local interface {
	Name() string
	Rerank(ctx context.Context, question string, texts []string) ([]float64, error)
}

// Expand makes of a question a text that an answer might look like.
type Expand func(ctx context.Context, question redact.Text) (string, error)

// An Engine answers queries. It is safe for concurrent use.
type Engine struct {
	index  *index.Index
	store  *store.Store
	opts   Options
	models Models
	tables sync.Pool // of tokenTable
}

// New returns an Engine.
func New(ix *index.Index, s *store.Store, o Options, m Models) *Engine {
	return &Engine{index: ix, store: s, opts: o, models: m}
}

// Recall answers q. The stages run in this order, always:
//
//	interpret     scope, dates, corpus                                  R15 A6 M7 R6
//	persona       a question about habits has its answer first          O3
//	smallTalk     a text without a subject asks nothing                 R7
//	fromCache     what the arms found for the same question before      R9
//	ask           all arms; lifecycle and scope are predicates inside   R1 R5 A2
//	toCache       keeps what they found for the next such question      R9
//	fuse          floors, then one list by weighted reciprocal ranks    R12
//	rerank        the best and their neighbours, read with the question R2
//	relevant      or nothing at all                                     R7
//	addNeighbours names the hit beside which a neighbour was written
//	boost         by confidence, age, tags, proof, use and project      R8 R16 S3 S4 A4
//	rankOwnFirst     a note of another person stands behind one's own on its subject T1
//	replacements   which hits took the place of which                    R5
//	levelScores   a note stands behind the one that replaced it         R5
//	keepTime      a note of the time asked about has one of the first places R5
//	diversify     the last places go to what is not shown yet           R3
//	placeBehind   and that is so afterwards                             R5
//	pack          the notes themselves, within the budget               R4 S1
//	noteGap       a question without an answer is a gap                 SG6
//
// A stage that is switched off returns its input.
func (e *Engine) Recall(ctx context.Context, q Query) (*Result, error) {
	began := time.Now()
	res := &Result{}
	q, err := e.interpret(q, res)
	if err != nil {
		return nil, err
	}
	e.persona(ctx, q, res)
	if q.PersonaOnly || res.Persona == nil && e.smallTalk(q, res) {
		res.Took = time.Since(began)
		return res, nil
	}
	lists := e.fromCache(ctx, q, res)
	if lists == nil {
		if lists, err = e.ask(ctx, q, res); err != nil {
			return nil, err
		}
		e.toCache(ctx, res, lists)
	}
	hits := e.fuse(lists)
	hits = e.rerank(ctx, q, hits, res)
	if e.relevant(ctx, q, hits, res) || q.reading {
		hits = e.addNeighbours(q, hits)
		hits = e.boost(ctx, q, hits, res)
		hits = e.rankOwnFirst(hits)
		replacements := e.replacements(ctx, q, hits)
		hits = replacements.levelScores(hits)
		hits = e.keepTime(hits, res)
		hits = replacements.placeBehind(e.diversify(ctx, q, hits))
		e.pack(ctx, q, hits, res)
	} else {
		res.Near = hits[0].Row.ID
	}
	e.noteGap(q, res)
	res.Took = time.Since(began)
	return res, nil
}

// maxQuestion bounds a query text in bytes; a pasted log is cut, not refused.
const maxQuestion = 64 << 10

// interpret puts a query into bounds and works out what it means.
func (e *Engine) interpret(q Query, res *Result) (Query, error) {
	if q.K == 0 {
		q.K = DefaultK
	}
	q.K = max(1, min(q.K, MaxK))
	q.Text = strings.ToValidUTF8(q.Text[:min(len(q.Text), maxQuestion)], "")
	if e.opts.Temporal {
		res.Window = FindWindow(q.Text, e.store.Now())
		res.Recent = res.Window == nil && recencyIntent(q.Text)
	}
	if q.Corpus != "" {
		ids, err := e.corpusIDs(q.Corpus)
		if err != nil {
			return q, err
		}
		q.only = ids
	}
	res.Query = q
	return q, nil
}

// filter is the part of a query that every arm applies itself.
func (e *Engine) filter(q Query) index.Filter {
	f := index.Filter{
		Projects: q.Projects, Types: q.Types, Scope: q.Scope, Tags: q.Tags,
		UserID: q.UserID, WorkspaceID: q.WorkspaceID, Dead: q.Dead, Now: e.store.Now(),
		Branches: q.Branches, Only: q.only, Confidence: q.Confidence,
	}
	if !q.Dead {
		f.WithoutKinds = []note.Kind{note.Handoff, note.Skill} // shown at session start; agents list their skills themselves
	}
	return f
}
