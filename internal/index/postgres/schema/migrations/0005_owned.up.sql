-- What an owner of the workspace wrote stays in force whatever others write. Two columns of a row are derived from
-- the rows of all origins, and a writer may update them (0002); of an owner's row the server keeps the one and
-- works out the other itself, so that it can be neither hidden nor brought back.

-- The origins of owners. A machine without a store writes for its user, and is none of them.
CREATE FUNCTION anamnesis.owned_origins() RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN (SELECT coalesce(array_agg(o.name), '{}') FROM anamnesis.origins o
		JOIN anamnesis.members m ON m.workspace = o.workspace AND m.principal = o.member
		WHERE o.workspace = anamnesis.current_workspace() AND m.role = 'owner' AND NOT starts_with(o.name, 'away/'));
END $$;

-- Programs of before work out the two columns for all rows: they are not refused, and change nothing.
CREATE FUNCTION anamnesis.keep_owned() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	IF anamnesis.owns() OR NOT OLD.origin = ANY (anamnesis.owned_origins()) THEN
		RETURN NEW;
	END IF;
	NEW.superseded_by := OLD.superseded_by;
	NEW.shared := EXISTS (SELECT FROM anamnesis.notes o WHERE o.workspace = OLD.workspace AND o.folded = OLD.folded AND o.key <> OLD.key);
	IF NEW.shared = OLD.shared THEN
		RETURN NULL;
	END IF;
	RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION anamnesis.owned_origins(), anamnesis.keep_owned() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION anamnesis.owned_origins(), anamnesis.keep_owned() TO anamnesis_reader, anamnesis_writer, anamnesis_owner;
CREATE TRIGGER keep_owned BEFORE UPDATE ON anamnesis.notes FOR EACH ROW EXECUTE FUNCTION anamnesis.keep_owned();
