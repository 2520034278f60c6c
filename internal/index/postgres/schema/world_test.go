package schema

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"anamnesis/internal/index/postgres/postgrestest"

	"github.com/jackc/pgx/v5"
)

// The tenants of the tests.
const (
	tenantA = "aaaaaaaa-0000-4000-8000-000000000001"
	tenantB = "bbbbbbbb-0000-4000-8000-000000000002"
)

// A house is a database with two tenants, made by an owner who is no administrator of the
// server, and logins with roles in them.
type house struct {
	t     *testing.T
	admin string // the address of an administrator
	owner string // that of the owner of the database
	tag   string // ends the names of logins, which are of the whole server
	super *pgx.Conn
}

var houses atomic.Int64

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, admin: postgrestest.DSN(t), tag: fmt.Sprintf("_h%d", houses.Add(1))}
	h.super = h.connect(h.admin)
	h.login("lord", "CREATEROLE")
	h.exec(h.super, "GRANT CREATE ON DATABASE "+h.database()+" TO "+h.name("lord"))
	h.owner = h.dsn("lord")
	// Since 16 those who may make roles grant only what they made, and the groups are of the
	// whole server: the first house made them.
	if h.text(h.super, "SELECT current_setting('server_version_num')") >= "160000" {
		for _, r := range Roles {
			if h.text(h.super, "SELECT rolname::text FROM pg_roles WHERE rolname = $1", r.group()) != "" {
				h.exec(h.super, "GRANT "+r.group()+" TO "+h.name("lord")+" WITH ADMIN TRUE, INHERIT FALSE, SET FALSE")
			}
		}
	}
	return h
}

