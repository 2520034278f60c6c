// Package index keeps what can be rebuilt: a derived, disposable picture of
// the notes that answers questions fast. Delete it and lose time, never
// knowledge.
//
// A Backend stores the picture and answers with candidates and statistics; it
// knows no text analysis, no scoring and no model. An Index joins a backend to
// the store: it analyses text, keeps the backend in step with the files (Sync)
// and speaks notes and words to the rest of the program. Scores are computed
// from what Match returns, in package recall.
//
// Failure policy: a malformed file is skipped, named and counted, never fatal;
// a note whose file is gone is left out of answers.
package index

import (
	"crypto/sha256"
	"hash/fnv"
	"slices"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Field is a part of a note that is matched on its own.
type Field int

// The fields.
const (
	Title Field = iota
	Tags
	Body
	NumFields
)

// A Digest is the SHA-256 of a file's bytes.
type Digest [sha256.Size]byte

// An Entry is a note as a backend takes it in.
type Entry struct {
	Ref       store.Ref
	Hash      Digest
	Note      *note.Note
	Text      []byte   // of the file, byte for byte: the front matter and the body
	Statement [16]byte // of the normalised statement: equal for exact duplicates
	Simhash   uint64   // of its words: few bits apart for near-copies
	Words     int
	Created   int64 // Unix seconds; 0 for none
	Updated   int64
	Said      uint64 // hash of the letters of what the note says (note.SaidLetters); 0 of a note without a body
	Passages  []Passage
	Entities  []EntityKey // what the note speaks of, each once
	Declared  int         // how many of them, from the first, its sidecar names
	Edges     []Edge      // how these hang together, as its sidecar says
	Sidecar   string      // what is wrong with its sidecar, "" when nothing is
}

// A Passage is a stretch of a note's body, analysed, with the title and tags of its note.
type Passage struct {
	Start, End int // bytes of the body
	Fields     [NumFields][]string
	Model      string // that made Vector
	Vector     Vector // nil when it is not embedded yet
}

// A Row is what the index knows of a note without its body.
type Row struct {
	Key          int64  // the backend's own key
	Origin       string // of the tree in which its file stands
	ID           note.ID
	Ref          store.Ref
	Hash         Digest // of the file
	Type         note.Type
	Title        string
	Project      string
	MachineID    string
	UserID       string
	WorkspaceID  string
	Source       string
	Session      string
	Confidence   float64
	Created      time.Time // zero when the note has none
	Updated      time.Time
	Tags         []string
	SupersededBy note.ID
	Dead         bool // not live, for whatever reason
	Kind         note.Kind
	Branch       string // the git branch it holds for, "" for all
	Status       string
	Proofs       int // distinct sessions that support it
	Speculative  bool
	Proof        note.Proof // of a note that another person shares; see note.Note
}

// Effective is the time a note speaks of: when it was last written, or made.
func (r *Row) Effective() time.Time {
	if r.Updated.IsZero() {
		return r.Created
	}
	return r.Updated
}

// Vouched reports whether the user vouches for the note, as the ledger of the machine says that wrote the row.
func (r *Row) Vouched() bool {
	return r.Source == note.Human || r.Source == note.User || slices.Contains(r.Tags, note.ReviewedTag)
}

// Ended reports whether the note's own status, or another note, took it out of recall. One that
// is dead and did not end is in quarantine.
func (r *Row) Ended() bool { return r.SupersededBy != "" || note.Ends(r.Status) }

// A Filter says which notes a question is about. The zero value means all live notes.
type Filter struct {
	Projects     []string // any of these keys; none means every project
	Types        []note.Type
	Scope        note.Scope
	UserID       string
	WorkspaceID  string
	Tags         []string // all of these
	WithoutTag   string
	Kind         note.Kind   // of this kind only
	WithoutKinds []note.Kind // of any other, or of none
	Sources      []string    // written by one of these (note.Provenance.Source)
	Dead         bool        // notes that are not live too
	OnlyDead     bool        // with Dead: only those whose own status or quarantine makes them so
	Over         bool        // with Dead: only those whose forget_after has passed
	Now          time.Time
	Branches     []string  // notes of these branches only, and of none; no branches means all of them
	From, To     time.Time // of Row.Effective, both included; zero leaves that end open
	Only         []note.ID // nothing else
	Part         string    // an id that begins or ends like this, without regard to case
	Confidence   float64   // at least
	Own          bool      // of the origin that the backend was opened for
}

// Statistics describe the passages of an index, for BM25.
type Statistics struct {
	Notes    int
	Passages int
	Length   [NumFields]float64 // mean number of tokens a passage
}

// A Term is a token that is asked for. Frequency is the number of passages
// that hold it, Weight what an occurrence is worth (its idf). Postings is what
// a backend read of it when it counted, so that Match need not read it again;
// it means nothing to anybody else and may be empty.
type Term struct {
	Token     string
	Frequency int
	Weight    float64
	Postings  string
}

// A Candidate is a passage that holds at least one of the words asked for.
// Tokens are the hashes (TokenHash) of its tokens in their order, so that
// frequencies, lengths and distances can be counted by whoever scores it.
type Candidate struct {
	Key        int64 // of the note
	Passage    int64 // the backend's own key of the passage
	Start, End int
	Tokens     [NumFields][]uint32
	Vector     Vector // nil when there is none of the model asked for
	Model      uint64 // VectorModel of the model that made Vector
}

// TokenHash is the name of a token in candidates.
func TokenHash(token string) uint32 { return embed.TokenHash(token) }

// A FileState is what the index knows of a file.
type FileState struct {
	Size    int64
	ModTime int64 // nanoseconds
	Hash    Digest
	Problem string     // why it is no note; empty for notes
	Proof   note.Proof // of a note that another person shares
}

// A Batch is a set of changes that become visible together. Paths are those of
// the origin that the backend was opened for; nothing of another origin changes.
type Batch struct {
	Drop     []string // paths
	Put      []Entry  // replaces what the path or the id held in this origin
	Problems map[string]FileState
	Walked   time.Time // when the walk that led to this began; zero leaves it
}

// A Problem is a file in the trees that is not in the index, or a sidecar of
// which something is left out, and why. The note of a sidecar is indexed.
type Problem struct {
	Path, Reason string
	Sidecar      bool
}

// A Neighbour says that two notes were written in the same second of a session.
type Neighbour struct{ Of, With int64 }

// A Memo is a derived value that is worth keeping, such as an answer.
type Memo struct {
	Key        string
	Value      []byte
	Generation int64 // that it belongs to; 0 for none: Purge removes those of earlier ones
	At         time.Time
}

// An Unembedded passage waits for its vector.
type Unembedded struct {
	Passage    int64
	Path       string // of its note
	Start, End int
}

// A Twin is a note whose statement equals, or nearly equals, another.
type Twin struct {
	Row   Row
	Exact bool
	Bits  int // differing bits of the simhash
	Words int
}

// hash64 is FNV-1a, 64 bits.
func hash64(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// Fingerprint is the contribution of one file to the fingerprint of all: the
// exclusive or of these is the same whatever order files come in, and changes
// when a file appears, goes, or changes its size or time.
func Fingerprint(path string, size, modTime int64) uint64 {
	sum := hash64(path)
	sum ^= uint64(size) * 0x9e3779b97f4a7c15
	sum = (sum ^ sum>>29) * 0xbf58476d1ce4e5b9
	sum ^= uint64(modTime) * 0x94d049bb133111eb
	return (sum ^ sum>>32) * 0xd6e8feb86659fd93
}
