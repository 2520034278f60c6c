package recall

// Options are the engine's settings. The zero value ranks by plain BM25 with
// K1 and B of zero and every switch off; the product's values stand in package
// config and in Tuned.
type Options struct {
	Tuning

	MaxTokens int // of an answer, for a face that is not shown a number; 0 means no end

	// The other arms.
	SemanticArm     bool
	GraphArm        bool
	Temporal        bool // look for dates in the question, and find the notes of that time
	BitemporalEdges bool // edges count only while they hold

	// What a question is about, see ScopeOptions. The engine is shown by its queries.
	Global      bool
	AllBranches bool

	Floors map[string]float64 // least normalised score of a candidate, 0 to 1, by arm (Floored)

	// Shaping.
	Rerank         bool
	CalibratedGate bool
	Persona        bool // answer questions about habits from the fields of a persona
	MMR            bool
	FuzzyCache     bool
	GapLog         bool // keep the text of questions that were not answered
	HyDE           bool

	Patience float64 // multiplies the time a recall takes to remember itself; 0 means 1
}

// Tuning is what the ranking was measured with. No setting reaches it but recall.boosts,
// which makes alphas zero; tests and eval vary it. A value has no unit where none is named.
type Tuning struct {
	K1          float64 // BM25: how soon repetitions of a word stop counting, 0 to 10
	B           float64 // BM25: how much the length of a passage counts, 0 to 1
	TitleWeight float64 // what a word in the title is worth against one in the body
	TagsWeight  float64 // likewise for tags and the structured fields
	Candidates  int     // passages scored per question

	LexicalWeight  float64 // what an arm counts in the fusion, against the others
	SemanticWeight float64
	GraphWeight    float64
	TemporalWeight float64

	// How much a boost counts, 0 to 2: a factor is 1 ± half of it (R8).
	ConfidenceAlpha  float64
	RecencyAlpha     float64
	TagAlpha         float64
	ProofAlpha       float64
	FollowUpAlpha    float64 // of whether the sessions that were shown a note used it
	ProjectAlpha     float64
	SpeculativeAlpha float64

	MMRLambda      float64 // 1 ranks by relevance alone, 0 by difference alone
	FuzzyThreshold float64 // share of words two questions have in common to be one, 0 to 1
	CacheTTL       float64 // seconds for which what was found is remembered; 0 remembers nothing
	RerankTimeout  float64 // seconds, of a reranker that is asked over the network
}

// Tuned returns the values of the product. They were chosen by hand; docs/retrieval.md has
// what is found with all of them together.
func Tuned() Tuning {
	return Tuning{
		K1: 0.9, B: 0.6, TitleWeight: 1.2, TagsWeight: 1.5, Candidates: 200,
		LexicalWeight: 1, SemanticWeight: 0.5, GraphWeight: 0.5, TemporalWeight: 0.5,
		ConfidenceAlpha: 0.2, RecencyAlpha: 0.2, TagAlpha: 0.2, ProofAlpha: 0.1, FollowUpAlpha: 0.1, ProjectAlpha: 0.2, SpeculativeAlpha: 0.2,
		MMRLambda: 0.7, FuzzyThreshold: 0.85, CacheTTL: 3600, RerankTimeout: 60,
	}
}
