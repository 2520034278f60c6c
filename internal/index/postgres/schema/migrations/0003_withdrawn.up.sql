-- Notes that an owner took away, of whoever they are: no origin holds one of them again
-- until an owner gives it back. The files of their authors stay what they are.
CREATE TABLE anamnesis.withdrawn (
	workspace uuid NOT NULL REFERENCES anamnesis.workspaces ON DELETE CASCADE,
	folded text COLLATE "C" NOT NULL,   -- the id in lower case
	id text NOT NULL,
	member text NOT NULL,               -- the owner who took it away
	at timestamptz NOT NULL DEFAULT now(),
	reason text NOT NULL,
	PRIMARY KEY (workspace, folded)
);
ALTER TABLE anamnesis.withdrawn ENABLE ROW LEVEL SECURITY;
ALTER TABLE anamnesis.withdrawn FORCE ROW LEVEL SECURITY;
GRANT SELECT ON anamnesis.withdrawn TO anamnesis_reader, anamnesis_writer, anamnesis_owner;
GRANT INSERT, DELETE ON anamnesis.withdrawn TO anamnesis_owner;
CREATE POLICY seen ON anamnesis.withdrawn FOR SELECT TO anamnesis_reader, anamnesis_writer, anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()));
CREATE POLICY added ON anamnesis.withdrawn FOR INSERT TO anamnesis_owner
	WITH CHECK (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.owns())
	AND member = (SELECT anamnesis.principal()));
CREATE POLICY removed ON anamnesis.withdrawn FOR DELETE TO anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.owns()));

-- Whoever sends such a note is refused, also by a program that does not ask before.
CREATE POLICY withdrawn ON anamnesis.notes AS RESTRICTIVE FOR INSERT TO anamnesis_writer, anamnesis_owner
	WITH CHECK ((SELECT w.folded FROM anamnesis.withdrawn w WHERE w.workspace = notes.workspace AND w.folded = notes.folded) IS NULL);

-- Taking a note away writes into the origin of another: that its path is gone, for those who
-- keep copies, and that its file is held back, for its author.
CREATE POLICY withdrawn ON anamnesis.dropped FOR INSERT TO anamnesis_owner
	WITH CHECK (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.owns()));
CREATE POLICY withdrawn_again ON anamnesis.dropped FOR UPDATE TO anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.owns()));
CREATE POLICY withdrawn ON anamnesis.problems FOR INSERT TO anamnesis_owner
	WITH CHECK (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.owns()));
