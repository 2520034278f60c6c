package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// whole lists the tables that are of no workspace.
var whole = []string{"issuers", "schema_migrations"}

// No login, whatever it is and whichever workspace it names, sees or touches a row of a
// tenant of which it is no member. Tables and columns are those that the server has, so
// that a new one is tested without a word here.
func TestTenantsAreApart(t *testing.T) {
	h := built(t)
	tables, columns := h.fill()
	members := map[string][]string{
		"areader": {tenantA}, "awriter": {tenantA}, "aowner": {tenantA}, "both": {tenantA, tenantB}, "idle": nil, "stranger": nil, "lord": nil,
	}
	for login, own := range members {
		for _, named := range []string{tenantA, tenantB, ""} {
			c := h.as(login, named)
			for _, table := range tables {
				if slices.Contains(whole, table) || login == "lord" && (table == "workspaces" || table == "members") {
					continue // who administers sees which workspaces there are, and who is in them
				}
				key := "workspace"
				if table == "workspaces" {
					key = "id"
				}
				if !slices.ContainsFunc(columns[table], func(c column) bool { return c.name == key }) {
					t.Fatalf("the table %s does not say of which workspace its rows are", table)
				}
				for _, tenant := range []string{tenantA, tenantB} {
					visible := tenant == named && slices.Contains(own, tenant)
					if visible {
						continue
					}
					for _, statement := range everyVerb(table, key, tenant, columns[table], h.name("awriter")) {
						if n, err := h.try(c, statement); err == nil && n > 0 {
							t.Errorf("%s, who names %q, touches %d rows of %s by %s", login, named, n, tenant, statement)
						}
					}
				}
			}
		}
	}
}

// everyVerb lists statements about the rows of a tenant.
func everyVerb(table, key, tenant string, columns []column, member string) []string {
	at := " WHERE " + key + " = " + literal(tenant)
	all := []string{
		"SELECT FROM anamnesis." + table + at,
		"DELETE FROM anamnesis." + table + at,
		"INSERT INTO anamnesis." + table + " SELECT * FROM anamnesis." + table,
	}
	for owner := range 2 {
		all = append(all, row{tenant: tenant, member: member, owner: owner + 1, fresh: true}.insert(columns))
	}
	for _, c := range columns {
		all = append(all,
			"UPDATE anamnesis."+table+" SET "+c.name+" = "+c.name+at,
			"UPDATE anamnesis."+table+" SET "+c.name+" = "+c.name+at+" RETURNING "+c.name,
			"SELECT "+c.name+" FROM anamnesis."+table+at)
		if c.name == key {
			all = append(all, "UPDATE anamnesis."+table+" SET "+key+" = "+literal(tenant)+" WHERE "+key+" <> "+literal(tenant))
		}
	}
	return all
}

// What a member may do with a row of the own tenant.
type right struct {
	table, verb, role string
	own               bool // the row is of an origin of the member
}

// may is the rule that the policies have to hold, in other words than theirs.
func (r right) may() bool {
	writes, owns := r.role != "reader", r.role == "owner"
	of := func(tables string) bool { return slices.Contains(strings.Fields(tables), r.table) }
	hers := of("notes texts passages vectors supersedes mentions edges dropped problems counters cursors memos origins")
	verb, column, _ := strings.Cut(r.verb, " ")
	switch {
	case of("issuers"):
		return false
	case of("withdrawn"):
		return verb == "SELECT" || owns && verb != "UPDATE"
	case owns && (of("dropped") || of("problems") && verb == "INSERT"): // of others, to take a note away
		return true
	case verb == "SELECT":
		return r.own && writes || !of("cursors memos")
	case of("schema_migrations"):
		return false
	case of("workspaces"):
		return verb == "UPDATE" && writes && column != "id" && column != "name"
	case of("members"):
		return owns
	case verb == "UPDATE" && of("notes"):
		return writes && (column == "shared" || column == "superseded_by")
	case verb == "UPDATE" && of("texts passages supersedes mentions edges"):
		return false
	case verb == "DELETE" && owns && !of("cursors memos"):
		return true
	}
	return hers && writes && r.own
}

