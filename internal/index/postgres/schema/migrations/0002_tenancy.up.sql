-- Who may see and write what. A member of a workspace is a principal (a login, or what a
-- signed claim calls somebody) with one of three roles there:
--
--   reader  reads what is of the workspace
--   writer  writes origins of their own as well
--   owner   takes away what others wrote as well, and says who is a member
--
-- Two things have to agree, and either alone gives nothing: the group role that a login
-- is in says which tables it may touch at all, and the row of members says in which
-- workspace, and as what. All rules fail closed: no answer to "which workspace" is an
-- answer of none.

-- The group roles. They are of the whole server, so that they may be there already.
DO $$
DECLARE name text;
BEGIN
	FOREACH name IN ARRAY ARRAY['anamnesis_reader', 'anamnesis_writer', 'anamnesis_owner'] LOOP
		IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
			BEGIN
				EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN NOINHERIT', name);
			EXCEPTION WHEN duplicate_object OR unique_violation THEN -- another database of the server was faster
			END;
		END IF;
		IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name AND (rolsuper OR rolbypassrls OR rolcanlogin)) THEN
			RAISE EXCEPTION 'the role % is there, and may log in or passes over the rules of rows; change that first', name;
		END IF;
	END LOOP;
END $$;

CREATE TABLE anamnesis.members (
	workspace uuid NOT NULL REFERENCES anamnesis.workspaces ON DELETE CASCADE,
	principal text COLLATE "C" NOT NULL CHECK (principal <> ''),
	role text COLLATE "C" NOT NULL CHECK (role IN ('reader', 'writer', 'owner')),
	added timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (workspace, principal)
);

-- Logins that speak for others: they check a signature, and say in request.jwt.claims who
-- it is (PostgREST, the authenticator of Supabase). Of every other login the claims say
-- which workspace is meant, and never who asks.
CREATE TABLE anamnesis.issuers (
	login text COLLATE "C" PRIMARY KEY,
	added timestamptz NOT NULL DEFAULT now()
);

-- They are in plpgsql, which keeps its plans: in sql each call would make them anew.
-- The functions read members and issuers whoever asks, so that they are the owner's
-- (SECURITY DEFINER); their search path is pinned, they take nothing from the caller but
-- the two settings, and say nothing but what the caller is. session_user is the login:
-- SET ROLE does not change it.

-- The signed claims; NULL when there are none, an empty object when they cannot be read.
CREATE FUNCTION anamnesis.claims() RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	said text := current_setting('request.jwt.claims', true);
BEGIN
	IF said IS NULL OR said = '' THEN
		RETURN NULL;
	END IF;
	RETURN CASE WHEN jsonb_typeof(said::jsonb) = 'object' THEN said::jsonb ELSE '{}' END;
EXCEPTION WHEN OTHERS THEN
	RETURN '{}';
END $$;

-- Who asks. An issuer that says nobody is nobody, and so is one that says the name of a
-- login: logins prove who they are to the server.
CREATE FUNCTION anamnesis.principal() RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	sub text;
BEGIN
	IF NOT EXISTS (SELECT FROM anamnesis.issuers i WHERE i.login = session_user) THEN
		RETURN session_user;
	END IF;
	IF jsonb_typeof(anamnesis.claims() -> 'sub') = 'string' THEN
		sub := nullif(anamnesis.claims() ->> 'sub', '');
	END IF;
	IF EXISTS (SELECT FROM pg_roles r WHERE r.rolname = sub AND r.rolcanlogin) THEN
		RETURN NULL;
	END IF;
	RETURN sub;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END $$;

-- Which workspace is meant: when there are claims, theirs alone; else the setting. It is
-- an answer only for its members.
CREATE FUNCTION anamnesis.current_workspace() RETURNS uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	claims jsonb := anamnesis.claims();
	meant uuid;
BEGIN
	IF claims IS NOT NULL THEN
		IF jsonb_typeof(claims -> 'workspace_id') = 'string' THEN
			meant := (claims ->> 'workspace_id')::uuid;
		END IF;
	ELSE
		meant := nullif(current_setting('anamnesis.workspace', true), '')::uuid;
	END IF;
	RETURN (SELECT m.workspace FROM anamnesis.members m WHERE m.workspace = meant AND m.principal = anamnesis.principal());
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END $$;

-- What the one who asks is in that workspace, NULL for no member.
CREATE FUNCTION anamnesis.member_role() RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN (SELECT m.role FROM anamnesis.members m
		WHERE m.workspace = anamnesis.current_workspace() AND m.principal = anamnesis.principal());
END $$;

-- Whether they may write there, and take away what others wrote.
CREATE FUNCTION anamnesis.writes() RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN coalesce(anamnesis.member_role() IN ('writer', 'owner'), false);
END $$;
CREATE FUNCTION anamnesis.owns() RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN coalesce(anamnesis.member_role() = 'owner', false);
END $$;

