-- The server finds passages by its own full text. words has the tokens of a passage as lexemes, in their order: the
-- hash of a token in hexadecimal digits, with the weight A in the title and B in the tags. The server makes it of
-- forward, so that writers need not know of it and cannot write another. The body of the function is parsed when it is
-- made: no search path is looked at later.
--
-- There is no GIN index. The server does not use one under the rules of rows, because the operator @@ is not leakproof.
CREATE FUNCTION anamnesis.words(forward bytea) RETURNS tsvector IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT CASE WHEN length(forward) <= 6 THEN ''::tsvector ELSE (
		SELECT coalesce(string_agg(encode(substr(forward, 7 + 4 * i, 4), 'hex') || ':' || least(i + 1, 16383)::text
			|| CASE WHEN i < h.title THEN 'A' WHEN i < h.title + h.tags THEN 'B' ELSE '' END, ' '), '')::tsvector
		FROM (SELECT get_byte(forward, 0) + 256 * get_byte(forward, 1) AS title, get_byte(forward, 2) + 256 * get_byte(forward, 3) AS tags) h,
			generate_series(0, (length(forward) - 6) / 4 - 1) i) END;
END;
REVOKE ALL ON FUNCTION anamnesis.words(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION anamnesis.words(bytea) TO anamnesis_reader, anamnesis_writer, anamnesis_owner;
ALTER TABLE anamnesis.passages ADD COLUMN words tsvector GENERATED ALWAYS AS (anamnesis.words(forward)) STORED;
ALTER TABLE anamnesis.passages ALTER COLUMN words SET STORAGE MAIN;

DROP TRIGGER drop_postings ON anamnesis.workspaces;
DROP FUNCTION anamnesis.drop_postings();
DROP TABLE anamnesis.postings;

-- Kept answers go. The table has the mark of the last writer of an origin from now on; the next change leaves one.
TRUNCATE anamnesis.memos;
