-- Which login wrote a note, as the server knows it: readers trust a login, and no name that a row
-- says. '' is a login that speaks for others (issuers): what it says of them is not proven here.
-- NULL is a row of before this migration, which its program sends again.
CREATE FUNCTION anamnesis.writer() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN CASE WHEN anamnesis.principal() = session_user THEN session_user::text ELSE '' END;
END $$;
REVOKE ALL ON FUNCTION anamnesis.writer() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION anamnesis.writer() TO anamnesis_reader, anamnesis_writer, anamnesis_owner;

ALTER TABLE anamnesis.notes ADD COLUMN writer text COLLATE "C";
ALTER TABLE anamnesis.notes ALTER COLUMN writer SET DEFAULT anamnesis.writer();
CREATE POLICY written_by ON anamnesis.notes AS RESTRICTIVE FOR INSERT TO anamnesis_writer, anamnesis_owner
	WITH CHECK (writer = (SELECT anamnesis.writer()));

-- Machines without a store believe what a row says of who vouches for the note (source, and the tag
-- "reviewed"). Only an owner of the workspace may say it, and not from such a machine.
CREATE POLICY vouched ON anamnesis.notes AS RESTRICTIVE FOR INSERT TO anamnesis_writer, anamnesis_owner
	WITH CHECK (NOT (source IN ('human', 'user') OR strpos(tags, E'\nreviewed\n') > 0)
	OR (SELECT anamnesis.owns()) AND NOT starts_with(origin, 'away/'));
