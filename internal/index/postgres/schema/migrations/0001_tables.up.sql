-- The tables of the shared index. A workspace is a team: every row of every table says
-- first which one it is of, every key begins with it, and every reference takes it along,
-- so that nothing can point from one workspace into another. No column hides it behind a
-- default.
--
-- Whoever writes holds the row of the workspace first, so that changes commit in the
-- order of their generations. Keys of notes and passages are counted there and never
-- used again.
--
-- Text that is compared or sorted is so by its bytes (COLLATE "C"), whatever the
-- language of the server. Times are seconds or nanoseconds since 1970; 0 is none.

CREATE TABLE anamnesis.workspaces (
	id uuid PRIMARY KEY,
	name text NOT NULL,
	generation bigint NOT NULL,         -- counts the changes that readers could see
	last_note bigint NOT NULL, last_passage bigint NOT NULL,
	notes bigint NOT NULL, passages bigint NOT NULL,
	length_title bigint NOT NULL, length_tags bigint NOT NULL, length_body bigint NOT NULL -- sums of tokens
);

-- A tree of notes on one machine. generation is that of its last change.
CREATE TABLE anamnesis.origins (
	workspace uuid NOT NULL REFERENCES anamnesis.workspaces ON DELETE CASCADE,
	name text COLLATE "C" NOT NULL,
	member text NOT NULL,               -- who writes it
	fingerprint bigint NOT NULL, files bigint NOT NULL, walked bigint NOT NULL,
	generation bigint NOT NULL,
	PRIMARY KEY (workspace, name)
);

-- A note of one origin. shared says that several origins hold its id.
CREATE TABLE anamnesis.notes (
	workspace uuid NOT NULL,
	key bigint NOT NULL,
	origin text COLLATE "C" NOT NULL,
	generation bigint NOT NULL,         -- of its last change
	id text NOT NULL,
	folded text COLLATE "C" NOT NULL,   -- the id in lower case, by which it is found
	path text COLLATE "C" NOT NULL, size bigint NOT NULL, mtime bigint NOT NULL, hash bytea NOT NULL,
	type text NOT NULL, title text NOT NULL, project text COLLATE "C" NOT NULL,
	machine text NOT NULL, author text NOT NULL, team text NOT NULL, -- what the note says of them
	source text NOT NULL, session text NOT NULL, confidence double precision NOT NULL,
	created bigint NOT NULL, updated bigint NOT NULL,
	tags text NOT NULL,                 -- each tag between line feeds
	dead boolean NOT NULL,              -- by its own status or quarantine
	forget_after bigint NOT NULL,       -- 0 means never
	superseded_by text NOT NULL,
	statement bytea NOT NULL, simhash bigint NOT NULL, words integer NOT NULL,
	kind text NOT NULL, branch text COLLATE "C" NOT NULL, status text NOT NULL, proofs integer NOT NULL, speculative boolean NOT NULL,
	entities bytea NOT NULL, declared integer NOT NULL, -- keys of 8 bytes, little-endian; the first of them stand in its sidecar
	shared boolean NOT NULL,
	PRIMARY KEY (workspace, key),
	UNIQUE (workspace, origin, path),
	UNIQUE (workspace, folded, origin),
	FOREIGN KEY (workspace, origin) REFERENCES anamnesis.origins ON DELETE CASCADE
);
CREATE INDEX notes_changed ON anamnesis.notes (workspace, generation);
CREATE INDEX notes_recent ON anamnesis.notes (workspace, project, updated DESC, folded DESC);
CREATE INDEX notes_updated ON anamnesis.notes (workspace, updated DESC, folded DESC);
CREATE INDEX notes_created ON anamnesis.notes (workspace, project, created, folded) WHERE created <> 0;
CREATE INDEX notes_branch ON anamnesis.notes (workspace, branch, project) WHERE branch <> '';
CREATE INDEX notes_kind ON anamnesis.notes (workspace, kind, project, updated DESC, folded DESC) WHERE kind <> '';
CREATE INDEX notes_shared ON anamnesis.notes (workspace, folded) WHERE shared;
CREATE INDEX notes_end ON anamnesis.notes (workspace, right(folded, 4));
CREATE INDEX notes_statement ON anamnesis.notes (workspace, statement);
CREATE INDEX notes_band0 ON anamnesis.notes (workspace, ((simhash >> 48) & 65535));
CREATE INDEX notes_band1 ON anamnesis.notes (workspace, ((simhash >> 32) & 65535));
CREATE INDEX notes_band2 ON anamnesis.notes (workspace, ((simhash >> 16) & 65535));
CREATE INDEX notes_band3 ON anamnesis.notes (workspace, (simhash & 65535));

-- Files of an origin that are not there any more, for those who keep a copy of the notes.
CREATE TABLE anamnesis.dropped (
	workspace uuid NOT NULL, origin text COLLATE "C" NOT NULL, path text COLLATE "C" NOT NULL,
	generation bigint NOT NULL,
	PRIMARY KEY (workspace, origin, path),
	FOREIGN KEY (workspace, origin) REFERENCES anamnesis.origins ON DELETE CASCADE
);
CREATE INDEX dropped_changed ON anamnesis.dropped (workspace, generation);

-- The files of the notes, byte for byte.
CREATE TABLE anamnesis.texts (
	workspace uuid NOT NULL, note bigint NOT NULL, text bytea NOT NULL,
	PRIMARY KEY (workspace, note),
	FOREIGN KEY (workspace, note) REFERENCES anamnesis.notes ON DELETE CASCADE
);