-- The origins that they write; none for a reader.
CREATE FUNCTION anamnesis.own_origins() RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	who text := anamnesis.principal();
BEGIN
	IF NOT anamnesis.writes() THEN
		RETURN '{}';
	END IF;
	RETURN (SELECT coalesce(array_agg(o.name), '{}') FROM anamnesis.origins o
		WHERE o.workspace = anamnesis.current_workspace() AND o.member = who);
END $$;

-- Nobody has a right that is not said here.
REVOKE ALL ON SCHEMA anamnesis FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA anamnesis FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA anamnesis FROM PUBLIC;
GRANT USAGE ON SCHEMA anamnesis TO anamnesis_reader, anamnesis_writer, anamnesis_owner;
GRANT SELECT ON ALL TABLES IN SCHEMA anamnesis TO anamnesis_reader, anamnesis_writer, anamnesis_owner;
REVOKE SELECT ON anamnesis.issuers FROM anamnesis_reader, anamnesis_writer, anamnesis_owner;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA anamnesis TO anamnesis_reader, anamnesis_writer, anamnesis_owner;
GRANT INSERT, DELETE ON anamnesis.notes, anamnesis.texts, anamnesis.passages, anamnesis.supersedes, anamnesis.mentions, anamnesis.edges
	TO anamnesis_writer, anamnesis_owner;
GRANT INSERT, UPDATE, DELETE ON anamnesis.origins, anamnesis.dropped, anamnesis.postings, anamnesis.vectors, anamnesis.problems,
	anamnesis.counters, anamnesis.cursors, anamnesis.memos TO anamnesis_writer, anamnesis_owner;
GRANT INSERT, UPDATE, DELETE ON anamnesis.members TO anamnesis_owner;
-- A note is never changed but replaced. What others wrote has an effect on two columns.
GRANT UPDATE (shared, superseded_by) ON anamnesis.notes TO anamnesis_writer, anamnesis_owner;
GRANT UPDATE (generation, last_note, last_passage, notes, passages, length_title, length_tags, length_body)
	ON anamnesis.workspaces TO anamnesis_writer, anamnesis_owner;

-- Every table has its rules, which count for the owner of the table, too.
DO $$
DECLARE t text;
BEGIN
	FOR t IN SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = 'anamnesis' LOOP
		EXECUTE pg_catalog.format('ALTER TABLE anamnesis.%I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE pg_catalog.format('ALTER TABLE anamnesis.%I FORCE ROW LEVEL SECURITY', t);
	END LOOP;
	-- What a member of the workspace reads.
	FOREACH t IN ARRAY ARRAY['origins', 'notes', 'dropped', 'texts', 'passages', 'postings', 'vectors', 'supersedes', 'mentions', 'edges',
		'problems', 'counters', 'members'] LOOP
		EXECUTE pg_catalog.format('CREATE POLICY seen ON anamnesis.%I FOR SELECT TO anamnesis_reader, anamnesis_writer, anamnesis_owner
			USING (workspace = (SELECT anamnesis.current_workspace()))', t);
	END LOOP;
	-- What an origin keeps for itself is for those alone who write it.
	FOREACH t IN ARRAY ARRAY['cursors', 'memos'] LOOP
		EXECUTE pg_catalog.format('CREATE POLICY seen ON anamnesis.%I FOR SELECT TO anamnesis_reader, anamnesis_writer, anamnesis_owner
			USING (workspace = (SELECT anamnesis.current_workspace()) AND origin = ANY ((SELECT anamnesis.own_origins())::text[]))', t);
	END LOOP;
	-- Rows that name their origin are written by those who write that.
	FOREACH t IN ARRAY ARRAY['notes', 'dropped', 'problems', 'counters', 'cursors', 'memos'] LOOP
		EXECUTE pg_catalog.format('CREATE POLICY added ON anamnesis.%I FOR INSERT TO anamnesis_writer, anamnesis_owner
			WITH CHECK (workspace = (SELECT anamnesis.current_workspace()) AND origin = ANY ((SELECT anamnesis.own_origins())::text[]))', t);
		EXECUTE pg_catalog.format('CREATE POLICY removed ON anamnesis.%I FOR DELETE TO anamnesis_writer, anamnesis_owner
			USING (workspace = (SELECT anamnesis.current_workspace())
			AND (origin = ANY ((SELECT anamnesis.own_origins())::text[]) OR (SELECT anamnesis.owns())))', t);
	END LOOP;
	FOREACH t IN ARRAY ARRAY['dropped', 'problems', 'counters', 'cursors', 'memos'] LOOP
		EXECUTE pg_catalog.format('CREATE POLICY changed ON anamnesis.%I FOR UPDATE TO anamnesis_writer, anamnesis_owner
			USING (workspace = (SELECT anamnesis.current_workspace()) AND origin = ANY ((SELECT anamnesis.own_origins())::text[]))', t);
	END LOOP;
	-- Rows of a note are written by those who write its origin. The note is looked up by its key
	-- (EXISTS would let the server read all notes of the origin instead).
	FOREACH t IN ARRAY ARRAY['texts', 'passages', 'supersedes', 'mentions', 'edges'] LOOP
		EXECUTE pg_catalog.format('CREATE POLICY added ON anamnesis.%1$I FOR INSERT TO anamnesis_writer, anamnesis_owner
			WITH CHECK (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT n.origin FROM anamnesis.notes n
			WHERE n.workspace = %1$I.workspace AND n.key = %1$I.note) = ANY ((SELECT anamnesis.own_origins())::text[]))', t);
		EXECUTE pg_catalog.format('CREATE POLICY removed ON anamnesis.%1$I FOR DELETE TO anamnesis_writer, anamnesis_owner
			USING (workspace = (SELECT anamnesis.current_workspace()) AND ((SELECT anamnesis.owns()) OR (SELECT n.origin FROM anamnesis.notes n
			WHERE n.workspace = %1$I.workspace AND n.key = %1$I.note) = ANY ((SELECT anamnesis.own_origins())::text[])))', t);
	END LOOP;
END $$;

-- Two derived columns of any note of the workspace (see above).
CREATE POLICY changed ON anamnesis.notes FOR UPDATE TO anamnesis_writer, anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.writes()));

CREATE POLICY added ON anamnesis.vectors FOR INSERT TO anamnesis_writer, anamnesis_owner
	WITH CHECK (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT n.origin FROM anamnesis.passages p
		JOIN anamnesis.notes n ON n.workspace = p.workspace AND n.key = p.note
		WHERE p.workspace = vectors.workspace AND p.key = vectors.passage) = ANY ((SELECT anamnesis.own_origins())::text[]));
CREATE POLICY changed ON anamnesis.vectors FOR UPDATE TO anamnesis_writer, anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT n.origin FROM anamnesis.passages p
		JOIN anamnesis.notes n ON n.workspace = p.workspace AND n.key = p.note
		WHERE p.workspace = vectors.workspace AND p.key = vectors.passage) = ANY ((SELECT anamnesis.own_origins())::text[]));
CREATE POLICY removed ON anamnesis.vectors FOR DELETE TO anamnesis_writer, anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()) AND ((SELECT anamnesis.owns()) OR (SELECT n.origin FROM anamnesis.passages p
		JOIN anamnesis.notes n ON n.workspace = p.workspace AND n.key = p.note
		WHERE p.workspace = vectors.workspace AND p.key = vectors.passage) = ANY ((SELECT anamnesis.own_origins())::text[])));

