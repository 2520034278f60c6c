// Package note says what a note is: its fields, their closed sets, and the
// markdown file that holds it.
//
// A Note is a value. Parse reads one from a file's bytes, Format writes a new
// one, and Rewrite changes an existing file only where the note changed, so
// that what nobody touched stays byte for byte as its owner wrote it. The
// format is normative in docs/format.md.
//
// Reconcile merges two forms of a note. It always has a result, and names what
// could not stay in it; a form that cannot be read loses against one that can.
//
// The package knows no file system, no clock and no index.
package note

import "time"

// A Type says what a note is about.
type Type string

// The three types. A learning is procedural or semantic, a session is episodic.
const (
	Procedural Type = "procedural" // a verified how-to, a decision, a fix
	Semantic   Type = "semantic"   // a fact, a preference, a convention
	Episodic   Type = "episodic"   // what happened in one session
)

// Types lists the types in the order in which folders and help show them.
var Types = []Type{Procedural, Semantic, Episodic}

// Durable reports whether notes of type t are meant to last: procedural and semantic ones.
func (t Type) Durable() bool { return t == Procedural || t == Semantic }

// A Kind sets notes apart that a part of the program keeps for itself. Ordinary notes have none.
type Kind string

// The kinds.
const (
	Slot        Kind = "slot"
	Skill       Kind = "skill"
	Observation Kind = "observation"
	Handoff     Kind = "handoff" // what one session leaves to the next on its project
)

// kinds lists the kinds that a new note may carry, besides none.
var kinds = []Kind{Slot, Skill, Observation, Handoff}

// A Scope says whether a note travels. The tree a file stands in decides it.
type Scope string

// The scopes.
const (
	Portable Scope = "portable"      // under memory/, synced
	Local    Scope = "machine-local" // under local/, never leaves the machine
)

// ReviewedTag is the tag by which an index finds the notes that their owner has read. In a file
// it means nothing.
const ReviewedTag = "reviewed"

// ProgramTag is the tag of the note of a session in which programs asked, and no person.
const ProgramTag = "by-program"

// Global is the project key of notes that every project is shown.
const Global = "global"

// Provenance tells who wrote a note and how sure they were.
type Provenance struct {
	Source     string  // one of Sources, or what an unknown writer left
	Confidence float64 // 0 to 1
	Model      string  // provider/model, empty when no model took part
	Session    string  // session id, empty when none
}

// The sources a writer of ours may stamp.
const (
	Human      = "human"
	SessionEnd = "session-end"
	Reflection = "reflection"
	Import     = "import"
	Merge      = "merge"
	Agent      = "agent"
	Learning   = "learning" // a session showed it; a machine worded it
	User       = "user"     // a person typed it in a session; the evidence quotes the words, which a reader may have put better
	Program    = "program"  // a command without a terminal, or a run that no person watches
	Guest      = "guest"    // a machine without a store
)

// Sources lists the values of Provenance.Source that a new note may carry.
var Sources = []string{Human, SessionEnd, Reflection, Import, Merge, Agent, Learning, User, Program, Guest}

// UserSaid reports whether the user vouches for what n says: wrote it, typed its words in a
// session, or read it and found it right. The ledger of this machine decides, never the file.
func (n *Note) UserSaid() bool { return n.Trusted }

// Learnt reports whether a session taught a note: what a person typed there, or what it showed.
func (n *Note) Learnt() bool { return n.Provenance.Source == User || n.Provenance.Source == Learning }

// LearntSources are the sources of notes that sessions taught.
var LearntSources = []string{User, Learning}

// Evidence is one observation that supports a note.
type Evidence struct {
	Session string // harness/session id
	Chunk   string // hash of the stretch of the session it was seen in
	Quote   string // at most 200 redacted characters
	At      Stamp  // when it was said or seen; "" where that is not known
}

// A Field is a front matter key this version does not know, kept as it stands.
type Field struct {
	Key string
	Raw string // the key's lines, complete, ending in LF
}

// A Note is one thing worth remembering: one markdown file.
//
// Writers set the first group; the rest has sensible zero values. Lists are
// sets: the writer drops empty and repeated elements and keeps the order.
type Note struct {
	ID    ID
	Type  Type
	Title string
	Body  string // without the final line feed

	Project     string // project key, or Global
	MachineID   string
	Scope       Scope
	Author      string // who of a team shares it; "" for a note of this machine. No file has it
	Proof       Proof  // how it is proven who shares it. No file has it
	Believed    bool   // the user trusts the teammate whom Proof names: its triggers count. No file has it
	UserID      string
	WorkspaceID string
	Provenance  Provenance
	Supersedes  []ID
	CreatedAt   Stamp
	UpdatedAt   Stamp
	Tags        []string

	Kind           Kind
	Category       string
	LearningType   string
	Problem        string
	Symptoms       []string
	RootCause      string
	Fix            string
	Rule           string
	KeyInsight     string
	HowToApply     string
	Branch         string
	Commits        []string
	UnverifiedRefs []string
	Anchors        []string
	AnchorHashes   []string // stamps of the code that it names (package anchor)
	When           []string // triggers: the acts that the rule is about (Trigger)
	About          string   // the subject: what the note settles, as "indentation"; one note of a subject is in force. "" for none
	Asks           []string // what the user might type when the note will matter: searched, never shown
	ForgetAfter    Stamp
	Status         string
	StatusReason   string
	Validated      string // "true", "false" or "" when nobody said
	Speculative    bool
	Quarantine     bool
	Evidence       []Evidence
	DerivedFrom    []ID
	ProofCount     int
	ImportHash     string
	ImportedID     string
	ConflictOf     ID
	FormsErased    Stamp  // when its owner erased its former forms on purpose: every machine that hears of it erases its own
	Reviewed       Stamp  // when its owner read it and found it right; "" for never
	Vouched        string // Words that a person vouches for; "" when none are confirmed, or in a file of an earlier program
	Trusted        bool   // the ledger of this machine has it as it is. No file has it: store.Read sets it
	Edits          []Edit // written by merges alone, see Reconcile

	Extra []Field // unknown keys, in the order of the file
}

// A Stamp is a time as it stands in a file. Writers of ours make them with At;
// other writers leave other forms, which Time understands and nobody rewrites.
type Stamp string

// At returns the canonical stamp of t: UTC, whole seconds, "+00:00".
func At(t time.Time) Stamp {
	return Stamp(t.UTC().Format("2006-01-02T15:04:05") + "+00:00")
}