// Every role, every table and column, every verb, on rows of one's own and of others.
func TestRoles(t *testing.T) {
	h := built(t)
	tables, columns := h.fill()
	checked := 0
	for role, login := range map[string]string{"reader": "reader", "writer": "writer", "owner": "owner"} {
		for tenant, letter := range map[string]string{tenantA: "a", tenantB: "b"} {
			c := h.as(letter+login, tenant)
			for _, table := range tables {
				for owner, member := range map[int]string{1: "writer", 2: "second"} {
					r := row{tenant: tenant, member: h.name(letter + member), owner: owner}
					if table == "withdrawn" { // in one's own name
						r.member = h.name(letter + login)
					}
					at := " WHERE " + r.where(columns[table])
					statements := map[string]string{
						"SELECT": "SELECT FROM anamnesis." + table + at, "DELETE": "DELETE FROM anamnesis." + table + at,
					}
					if table == "members" { // not the asking login
						statements["DELETE"] += " AND principal = 'x1'"
					}
					for _, c := range columns[table] {
						statements["UPDATE "+c.name] = "UPDATE anamnesis." + table + " SET " + c.name + " = " + c.name + at
					}
					r.fresh = true
					statements["INSERT"] = r.insert(columns[table])
					for verb, statement := range statements {
						want := right{table, verb, role, role == "writer" && owner == 1}
						n, err := h.try(c, statement)
						checked++
						if got := err == nil && n > 0; got != want.may() {
							t.Errorf("%+v: %v, want %v: %s: %d rows, %v", want, got, want.may(), statement, n, err)
						}
					}
				}
			}
		}
	}
	if checked < 1500 {
		t.Errorf("only %d statements were tried", checked)
	}
}

// An owner takes over what another one wrote, to take it away; a writer does not.
func TestTakingOver(t *testing.T) {
	h := built(t)
	h.fill()
	for login, want := range map[string]int64{"awriter": 0, "aowner": 1, "areader": 0, "bowner": 0} {
		n, err := h.try(h.as(login, tenantA), "UPDATE anamnesis.origins SET member = session_user WHERE name = 'origin 2'")
		if err == nil && n != want || want > 0 && err != nil {
			t.Errorf("%s: %d rows, %v", login, n, err)
		}
	}
	// And nobody gives an origin away, or begins one in the name of another.
	for _, login := range []string{"awriter", "aowner"} {
		c := h.as(login, tenantA)
		if n, err := h.try(c, "UPDATE anamnesis.origins SET member = "+literal(h.name("areader"))); err == nil && n > 0 {
			t.Errorf("%s gives origins away", login)
		}
	}
}

// Who was a writer and is a reader now writes nothing any more, what they wrote stays,
// and who has left sees nothing.
func TestDemoted(t *testing.T) {
	h := built(t)
	tables, columns := h.fill()
	h.member(tenantA, "asecond", Reader)
	c := h.as("asecond", tenantA)
	r := row{tenant: tenantA, member: h.name("asecond"), owner: 2}
	for _, table := range tables {
		at := " WHERE " + r.where(columns[table])
		fresh := r
		fresh.fresh = true
		statements := []string{"DELETE FROM anamnesis." + table + at, fresh.insert(columns[table])}
		for _, c := range columns[table] {
			statements = append(statements, "UPDATE anamnesis."+table+" SET "+c.name+" = "+c.name+at)
		}
		for _, statement := range statements {
			if n, err := h.try(c, statement); err == nil && n > 0 {
				t.Errorf("%s: %d rows", statement, n)
			}
		}
	}
	count := "SELECT count(*)::text FROM anamnesis.notes WHERE origin = 'origin 2'"
	if n := h.text(c, count); n != "2" {
		t.Errorf("%s notes are left", n)
	}
	if err := RemoveMember(t.Context(), h.dsn("aowner"), tenantA, h.name("asecond")); err != nil {
		t.Fatal(err)
	}
	if n := h.text(c, count); n != "0" {
		t.Errorf("who has left sees %s notes", n)
	}
	if n := h.text(h.as("areader", tenantA), count); n != "2" {
		t.Errorf("the others see %s of the notes of who has left", n)
	}
}

