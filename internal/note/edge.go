package note

// A Relation is the type of an edge between two things. The set is closed.
type Relation string

// The relations.
const (
	CausedBy    Relation = "caused_by"
	Causes      Relation = "causes"
	Enables     Relation = "enables"
	Prevents    Relation = "prevents"
	Contradicts Relation = "contradicts"
	Supersedes  Relation = "supersedes"
	PartOf      Relation = "part_of"
	Uses        Relation = "uses"

	// The relations of older sidecars, which stay legal.
	Solves     Relation = "solves"
	Requires   Relation = "requires"
	RelatesTo  Relation = "relates_to"
	Implements Relation = "implements"
	Configures Relation = "configures"
	Triggers   Relation = "triggers"
)

// Relations lists the closed set, the older ones last.
var Relations = []Relation{
	CausedBy, Causes, Enables, Prevents, Contradicts, Supersedes, PartOf, Uses,
	Solves, Requires, RelatesTo, Implements, Configures, Triggers,
}

// An EntityType says what kind of thing an entity is. The set is closed.
type EntityType string

// EntityTypes lists the types of entities. A reader takes any other for a concept.
var EntityTypes = []EntityType{
	"technology", "error", "pattern", "function", Concept, "tool",
	"artifact", "code", "config", "service", "platform", "framework", "library",
}

// Concept is the type of an entity that has no better one.
const Concept EntityType = "concept"

// An Entity is a thing that a note speaks of.
type Entity struct {
	Name        string
	Type        EntityType
	Description string
}

// The range of Edge.Strength.
const (
	minStrength     = 1
	DefaultStrength = 5
	MaxStrength     = 10
)

// An Edge is a typed relation between two entities, with two clocks: when it
// was learnt, and from when to when it was so.
type Edge struct {
	Source      string
	Target      string
	Relation    Relation
	Description string
	Strength    int // minStrength to MaxStrength

	Committed  Stamp  // tcommit: when it was learnt; empty means Sidecar.ExtractedAt
	Valid      Stamp  // tvalid: since when it holds; empty means Committed
	ValidEnd   Stamp  // tvalid_end: until when it held; empty means that it still does
	Superseded string // superseded_by: what took its place
}

// A Sidecar is the file beside a note that holds its entities and edges.
type Sidecar struct {
	DocumentID  ID
	ExtractedAt Stamp
	Entities    []Entity
	Edges       []Edge
}
