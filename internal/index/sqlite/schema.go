package sqlite

// applicationID marks a database as ours ("ANAM"); schemaVersion counts layouts.
const (
	applicationID = 0x414e414d
	schemaVersion = 16
)

// tables lists what recreate drops; schema creates it.
//
// A row of notes stands for a file of one origin. Where two origins hold the
// same id, shared is 1 on the one that readers of the origin "" see, and 2 on
// the others; a question lets one of them through (conn.visible). texts holds the files of named origins: the database of one
// tree alone has no reader who has not got them.
//
// forward holds the token hashes of a passage in order: from them Go counts frequencies,
// lengths and distances, and makes the posting file (postings.go).
//
// vectors holds one vector a passage, of the model whose number stands beside
// it; a copy of them is scanned (package flat). The keys of passages are never
// used again, so that the copy cannot point at another passage. gone lists the
// passages that were removed, for the posting file. mentions and
// edges are the graph: entities are known by the hash of their words.
var tables = []string{
	"origins", "notes", "texts", "passages", "supersedes", "bands", "problems", "counters", "cursors", "meta",
	"vectors", "mentions", "edges", "memos", "gone",
}

// tagLearnt is the tag of what sessions taught. Those notes have an index, because each
// session start asks for the newest of them; for notes of other tags all of a project are read.
const tagLearnt = "learning"

// learnt is the condition of that index, behind the name of a table. SQLite uses the index
// only for a question that says the same, with the tag in it and not as a parameter.
const learnt = "tags, '\n" + tagLearnt + "\n') > 0"

// isLocal says of the path of a note whether it stays on this machine.
const isLocal = "substr(path, 1, 6) = 'local/'"

const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE origins (name TEXT PRIMARY KEY, fingerprint INTEGER NOT NULL, files INTEGER NOT NULL,
	walked INTEGER NOT NULL) WITHOUT ROWID; -- 0: never
CREATE TABLE notes (
	key INTEGER PRIMARY KEY,
	id TEXT NOT NULL COLLATE NOCASE,
	path TEXT NOT NULL,
	size INTEGER NOT NULL, mtime INTEGER NOT NULL, hash BLOB NOT NULL,
	type TEXT NOT NULL, title TEXT NOT NULL, project TEXT NOT NULL, machine TEXT NOT NULL,
	user TEXT NOT NULL, workspace TEXT NOT NULL, source TEXT NOT NULL, session TEXT NOT NULL,
	confidence REAL NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL,
	tags TEXT NOT NULL,          -- each tag between line feeds
	dead INTEGER NOT NULL,       -- by its own status or quarantine
	forget_after INTEGER NOT NULL, -- 0 means never
	superseded_by TEXT NOT NULL,
	statement BLOB NOT NULL, simhash INTEGER NOT NULL, words INTEGER NOT NULL,
	said INTEGER NOT NULL,       -- 0: nothing
	kind TEXT NOT NULL, branch TEXT NOT NULL, status TEXT NOT NULL, proofs INTEGER NOT NULL, speculative INTEGER NOT NULL,
	entities BLOB NOT NULL,      -- keys of 8 bytes, little-endian
	origin TEXT NOT NULL,
	shared INTEGER NOT NULL,     -- 0: no other origin holds the id; see above
	proof TEXT NOT NULL,         -- of who shares it (note.Proof)
	UNIQUE (id, origin), UNIQUE (path, origin)
);
CREATE TABLE texts (note INTEGER PRIMARY KEY, text BLOB NOT NULL);
CREATE INDEX notes_recent ON notes (project, updated DESC, id DESC,
	dead, superseded_by, forget_after, shared, origin); -- the rest lets live notes be counted without their rows
CREATE INDEX notes_statement ON notes (statement);
CREATE INDEX notes_said ON notes (said);
CREATE INDEX notes_tally ON notes (project, type, workspace, ` + isLocal + `, shared, origin); -- for Tally
CREATE INDEX notes_branch ON notes (branch, project) WHERE branch <> '';
CREATE INDEX notes_kind ON notes (kind, project, updated DESC, id DESC) WHERE kind <> '';
CREATE INDEX notes_learnt ON notes (project, updated DESC, id DESC) WHERE instr(` + learnt + `; -- few, and asked for at every session start
CREATE INDEX notes_updated ON notes (updated);
CREATE INDEX notes_source ON notes (source);
CREATE INDEX notes_dead ON notes (dead) WHERE dead = 1;
CREATE INDEX notes_over ON notes (forget_after) WHERE forget_after > 0; -- few, and asked for in every background run
CREATE INDEX notes_created ON notes (project, created, id);
CREATE INDEX notes_end ON notes (upper(substr(id, -4))); -- by which people call them
CREATE TABLE passages (
	key INTEGER PRIMARY KEY AUTOINCREMENT, note INTEGER NOT NULL,
	start INTEGER NOT NULL, "end" INTEGER NOT NULL, forward BLOB NOT NULL
);
CREATE INDEX passages_note ON passages (note);
CREATE TABLE gone (n INTEGER PRIMARY KEY AUTOINCREMENT, passage INTEGER NOT NULL);
CREATE TABLE supersedes (note INTEGER NOT NULL, target TEXT NOT NULL, PRIMARY KEY (note, target)) WITHOUT ROWID;
CREATE INDEX supersedes_target ON supersedes (target);
CREATE TABLE bands (band INTEGER NOT NULL, note INTEGER NOT NULL, PRIMARY KEY (band, note)) WITHOUT ROWID;
CREATE TABLE vectors (passage INTEGER PRIMARY KEY, model INTEGER NOT NULL, project INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX vectors_model ON vectors (model, length(vector)); -- by which they are counted
CREATE TABLE mentions (entity INTEGER NOT NULL, note INTEGER NOT NULL, declared INTEGER NOT NULL, PRIMARY KEY (entity, note)) WITHOUT ROWID;
CREATE INDEX mentions_declared ON mentions (entity) WHERE declared = 1;
CREATE TABLE edges (
	source INTEGER NOT NULL, target INTEGER NOT NULL, note INTEGER NOT NULL, relation TEXT NOT NULL,
	source_name TEXT NOT NULL, target_name TEXT NOT NULL, strength INTEGER NOT NULL,
	committed INTEGER NOT NULL, valid INTEGER NOT NULL, valid_end INTEGER NOT NULL, -- seconds; 0 is open
	PRIMARY KEY (source, target, note, relation)
) WITHOUT ROWID;
CREATE INDEX edges_target ON edges (target);
CREATE INDEX edges_note ON edges (note);
CREATE TABLE memos (
	origin TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, generation INTEGER NOT NULL, at INTEGER NOT NULL,
	PRIMARY KEY (origin, kind, key)
) WITHOUT ROWID;
CREATE TABLE problems (
	origin TEXT NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, hash BLOB NOT NULL, reason TEXT NOT NULL,
	PRIMARY KEY (origin, path)
) WITHOUT ROWID;
CREATE TABLE counters (
	id TEXT NOT NULL, origin TEXT NOT NULL, injected INTEGER NOT NULL, recalled INTEGER NOT NULL, last INTEGER NOT NULL,
	used INTEGER NOT NULL, unused INTEGER NOT NULL, opposed INTEGER NOT NULL,
	PRIMARY KEY (id, origin)
) WITHOUT ROWID;
CREATE TABLE cursors (origin TEXT NOT NULL, file TEXT NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY (origin, file)) WITHOUT ROWID;
`