-- Posting lists are of all notes of the workspace together, and whoever writes, writes them.
CREATE POLICY written ON anamnesis.postings TO anamnesis_writer, anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.writes()));

-- An origin is begun for oneself. An owner may take one over, to take its notes away.
CREATE POLICY added ON anamnesis.origins FOR INSERT TO anamnesis_writer, anamnesis_owner
	WITH CHECK (workspace = (SELECT anamnesis.current_workspace()) AND member = (SELECT anamnesis.principal()) AND (SELECT anamnesis.writes()));
CREATE POLICY changed ON anamnesis.origins FOR UPDATE TO anamnesis_writer, anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace())
		AND (member = (SELECT anamnesis.principal()) AND (SELECT anamnesis.writes()) OR (SELECT anamnesis.owns())))
	WITH CHECK (workspace = (SELECT anamnesis.current_workspace()) AND member = (SELECT anamnesis.principal()) AND (SELECT anamnesis.writes()));
CREATE POLICY removed ON anamnesis.origins FOR DELETE TO anamnesis_writer, anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace())
		AND (member = (SELECT anamnesis.principal()) AND (SELECT anamnesis.writes()) OR (SELECT anamnesis.owns())));

CREATE POLICY seen ON anamnesis.workspaces FOR SELECT TO anamnesis_reader, anamnesis_writer, anamnesis_owner
	USING (id = (SELECT anamnesis.current_workspace()));
CREATE POLICY changed ON anamnesis.workspaces FOR UPDATE TO anamnesis_writer, anamnesis_owner
	USING (id = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.writes()));

CREATE POLICY managed ON anamnesis.members TO anamnesis_owner
	USING (workspace = (SELECT anamnesis.current_workspace()) AND (SELECT anamnesis.owns()));

CREATE POLICY seen ON anamnesis.schema_migrations FOR SELECT TO anamnesis_reader, anamnesis_writer, anamnesis_owner USING (true);

-- The owner of the tables makes workspaces, says who is in them, and migrates. Notes are
-- none of their business: for those they have to be a member.
CREATE POLICY administered ON anamnesis.workspaces TO CURRENT_USER USING (true);
CREATE POLICY administered ON anamnesis.members TO CURRENT_USER USING (true);
CREATE POLICY administered ON anamnesis.issuers TO CURRENT_USER USING (true);
CREATE POLICY administered ON anamnesis.schema_migrations TO CURRENT_USER USING (true);
-- Posting lists of a workspace that is gone go with it (drop_postings).
CREATE POLICY administered ON anamnesis.postings TO CURRENT_USER
	USING (NOT EXISTS (SELECT FROM anamnesis.workspaces w WHERE w.id = postings.workspace)) WITH CHECK (false);
