package recall

// Options are the engine's settings. The zero value ranks by plain BM25 with
// K1 and B of zero and every switch off; the product's values stand in package
// config.
type Options struct {
	// The lexical arm.
	K1          float64 // BM25: how soon repetitions of a word stop counting
	B           float64 // BM25: how much the length of a passage counts, 0 to 1
	TitleWeight float64 // what a word in the title is worth against one in the body
	TagsWeight  float64 // likewise for tags and the structured fields
	Candidates  int     // passages scored per question
	MaxTokens   int     // of an answer, for a face that is not shown a number; 0 means no end

	// The other arms.
	SemanticArm     bool
	GraphArm        bool
	TemporalArm     bool
	Temporal        bool // look for dates in the question
	BitemporalEdges bool // edges count only while they hold

	// What a question is about, see ScopeOptions. The engine is shown by its queries.
	Global      bool
	AllBranches bool
	Branch      string // instead of the one that is checked out; "-" is the trunk

	// Fusion.
	LexicalWeight  float64
	SemanticWeight float64
	GraphWeight    float64
	TemporalWeight float64
	LexicalFloor   float64 // least normalised score of a candidate of an arm, 0 to 1
	SemanticFloor  float64
	GraphFloor     float64
	TemporalFloor  float64

	// Shaping.
	Rerank           bool
	RerankTimeout    float64 // seconds, of a reranker that is asked over the network
	CalibratedGate   bool
	MinOverlap       float64 // of the fixed gate; 0 means the calibrated one
	ConfidenceAlpha  float64
	RecencyAlpha     float64
	TagAlpha         float64
	ProofAlpha       float64
	FollowUpAlpha    float64 // of whether the sessions that were shown a note used it
	ProjectAlpha     float64
	SpeculativeAlpha float64
	Persona          bool // answer questions about habits from the fields of a persona
	MMR              bool
	MMRLambda        float64 // 1 ranks by relevance alone
	FuzzyCache       bool
	FuzzyThreshold   float64 // share of words two questions have in common
	CacheTTL         float64 // seconds
	GapLog           bool
	LogQueries       bool // text of questions may stand in the event log; without it there is no gap log
	HyDE             bool

	Patience float64 // multiplies the time a recall takes to remember itself; 0 means 1
}