// What somebody who sits at psql sets for the session gives nothing.
func TestHostileSettings(t *testing.T) {
	h := built(t)
	h.fill()
	claims := func(text string) string { return "SET request.jwt.claims = " + literal(text) }
	inB := fmt.Sprintf(`{"workspace_id": %q, "sub": %q, "role": "anamnesis_owner"}`, tenantB, h.name("bowner"))
	for _, c := range []struct{ name, set, seen string }{
		{"nothing", "SELECT 1", tenantA},
		{"another workspace", "SET anamnesis.workspace = " + literal(tenantB), ""},
		{"no workspace", "SET anamnesis.workspace = ''", ""},
		{"unset", "RESET anamnesis.workspace", ""},
		{"no uuid", "SET anamnesis.workspace = 'x'' OR true --'", ""},
		{"two", "SET anamnesis.workspace = " + literal(tenantA+","+tenantB), ""},
		{"forged claims", claims(inB), ""},
		{"forged claims of the own workspace", claims(fmt.Sprintf(`{"workspace_id": %q, "sub": %q}`, tenantA, h.name("aowner"))), tenantA},
		{"claims before the setting", claims(inB) + "; SET anamnesis.workspace = " + literal(tenantA), ""},
		{"claims without a workspace", claims(`{"sub": "x"}`), ""},
		{"claims that are broken", claims(`{"workspace_id": "` + tenantA), ""},
		{"claims that are a list", claims(`["` + tenantA + `"]`), ""},
		{"claims that are null", claims(`null`), ""},
		{"claims with a number", claims(`{"workspace_id": 1}`), ""},
		{"claims with a list", claims(`{"workspace_id": ["` + tenantA + `"]}`), ""},
		{"claims with a wrong uuid", claims(`{"workspace_id": "%"}`), ""},
		{"claims that are deep", "SET request.jwt.claims = '" + strings.Repeat("[", 50_000) + "'", ""},
		{"a blank", claims(" "), ""},
		{"the group", "SET ROLE anamnesis_writer", tenantA},
		{"no role", "SET ROLE NONE", tenantA},
		{"a path", "CREATE TEMP TABLE members (workspace uuid, principal text, role text); " +
			"INSERT INTO members VALUES (" + literal(tenantB) + ", session_user, 'owner'); SET search_path = pg_temp, anamnesis; " +
			"SET anamnesis.workspace = " + literal(tenantB), ""},
		{"operators of one's own", "CREATE FUNCTION pg_temp.yes(uuid, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT true'; " +
			"CREATE OPERATOR pg_temp.= (leftarg = uuid, rightarg = uuid, function = pg_temp.yes); SET search_path = pg_temp, pg_catalog", tenantA},
		{"a function that tells", "CREATE FUNCTION pg_temp.tell(x uuid) RETURNS boolean LANGUAGE plpgsql COST 0.000001 AS $$ BEGIN " +
			"IF x::text LIKE 'b%' THEN RAISE EXCEPTION 'told'; END IF; RETURN true; END $$; " +
			"SELECT count(*) FROM anamnesis.notes WHERE pg_temp.tell(workspace)", tenantA},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := h.as("awriter", tenantA)
			if _, err := conn.Exec(t.Context(), c.set); err != nil {
				t.Fatalf("%s: %v", c.set, err)
			}
			seen := h.text(conn, "SELECT string_agg(DISTINCT workspace::text, ' ' ORDER BY workspace::text) FROM anamnesis.notes")
			if seen != c.seen {
				t.Errorf("sees the notes of %q, want %q", seen, c.seen)
			}
			role := h.text(conn, "SELECT anamnesis.member_role()")
			if want := map[string]string{tenantA: "writer"}[c.seen]; role != want {
				t.Errorf("is %q, want %q", role, want)
			}
			if c.seen == "" {
				if n, err := h.try(conn, row{tenant: tenantB, member: h.name("awriter"), owner: 1, fresh: true}.insert(h.tableOf("origins"))); err == nil {
					t.Errorf("begins an origin in another workspace: %d", n)
				}
			}
		})
	}
}

