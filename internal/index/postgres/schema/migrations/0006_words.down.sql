-- Posting lists come back empty: `anamnesis doctor reindex` on each machine fills them.
CREATE TABLE anamnesis.postings (
	workspace uuid NOT NULL,
	token integer NOT NULL, run bigint NOT NULL,
	passages integer NOT NULL, data bytea NOT NULL,
	PRIMARY KEY (workspace, token, run)
);
ALTER TABLE anamnesis.postings ENABLE ROW LEVEL SECURITY;
ALTER TABLE anamnesis.postings FORCE ROW LEVEL SECURITY;
GRANT SELECT ON anamnesis.postings TO anamnesis_reader, anamnesis_writer, anamnesis_owner;
GRANT INSERT, UPDATE, DELETE ON anamnesis.postings TO anamnesis_writer, anamnesis_owner;
CREATE POLICY seen ON anamnesis.postings FOR SELECT TO anamnesis_reader, anamnesis_writer, anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()));
CREATE POLICY written ON anamnesis.postings TO anamnesis_writer, anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.writes()));
CREATE POLICY administered ON anamnesis.postings TO CURRENT_USER
	USING (NOT EXISTS (SELECT FROM anamnesis.workspaces w WHERE w.id = postings.workspace)) WITH CHECK (false);
CREATE FUNCTION anamnesis.drop_postings() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS
	'BEGIN DELETE FROM anamnesis.postings WHERE workspace = OLD.id; RETURN OLD; END';
REVOKE ALL ON FUNCTION anamnesis.drop_postings() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION anamnesis.drop_postings() TO anamnesis_reader, anamnesis_writer, anamnesis_owner;
CREATE TRIGGER drop_postings AFTER DELETE ON anamnesis.workspaces FOR EACH ROW EXECUTE FUNCTION anamnesis.drop_postings();
ALTER TABLE anamnesis.passages DROP COLUMN words;
DROP FUNCTION anamnesis.words(bytea);