-- A stretch of a note. forward holds the hashes of its tokens in their order.
CREATE TABLE anamnesis.passages (
	workspace uuid NOT NULL, key bigint NOT NULL, note bigint NOT NULL,
	first integer NOT NULL, past integer NOT NULL, -- bytes of the body
	forward bytea NOT NULL,
	PRIMARY KEY (workspace, key),
	FOREIGN KEY (workspace, note) REFERENCES anamnesis.notes ON DELETE CASCADE
);
CREATE INDEX passages_note ON anamnesis.passages (workspace, note, key);

-- Which passages hold a token, a row for each run of 1024 keys of passages: how many they
-- are, and in data, for each, its key and how often each field holds the token. To look for
-- the workspace at each row would make a bulk load a third slower; a trigger removes the
-- rows of one that is removed.
CREATE TABLE anamnesis.postings (
	workspace uuid NOT NULL,
	token integer NOT NULL, run bigint NOT NULL,
	passages integer NOT NULL, data bytea NOT NULL,
	PRIMARY KEY (workspace, token, run)
);
CREATE FUNCTION anamnesis.drop_postings() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS
	'BEGIN DELETE FROM anamnesis.postings WHERE workspace = OLD.id; RETURN OLD; END';
CREATE TRIGGER drop_postings AFTER DELETE ON anamnesis.workspaces FOR EACH ROW EXECUTE FUNCTION anamnesis.drop_postings();

-- The vector of a passage, of the model whose number stands beside it. generation is
-- that in which it was written.
CREATE TABLE anamnesis.vectors (
	workspace uuid NOT NULL, passage bigint NOT NULL, model bigint NOT NULL, project integer NOT NULL,
	generation bigint NOT NULL, vector bytea NOT NULL,
	PRIMARY KEY (workspace, passage),
	FOREIGN KEY (workspace, passage) REFERENCES anamnesis.passages ON DELETE CASCADE
);
CREATE INDEX vectors_model ON anamnesis.vectors (workspace, model, generation);

CREATE TABLE anamnesis.supersedes (
	workspace uuid NOT NULL, note bigint NOT NULL, target text COLLATE "C" NOT NULL,
	PRIMARY KEY (workspace, note, target),
	FOREIGN KEY (workspace, note) REFERENCES anamnesis.notes ON DELETE CASCADE
);
CREATE INDEX supersedes_target ON anamnesis.supersedes (workspace, target);

CREATE TABLE anamnesis.mentions (
	workspace uuid NOT NULL, entity bigint NOT NULL, note bigint NOT NULL, declared boolean NOT NULL,
	PRIMARY KEY (workspace, entity, note),
	FOREIGN KEY (workspace, note) REFERENCES anamnesis.notes ON DELETE CASCADE
);
CREATE INDEX mentions_note ON anamnesis.mentions (workspace, note);
CREATE INDEX mentions_declared ON anamnesis.mentions (workspace, entity) WHERE declared;

CREATE TABLE anamnesis.edges (
	workspace uuid NOT NULL, source bigint NOT NULL, target bigint NOT NULL, note bigint NOT NULL, relation text COLLATE "C" NOT NULL,
	source_name text NOT NULL, target_name text NOT NULL, strength integer NOT NULL,
	committed bigint NOT NULL, valid bigint NOT NULL, valid_end bigint NOT NULL,
	PRIMARY KEY (workspace, source, target, note, relation),
	FOREIGN KEY (workspace, note) REFERENCES anamnesis.notes ON DELETE CASCADE
);
CREATE INDEX edges_target ON anamnesis.edges (workspace, target);
CREATE INDEX edges_note ON anamnesis.edges (workspace, note);

-- Files that could not be indexed, or not wholly. hash is empty for a sidecar.
CREATE TABLE anamnesis.problems (
	workspace uuid NOT NULL, origin text COLLATE "C" NOT NULL, path text COLLATE "C" NOT NULL,
	size bigint NOT NULL, mtime bigint NOT NULL, hash bytea NOT NULL, reason text NOT NULL,
	PRIMARY KEY (workspace, origin, path),
	FOREIGN KEY (workspace, origin) REFERENCES anamnesis.origins ON DELETE CASCADE
);

CREATE TABLE anamnesis.counters (
	workspace uuid NOT NULL, id text COLLATE "C" NOT NULL, origin text COLLATE "C" NOT NULL,
	injected bigint NOT NULL, recalled bigint NOT NULL, last bigint NOT NULL,
	used bigint NOT NULL, unused bigint NOT NULL, opposed bigint NOT NULL,
	PRIMARY KEY (workspace, id, origin),
	FOREIGN KEY (workspace, origin) REFERENCES anamnesis.origins ON DELETE CASCADE
);

CREATE TABLE anamnesis.cursors (
	workspace uuid NOT NULL, origin text COLLATE "C" NOT NULL, file text COLLATE "C" NOT NULL, offset_bytes bigint NOT NULL,
	PRIMARY KEY (workspace, origin, file),
	FOREIGN KEY (workspace, origin) REFERENCES anamnesis.origins ON DELETE CASCADE
);

CREATE TABLE anamnesis.memos (
	workspace uuid NOT NULL, origin text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL,
	value bytea NOT NULL, generation bigint NOT NULL, at bigint NOT NULL,
	PRIMARY KEY (workspace, origin, kind, key),
	FOREIGN KEY (workspace, origin) REFERENCES anamnesis.origins ON DELETE CASCADE
);