func (h *house) tableOf(name string) []column {
	_, byTable := h.columns()
	return byTable[name]
}

// What a member asks of the server that they must not get at all.
func TestRefusals(t *testing.T) {
	h := built(t)
	h.fill()
	h.exec(h.super, "ANALYZE anamnesis.notes")
	c := h.as("awriter", tenantA)
	for _, statement := range []string{
		"SET row_security = off; SELECT FROM anamnesis.notes",
		"SET ROLE anamnesis_owner",
		"SET ROLE " + h.name("bowner"),
		"SET ROLE " + h.name("lord"),
		"SET SESSION AUTHORIZATION " + h.name("bowner"),
		"ALTER TABLE anamnesis.notes DISABLE ROW LEVEL SECURITY",
		"ALTER TABLE anamnesis.notes NO FORCE ROW LEVEL SECURITY",
		"CREATE POLICY all_of_it ON anamnesis.notes USING (true)",
		"DROP POLICY seen ON anamnesis.notes",
		"CREATE TABLE anamnesis.x (a int)",
		"CREATE FUNCTION anamnesis.claims(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"CREATE OR REPLACE FUNCTION anamnesis.principal() RETURNS text LANGUAGE sql AS 'SELECT ''x'''",
		"CREATE TRIGGER t BEFORE INSERT ON anamnesis.notes FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
		"TRUNCATE anamnesis.passages",
		"INSERT INTO anamnesis.members (workspace, principal, role) VALUES (" + literal(tenantA) + ", 'x', 'owner')",
		"UPDATE anamnesis.members SET role = 'owner' WHERE principal = session_user",
		"SELECT FROM anamnesis.issuers",
		"INSERT INTO anamnesis.issuers (login) VALUES (session_user)",
		"CREATE TABLE pg_temp.r (workspace uuid REFERENCES anamnesis.workspaces)",
		"CREATE TABLE copy (LIKE anamnesis.notes); ALTER TABLE copy INHERIT anamnesis.notes",
		"GRANT anamnesis_owner TO session_user",
		"CREATE ROLE x",
		"COMMENT ON TABLE anamnesis.notes IS 'x'",
		"LOCK TABLE anamnesis.notes IN ACCESS EXCLUSIVE MODE NOWAIT; ALTER TABLE anamnesis.notes ADD x int",
	} {
		if n, err := h.try(c, statement); err == nil {
			t.Errorf("%s: %d rows", statement, n)
		}
	}
	// Statistics hold values of rows.
	if n := h.text(c, "SELECT count(*)::text FROM pg_stats WHERE schemaname = 'anamnesis'"); n != "0" {
		t.Errorf("%s columns tell their values by their statistics", n)
	}
	// A key that is taken in another workspace is refused for the workspace, not for the key.
	fresh := row{tenant: tenantB, member: h.name("awriter"), owner: 1}
	for _, table := range []string{"notes", "origins"} {
		if _, err := h.try(c, fresh.insert(h.tableOf(table))); Code(err) != "42501" {
			t.Errorf("%s: %v, want a refusal of the rules of rows", table, err)
		}
	}
	// An owner of A is nobody in B, and gives nobody a role there.
	owner := h.as("aowner", tenantA)
	for _, statement := range []string{
		"INSERT INTO anamnesis.members (workspace, principal, role) VALUES (" + literal(tenantB) + ", session_user, 'owner')",
		"UPDATE anamnesis.members SET workspace = " + literal(tenantB) + " WHERE principal = session_user",
	} {
		if n, err := h.try(owner, statement); err == nil && n > 0 {
			t.Errorf("%s: %d rows", statement, n)
		}
	}
}