// built is a house with the schema, both tenants and their members: in A and in B a
// reader, two writers and an owner each, and a writer of A who reads in B.
func built(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	if _, err := Migrate(t.Context(), h.owner, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	for tenant, letter := range map[string]string{tenantA: "a", tenantB: "b"} {
		h.login(letter+"owner", "")
		if grant, err := CreateWorkspace(t.Context(), h.owner, tenant, "team "+letter, h.name(letter+"owner")); err != nil || grant != "" {
			t.Fatalf("%q, %v", grant, err)
		}
		for name, role := range map[string]Role{"reader": Reader, "writer": Writer, "second": Writer} {
			h.login(letter+name, "")
			h.member(tenant, letter+name, role)
		}
	}
	h.login("both", "")
	h.member(tenantA, "both", Writer)
	h.member(tenantB, "both", Reader)
	h.login("idle", "") // in the groups, and a member of nothing
	h.exec(h.super, "GRANT anamnesis_reader, anamnesis_writer, anamnesis_owner TO "+h.name("idle"))
	h.login("stranger", "")
	return h
}

func (h *house) database() string {
	u, err := url.Parse(h.admin)
	if err != nil {
		h.t.Fatal(err)
	}
	return strings.Trim(u.Path, "/")
}

func (h *house) name(login string) string { return login + h.tag }

func (h *house) login(name, more string) {
	h.t.Helper()
	h.exec(h.super, "CREATE ROLE "+h.name(name)+" LOGIN PASSWORD 'pw' "+more)
	h.t.Cleanup(func() {
		ctx := context.Background()
		if c, err := Connect(ctx, h.admin); err == nil {
			_, _ = c.Exec(ctx, "DROP OWNED BY "+h.name(name)+" CASCADE; DROP ROLE "+h.name(name))
			_ = c.Close(ctx)
		}
	})
}

func (h *house) member(tenant, name string, role Role) {
	h.t.Helper()
	if grant, err := AddMember(h.t.Context(), h.owner, tenant, h.name(name), role); err != nil || grant != "" {
		h.t.Fatalf("%s: %q, %v", name, grant, err)
	}
}

// dsn is the address of the database for a login.
func (h *house) dsn(login string) string {
	u, err := url.Parse(h.admin)
	if err != nil {
		h.t.Fatal(err)
	}
	u.User = url.UserPassword(h.name(login), "pw")
	return u.String()
}

func (h *house) connect(dsn string) *pgx.Conn {
	h.t.Helper()
	c, err := Connect(h.t.Context(), dsn)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// as returns a session of a login in a tenant.
func (h *house) as(login, tenant string) *pgx.Conn {
	h.t.Helper()
	c := h.connect(h.dsn(login))
	h.exec(c, "SELECT set_config('anamnesis.workspace', $1, false)", tenant)
	return c
}

func (h *house) exec(c *pgx.Conn, text string, args ...any) {
	h.t.Helper()
	if _, err := c.Exec(h.t.Context(), text, args...); err != nil {
		h.t.Fatalf("%s: %v", text, err)
	}
}

// try runs a statement and takes it back. It returns how many rows it touched.
func (h *house) try(c *pgx.Conn, text string) (rows int64, err error) {
	h.t.Helper()
	tx, err := c.Begin(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(h.t.Context()); err != nil {
			h.t.Fatal(err)
		}
	}()
	tag, err := tx.Exec(h.t.Context(), text)
	return tag.RowsAffected(), err
}

// text returns one value as text.
func (h *house) text(c *pgx.Conn, query string, args ...any) string {
	h.t.Helper()
	var s *string
	if err := c.QueryRow(h.t.Context(), query, args...).Scan(&s); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		h.t.Fatalf("%s: %v", query, err)
	}
	if s == nil {
		return ""
	}
	return *s
}

// A column of a table, as the server describes it.
type column struct {
	table, name, kind string
	made              bool // by the server, of other columns
}

// columns lists the columns of all tables of the schema, tables in an order in which
// they can be filled.
func (h *house) columns() (tables []string, byTable map[string][]column) {
	h.t.Helper()
	rows, err := h.super.Query(h.t.Context(), `SELECT c.table_name::text, c.column_name::text, c.data_type::text,
		c.is_generated = 'ALWAYS' FROM information_schema.columns c
		JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.table_schema = 'anamnesis' AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position`)
	if err != nil {
		h.t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (c column, err error) {
		err = r.Scan(&c.table, &c.name, &c.kind, &c.made)
		return c, err
	})
	if err != nil || len(all) == 0 {
		h.t.Fatalf("%d columns, %v", len(all), err)
	}
	byTable = make(map[string][]column)
	for _, c := range all {
		byTable[c.table] = append(byTable[c.table], c)
	}
	first := []string{"workspaces", "members", "origins", "notes", "passages"}
	tables = slices.Clone(first)
	for _, c := range all {
		if !slices.Contains(tables, c.table) {
			tables = append(tables, c.table)
		}
	}
	return tables, byTable
}

// A row of the tests belongs to the first or second writer of a tenant (1, 2). A fresh one
// is not there yet.
type row struct {
	tenant, member string
	owner          int
	fresh          bool
	spare          bool // of notes and passages: one that nothing hangs on
}

func (r row) origin() string { return fmt.Sprintf("origin %d", r.owner) }

// value is what a column of the row holds, as a literal.
func (r row) value(c column) string {
	number := r.owner
	if r.spare {
		number += 10
	}
	if r.fresh {
		number += 100
	}
	hangs := r.owner // what refers to it
	if r.fresh && (c.table == "texts" || c.table == "vectors") {
		hangs += 10
	}
	switch c.name {
	case "workspace":
		return literal(r.tenant)
	case "origin":
		return literal(r.origin())
	case "note", "passage":
		return fmt.Sprint(hangs)
	case "member":
		return literal(r.member)
	case "writer":
		return "DEFAULT" // what the server says itself
	case "role":
		return literal("reader")
	case "name":
		if c.table == "origins" && !r.fresh {
			return literal(r.origin())
		}
	}
	switch {
	case c.table == "workspaces" && c.name == "id":
		return literal(map[bool]string{false: r.tenant, true: "cccccccc-0000-4000-8000-000000000003"}[r.fresh])
	case c.kind == "bigint" || c.kind == "integer" || c.kind == "double precision":
		return fmt.Sprint(number)
	case c.kind == "boolean":
		return "false"
	case c.kind == "bytea":
		return `'\x00'`
	case strings.HasPrefix(c.kind, "timestamp"):
		return "now()"
	}
	return literal(fmt.Sprintf("x%d", number))
}

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// insert is the statement that adds the row to a table.
func (r row) insert(columns []column) string {
	var names, values []string
	for _, c := range columns {
		if !c.made {
			names, values = append(names, c.name), append(values, r.value(c))
		}
	}
	return "INSERT INTO anamnesis." + columns[0].table + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(values, ", ") + ")"
}

// where finds the row in a table: by what tells its owner, as far as it has that.
func (r row) where(columns []column) string {
	var all []string
	for _, c := range columns {
		switch {
		case c.name == "workspace" || c.name == "origin" || c.name == "note" || c.name == "passage",
			c.table == "workspaces" && c.name == "id", c.table == "origins" && c.name == "name":
			all = append(all, c.name+" = "+r.value(c))
		case c.table == "passages" && c.name == "key":
		}
	}
	if len(all) == 0 {
		return "true"
	}
	return strings.Join(all, " AND ")
}

// fill puts rows of both writers of both tenants into every table.
func (h *house) fill() (tables []string, byTable map[string][]column) {
	h.t.Helper()
	tables, byTable = h.columns()
	for tenant, letter := range map[string]string{tenantA: "a", tenantB: "b"} {
		for _, table := range tables {
			switch table {
			case "workspaces", "schema_migrations":
				continue
			}
			for owner, name := range map[int]string{1: "writer", 2: "second"} {
				r := row{tenant: tenant, member: h.name(letter + name), owner: owner}
				if table == "issuers" && letter == "b" {
					continue
				}
				h.exec(h.super, r.insert(byTable[table]))
				if table == "notes" || table == "passages" {
					r.spare = true
					h.exec(h.super, r.insert(byTable[table]))
				}
			}
		}
	}
	return tables, byTable
}
