package index

import (
	"context"
	"errors"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Backend keeps the picture: all the parts of the contract, which the suite
// in indextest states case by case. Callers depend on the smallest
// interface they need; implementers only need the suite.
//
// Implementations are safe for concurrent use. A question sees the last
// committed batch, never half of one. Two backends that took in the same
// entries answer alike, in the same order; which passages Match returns of those that hold
// a term, and in which order, is the backend's own way. Keys of notes and passages are the
// backend's own: they mean something until the next Apply, and a key that means
// nothing any more is left out of an answer. An empty answer is no error: it
// says that nothing is like that. Every method may fail with ErrBusy or ErrLost.
//
// A database may hold the notes of several origins: the trees of several
// machines, one after the other or all at once. A backend is opened for one of
// them, its own. What it writes (Apply, Count, SetMemo) and what it tells of
// files (State, Files, Problems, Cursors, Memo, Unembedded) is of the origin that it was opened for
// and leaves the others alone; questions are about the notes of all. The empty
// name is that of a database of one tree alone.
//
// Two origins may hold the same id: a note that both have synced. Every question
// but Rows and Texts then sees one of the copies: that of the asking origin, else
// the one that was updated last, else that of the first origin by name. It is
// chosen before the filter is asked: a note that is archived here is not found
// through a copy that is not. Numbers (Statistics, Frequencies, the sum that
// Mentions returns) count every copy. Of the copies of a note the one that was
// updated last, else that of the first origin, says what it supersedes, for all.
type Backend interface {
	Searcher
	Catalogue
	Graph
	Vectors
	Counters
	Memos
	Maintainer
}

// A Searcher finds passages by their words. It knows tokens, no text analysis:
// the caller makes tokens of a question as NewEntry made them of the notes, and
// scores what comes back.
type Searcher interface {
	// Statistics returns the numbers of the whole index, Frequencies a term for
	// each token, in the order of tokens and without its weight; a Frequency of 0
	// says that no passage holds the token.
	Statistics(ctx context.Context) (Statistics, error)
	Frequencies(ctx context.Context, tokens []string) ([]Term, error)
	// Match returns at most limit passages that hold at least one of the terms, the best first:
	// rare terms, and those with a greater weight, count more.
	Match(ctx context.Context, terms []Term, f Filter, limit int) ([]Candidate, error)
	// Passages returns passages by their keys, in that order, of notes that the filter lets through.
	Passages(ctx context.Context, keys []int64, f Filter) ([]Candidate, error)
	// First returns the first passage of each of the notes that the filter lets through.
	First(ctx context.Context, notes []int64, f Filter) ([]Candidate, error)
	// Hashes returns the hashes (TokenHash) of all that notes say, each once, in no order.
	Hashes(ctx context.Context, notes []int64) ([]uint32, error)
}

// A Catalogue knows the notes one by one.
type Catalogue interface {
	// Origin names the tree that the backend was opened for.
	Origin() string
	// Texts returns what Entry.Text was of the notes with the given keys, byte for
	// byte. A database without a named origin need not keep texts: its only reader
	// has the files. Texts that are not there are left out.
	Texts(ctx context.Context, keys []int64) (map[int64][]byte, error)
	// Select returns rows, newest first (updated, then id); limit 0 means all.
	Select(ctx context.Context, f Filter, limit int) ([]Row, error)
	// Rows returns the rows with the given keys, in that order.
	Rows(ctx context.Context, keys []int64) ([]Row, error)
	// Lookup returns the row of an id, compared without regard to case; false when there is none.
	Lookup(ctx context.Context, id note.ID) (Row, bool, error)
	// Sharing lists the ids of notes, live or not, that begin or end with a part, compared
	// without regard to case, in no order; one that does both may be listed twice.
	Sharing(ctx context.Context, part string) ([]note.ID, error)
	// Twins returns the notes that say the same (same statement hash) and those
	// that say nearly the same (simhash within note.NearBits), with the distance.
	Twins(ctx context.Context, statement [16]byte, simhash uint64) ([]Twin, error)
	// Alike returns, of the rows that Select returns, at least those of which another note has
	// the same letters (Entry.Said): all others say what no note says.
	Alike(ctx context.Context, f Filter) ([]Row, error)
	// Neighbours returns, for each of the notes, the one before and the one after it,
	// by id, among the notes of its project and session that were made in the same
	// second. A note without a session has none, and neither has one of a second
	// that more than 64 notes of its project share: that is an import's.
	Neighbours(ctx context.Context, notes []int64, f Filter) ([]Neighbour, error)
	// PerProject returns how many notes of each project the filter lets through.
	PerProject(ctx context.Context, f Filter) (map[string]int, error)
	// Tally counts the notes that the filter lets through by what they have in common. It
	// reads every note once, in no order that means anything.
	Tally(ctx context.Context, f Filter) ([]Tally, error)
	// Branches lists the branches that live notes of projects hold for, sorted.
	Branches(ctx context.Context, projects []string) ([]string, error)
	// Superseding reports whether any note says that it takes the place of another.
	Superseding(ctx context.Context) (bool, error)
}

// A Graph knows what notes speak of, and how that hangs together.
type Graph interface {
	// Mentions returns notes that speak of an entity, at most limit, newest first, and in how many notes it occurs at all.
	// With declared, notes that merely hold its name are left out.
	Mentions(ctx context.Context, entity EntityKey, declared bool, f Filter, limit int) (notes []int64, all int, err error)
	// Declared returns those of the entities that some note's sidecar names.
	Declared(ctx context.Context, entities []EntityKey) ([]EntityKey, error)
	// Shared returns those of the entities that two to most notes speak of, in whatever way.
	Shared(ctx context.Context, entities []EntityKey, most int) ([]EntityKey, error)
	// Entities returns what notes speak of, what their sidecars name first.
	Entities(ctx context.Context, notes []int64) (map[int64][]EntityKey, error)
	// Edges returns the edges at entities, in both directions, that notes tell which the filter lets through.
	Edges(ctx context.Context, entities []EntityKey, f Filter) ([]Edge, error)
}

// Vectors finds passages by the directions of their vectors. It knows models by
// their names alone and never compares vectors of two models.
type Vectors interface {
	// Nearest returns passages whose vectors of a model lie nearest to a unit
	// vector, the nearest first. Vectors of other models are not looked at, and
	// those whose cosine is clearly below least are left out. A backend that compares no
	// vectors returns an ErrNoModel.
	Nearest(ctx context.Context, model string, question []float32, f Filter, limit int, least float64) ([]Candidate, error)
	// Embedded reports whether any passage has a vector of a model.
	Embedded(ctx context.Context, model string) (bool, error)
	// Dimensions counts the vectors of a model by how many dimensions they have.
	Dimensions(ctx context.Context, model string) (map[int]int, error)
	// Unembedded returns passages of this origin without a vector of a model, at
	// most limit of them, how many there are of them and of all.
	Unembedded(ctx context.Context, model string, limit int) (some []Unembedded, missing, all int, err error)
	// Embed gives passages their vectors, which readers see. Passages that are gone are passed over.
	Embed(ctx context.Context, model string, vectors map[int64]Vector) error
}

// Counters fold the event log into numbers a note.
type Counters interface {
	// Count adds to the counters what the event log holds between two states
	// of its cursors. It does nothing when the cursors are not at from (any
	// more): somebody else has counted.
	Count(ctx context.Context, add map[note.ID]store.Tally, from, to map[string]int64) error
	// Cursors returns how far, in bytes, each file of the event log was read.
	Cursors(ctx context.Context) (map[string]int64, error)
	// Counters returns the counters of notes, added up over all origins; those that
	// nothing happened to are left out.
	Counters(ctx context.Context, ids []note.ID) (map[note.ID]store.Tally, error)
}

// Memos keeps derived values, such as answers, beside the picture they were
// derived from. A backend that is only read, or on a server, keeps nothing, and says no error.
type Memos interface {
	// Generation counts the changes that readers could see, of whatever origin.
	Generation(ctx context.Context) (int64, error)
	// Memo returns a value that was kept under a key, and the generation it was kept at; ok is false when there is none.
	Memo(ctx context.Context, kind, key string) (m Memo, ok bool, err error)
	// Memos lists what was kept of a kind, the newest first, at most limit.
	Memos(ctx context.Context, kind string, limit int) ([]Memo, error)
	// SetMemo keeps a value, and of its kind the newest keep only (0 keeps all).
	// It waits for nobody: when somebody else writes it fails at once.
	SetMemo(ctx context.Context, kind, key string, m Memo, keep int) error
}

// A Maintainer brings the picture into step with the files. Index.Sync calls it.
type Maintainer interface {
	// Apply makes the changes of a batch in one transaction: readers see all or none.
	Apply(ctx context.Context, b Batch) error
	// State returns the fingerprint of all files (see Fingerprint), their number and
	// the time of the last walk. All of them are zero before the first one.
	State(ctx context.Context) (fingerprint uint64, files int, walked time.Time, err error)
	// Files returns what is known of the files at paths, or of all when paths is nil.
	Files(ctx context.Context, paths []string) (map[string]FileState, error)
	// Problems lists the files that could not be indexed, or not wholly, by path.
	Problems(ctx context.Context) ([]Problem, error)
	// Tidy does what makes later questions cheaper.
	Tidy(ctx context.Context) error
	// Purge overwrites or removes what dropped and replaced notes left in the files
	// of the backend, where whoever reads the bytes would find their words. It does
	// nothing when nothing was left since the last time, or when that is younger than
	// rest. With ErrBusy it is still to do.
	Purge(ctx context.Context, rest time.Duration) error
	// Reset empties the picture of the own origin: its State is that of an index
	// that was never walked. Memos stay, and the generation is another. Readers see
	// all of it or nothing.
	Reset(ctx context.Context) error

	// Check looks for damage that no question has met yet. Its error says what it found.
	Check(ctx context.Context) error
	Close() error
}

// Errors of a backend that its callers tell apart. Everything else that goes
// wrong, a disk or a network among it, is an error without a name.
var (
	// ErrBusy says that somebody else writes for longer than one waits. The same
	// call may succeed later; nothing was changed.
	ErrBusy = errors.New("somebody else is writing the index")
	// ErrAway says that the index is on a server, which does not answer or is none of ours.
	// The same call may succeed later.
	ErrAway = errors.New("the index is on a server that cannot be asked now")
	// ErrLost says that what the index held could not be read any more. The
	// backend has put an empty one in its place, whose State is that of an index
	// that was never walked: Sync fills it, and then the same call succeeds.
	// A backend that finds no damage never returns it.
	ErrLost = errors.New("the index was damaged and is empty now")
)

// A Tally is how many notes share a project, a type, a workspace and a scope.
type Tally struct {
	Project   string
	Type      note.Type
	Workspace string
	Scope     note.Scope
	Notes     int
}