// A login that issues claims, as PostgREST has one, is whoever the claims say.
func TestIssuer(t *testing.T) {
	h := built(t)
	h.fill()
	h.login("authenticator", "NOINHERIT")
	h.login("authenticated", "")
	h.exec(h.super, "GRANT "+h.name("authenticated")+" TO "+h.name("authenticator"))
	h.exec(h.super, "GRANT anamnesis_writer TO "+h.name("authenticated"))
	user := "5b0c0c1e-0d3f-4f0e-9a56-0a6f5d3b7c11"
	if _, err := AddMember(t.Context(), h.owner, tenantA, user, Writer); err != nil {
		t.Fatal(err)
	}
	claims := func(sub, workspace string) string {
		return fmt.Sprintf(`{"sub": %q, "workspace_id": %q}`, sub, workspace)
	}
	ask := func(said, setting string) (workspace, principal string) {
		c := h.as("authenticator", setting)
		h.exec(c, "SET ROLE "+h.name("authenticated"))
		h.exec(c, "SELECT set_config('request.jwt.claims', $1, false)", said)
		return h.text(c, "SELECT string_agg(DISTINCT workspace::text, ' ') FROM anamnesis.notes"), h.text(c, "SELECT anamnesis.principal()")
	}
	if workspace, who := ask(claims(user, tenantA), tenantA); workspace != "" || who != h.name("authenticator") {
		t.Errorf("a login that is not listed speaks for others: %q %q", workspace, who)
	}
	if err := Trust(t.Context(), h.owner, h.name("authenticator"), true); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, claims, setting, workspace, who string }{
		{"a member", claims(user, tenantA), "", tenantA, user},
		{"claims before the setting", claims(user, tenantA), tenantB, tenantA, user},
		{"another workspace", claims(user, tenantB), tenantA, "", user},
		{"nobody of that name", claims("someone", tenantA), tenantA, "", "someone"},
		{"the name of a login", claims(h.name("bowner"), tenantB), tenantB, "", ""},
		{"nobody", fmt.Sprintf(`{"workspace_id": %q}`, tenantA), tenantA, "", ""},
		{"an empty name", claims("", tenantA), tenantA, "", ""},
		{"a name that is no text", fmt.Sprintf(`{"sub": {"a": 1}, "workspace_id": %q}`, tenantA), tenantA, "", ""},
		{"no workspace", fmt.Sprintf(`{"sub": %q}`, user), tenantA, "", user},
		{"no claims", "", tenantA, "", ""},
		{"broken claims", `{"sub": "` + user, tenantA, "", ""},
	} {
		if workspace, who := ask(c.claims, c.setting); workspace != c.workspace || who != c.who {
			t.Errorf("%s: %q sees %q, want %q and %q", c.name, who, workspace, c.who, c.workspace)
		}
	}
	// What they write is theirs.
	c := h.as("authenticator", "")
	h.exec(c, "SET ROLE "+h.name("authenticated"))
	h.exec(c, "SELECT set_config('request.jwt.claims', $1, false)", claims(user, tenantA))
	r := row{tenant: tenantA, member: user, owner: 7}
	if n, err := h.try(c, r.insert(h.tableOf("origins"))); n != 1 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	r.member = h.name("awriter")
	if n, err := h.try(c, r.insert(h.tableOf("origins"))); err == nil {
		t.Errorf("an origin in the name of another: %d rows", n)
	}
}

