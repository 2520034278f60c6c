-- Back to tables that their owner alone may touch. The group roles stay, without a right
-- in this database: other databases of the server may use them.
DO $$
DECLARE r record;
BEGIN
	FOR r IN SELECT tablename, policyname FROM pg_catalog.pg_policies WHERE schemaname = 'anamnesis' LOOP
		EXECUTE pg_catalog.format('DROP POLICY %I ON anamnesis.%I', r.policyname, r.tablename);
	END LOOP;
	FOR r IN SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = 'anamnesis' LOOP
		EXECUTE pg_catalog.format('ALTER TABLE anamnesis.%I NO FORCE ROW LEVEL SECURITY', r.tablename);
		EXECUTE pg_catalog.format('ALTER TABLE anamnesis.%I DISABLE ROW LEVEL SECURITY', r.tablename);
	END LOOP;
END $$;
REVOKE UPDATE (shared, superseded_by) ON anamnesis.notes FROM anamnesis_writer, anamnesis_owner;
REVOKE UPDATE (generation, last_note, last_passage, notes, passages, length_title, length_tags, length_body)
	ON anamnesis.workspaces FROM anamnesis_writer, anamnesis_owner;
REVOKE ALL ON ALL TABLES IN SCHEMA anamnesis FROM anamnesis_reader, anamnesis_writer, anamnesis_owner;
REVOKE ALL ON SCHEMA anamnesis FROM anamnesis_reader, anamnesis_writer, anamnesis_owner;
DROP FUNCTION anamnesis.own_origins(), anamnesis.owns(), anamnesis.writes(), anamnesis.member_role(), anamnesis.current_workspace(),
	anamnesis.principal(), anamnesis.claims();
DROP TABLE anamnesis.members, anamnesis.issuers;