// Nobody but the groups has a right, every table is guarded, every function pinned.
func TestNothingForThePublic(t *testing.T) {
	h := built(t)
	for what, query := range map[string]string{
		"tables": `SELECT string_agg(DISTINCT relname, ' ') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) a
			WHERE nspname = 'anamnesis' AND a.grantee = 0`,
		"columns": `SELECT string_agg(DISTINCT attname::text, ' ') FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid
			JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(t.attacl) a WHERE nspname = 'anamnesis' AND a.grantee = 0`,
		"the schema": `SELECT string_agg(nspname, ' ') FROM pg_namespace, aclexplode(nspacl) a WHERE nspname = 'anamnesis' AND a.grantee = 0`,
		"functions": `SELECT string_agg(DISTINCT proname, ' ') FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
			WHERE nspname = 'anamnesis' AND (proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) a WHERE a.grantee = 0))`,
		"functions without a path": `SELECT string_agg(proname, ' ') FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
			WHERE nspname = 'anamnesis' AND proconfig::text IS DISTINCT FROM '{"search_path=pg_catalog, pg_temp"}'
			AND proconfig[1] IS DISTINCT FROM 'search_path=""'`,
		"functions of the owner": `SELECT nullif(string_agg(proname, ' ' ORDER BY proname), 'current_workspace member_role principal')
			FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE nspname = 'anamnesis' AND prosecdef`,
		"tables without rules": `SELECT string_agg(relname, ' ') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE nspname = 'anamnesis' AND relkind IN ('r', 'p') AND (NOT relrowsecurity OR NOT relforcerowsecurity
			OR NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid))`,
		"policies for everybody": `SELECT string_agg(polname, ' ') FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
			JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'anamnesis' AND 0 = ANY (polroles)`,
		"groups that log in": `SELECT string_agg(rolname, ' ') FROM pg_roles
			WHERE rolname LIKE 'anamnesis\_%' AND (rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole)`,
	} {
		if got := h.text(h.super, query); got != "" {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// Of a workspace that the owner of the database deletes nothing is left.
func TestWorkspaceGoes(t *testing.T) {
	h := built(t)
	tables, columns := h.fill()
	h.exec(h.connect(h.owner), "DELETE FROM anamnesis.workspaces WHERE id = $1", tenantB)
	for _, table := range tables {
		if !slices.ContainsFunc(columns[table], func(c column) bool { return c.name == "workspace" }) {
			continue
		}
		for tenant, gone := range map[string]bool{tenantA: false, tenantB: true} {
			n := h.text(h.super, "SELECT count(*)::text FROM anamnesis."+table+" WHERE workspace = $1", tenant)
			if (n == "0") != gone {
				t.Errorf("%s has %s rows of %s", table, n, tenant)
			}
		}
	}
}

// Every key and every reference begins with the workspace, on both of its sides.
func TestKeysBeginWithTheWorkspace(t *testing.T) {
	h := built(t)
	for what, query := range map[string]string{
		"keys": `SELECT string_agg(c.conname, ' ') FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
			JOIN pg_namespace n ON n.oid = c.connamespace JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
			WHERE n.nspname = 'anamnesis' AND c.contype IN ('p', 'u') AND a.attname <> 'workspace'
			AND r.relname NOT IN ('workspaces', 'issuers', 'schema_migrations')`,
		"references": `SELECT string_agg(c.conname, ' ') FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
			JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
			JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1]
			WHERE n.nspname = 'anamnesis' AND c.contype = 'f' AND (a.attname <> 'workspace'
			OR b.attname <> CASE WHEN c.confrelid = 'anamnesis.workspaces'::regclass THEN 'id' ELSE 'workspace' END)`,
	} {
		if got := h.text(h.super, query); got != "" {
			t.Errorf("%s that do not begin with the workspace: %s", what, got)
		}
	}
	if n := h.text(h.super, "SELECT count(*)::text FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace "+
		"WHERE n.nspname = 'anamnesis' AND c.contype = 'f'"); n < "10" || len(n) < 2 {
		t.Errorf("only %s references were looked at", n)
	}
}

// The server writes down itself which login wrote a note, and refuses a row that says another one.
func TestWriterOfARow(t *testing.T) {
	h := built(t)
	h.fill()
	notes := h.tableOf("notes")
	insert := func(login string, owner int, values map[string]string) (int64, error) {
		r := row{tenant: tenantA, member: h.name(login), owner: owner, fresh: true}
		statement := r.insert(notes)
		for i, c := range notes {
			if v, ok := values[c.name]; ok {
				parts := strings.SplitN(statement, ") VALUES (", 2)
				all := strings.Split(strings.TrimSuffix(parts[1], ")"), ", ")
				all[i] = v
				statement = parts[0] + ") VALUES (" + strings.Join(all, ", ") + ")"
			}
		}
		return h.try(h.as(login, tenantA), statement+" RETURNING writer")
	}
	trusted := literal(h.name("aowner"))
	for _, c := range []struct {
		name, login string
		values      map[string]string
		ok          bool
	}{
		{"the own login by default", "awriter", nil, true},
		{"the own login", "awriter", map[string]string{"writer": "session_user"}, true},
		{"the login of another", "awriter", map[string]string{"writer": trusted}, false},
		{"no login", "awriter", map[string]string{"writer": "NULL"}, false},
		{"an issuer's nobody", "awriter", map[string]string{"writer": "''"}, false},
		{"another user in the row", "awriter", map[string]string{"author": trusted, "machine": trusted}, true},
		{"the word of the user", "awriter", map[string]string{"source": "'human'"}, false},
		{"what the user typed", "awriter", map[string]string{"source": "'user'"}, false},
		{"what the user reviewed", "awriter", map[string]string{"tags": `E'\na\nreviewed\n'`}, false},
		{"a tag that is like it", "awriter", map[string]string{"tags": `E'\nreviewed by bob\n'`}, true},
		{"the origin of another", "awriter", map[string]string{"origin": "'origin 2'"}, false},
	} {
		if n, err := insert(c.login, 1, c.values); (err == nil && n == 1) != c.ok {
			t.Errorf("%s: %d rows, %v", c.name, n, err)
		}
	}
	if n, err := h.try(h.as("awriter", tenantA), "UPDATE anamnesis.notes SET writer = "+trusted); err == nil {
		t.Errorf("a writer changes the login of %d rows", n)
	}

	// An owner of the workspace says who vouches, but for a machine without a store.
	owner := h.as("aowner", tenantA)
	for _, origin := range []string{"home", "away/box"} {
		h.exec(owner, "INSERT INTO anamnesis.origins (workspace, name, member, fingerprint, files, walked, generation) VALUES ($1, $2, session_user, 0, 0, 0, 0)",
			tenantA, origin)
	}
	for origin, ok := range map[string]bool{"'home'": true, "'away/box'": false} {
		n, err := insert("aowner", 1, map[string]string{"origin": origin, "source": "'human'"})
		if (err == nil && n == 1) != ok {
			t.Errorf("the owner's %s: %d rows, %v", origin, n, err)
		}
	}

	// Whom an issuer speaks for is proven by the issuer alone: no login is written down.
	h.login("gate", "")
	h.exec(h.super, "GRANT anamnesis_writer TO "+h.name("gate"))
	if err := Trust(t.Context(), h.owner, h.name("gate"), true); err != nil {
		t.Fatal(err)
	}
	if grant, err := AddMember(t.Context(), h.owner, tenantA, "sub-1", Writer); err != nil || grant != "" {
		t.Fatalf("%q, %v", grant, err)
	}
	gate := h.connect(h.dsn("gate"))
	h.exec(gate, `SELECT set_config('request.jwt.claims', $1, false)`, `{"sub": "sub-1", "workspace_id": "`+tenantA+`"}`)
	if got := h.text(gate, "SELECT 'is ' || anamnesis.writer()"); got != "is " {
		t.Errorf("an issuer writes as %q", got)
	}
}

// A database of the version before is migrated in place: its notes stay, and nothing is made up of who wrote them.
func TestWriterOfRowsOfBefore(t *testing.T) {
	h := built(t)
	h.fill()
	count := func(where string) string {
		return h.text(h.super, "SELECT count(*)::text FROM anamnesis.notes WHERE "+where)
	}
	before := count("true")
	for _, to := range []int{3, 0} {
		if _, err := Migrate(t.Context(), h.owner, MigrateOptions{To: to}); err != nil {
			t.Fatal(err)
		}
	}
	if all, unknown := count("true"), count("writer IS NULL"); all != before || unknown != before || before == "0" {
		t.Errorf("of %s notes %s are left, of %s is not known who wrote them", before, all, unknown)
	}
}
