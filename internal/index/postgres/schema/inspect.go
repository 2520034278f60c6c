package schema

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Status is how a database stands for the asking login.
type Status struct {
	Server    string   // its version, as the server says it
	Number    int      // the same as a number: 150004
	Vector    string   // version of the extension pgvector, empty when it is not installed
	Compares  bool     // the server compares vectors with it
	Version   int      // of the schema; 0 when there is none
	Latest    int      // version that this program works with
	Login     string   // as which the connection was made
	Principal string   // who that is; empty for an issuer of claims
	Role      Role     // in the workspace; empty for no member
	Groups    []Role   // whose groups the login is in
	Bypasses  bool     // the login is one to which no rules of rows apply
	Unguarded []string // tables whose rules are missing, or do not count for their owner
	Members   int      // that the asking login may see
	Tables    []Table

	Generation, Notes, Passages int64 // of the workspace, 0 for no member
}

// A Table is one of the schema, for all workspaces together.
type Table struct {
	Name     string
	Forced   bool  // rules count, for its owner, too
	Policies int   // how many there are
	Rows     int64 // as the server estimates them; -1 when it has never looked
	Bytes    int64 // with indexes
}

// Inspect tells how a database stands. It changes nothing, and works with a schema of any
// version. A workspace that is empty or none of the caller's leaves its part empty.
func Inspect(ctx context.Context, dsn, workspace string) (s Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := Connect(ctx, dsn)
	if err != nil {
		return s, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	s.Latest = latest()
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if err := s.server(ctx, tx); err != nil {
			return err
		}
		if s.Version < 2 {
			return nil
		}
		if _, err := tx.Exec(ctx, "SELECT set_config('anamnesis.workspace', $1, true)", workspace); err != nil {
			return err
		}
		return s.workspace(ctx, tx)
	})
	if err != nil {
		return s, fmt.Errorf("look at the database: %w", Plain(err))
	}
	return s, nil
}

// server asks what is the same for all workspaces.
func (s *Status) server(ctx context.Context, tx pgx.Tx) (err error) {
	err = tx.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int,
		coalesce((SELECT extversion FROM pg_catalog.pg_extension WHERE extname = 'vector'), ''), session_user::text,
		coalesce((SELECT rolsuper OR rolbypassrls FROM pg_catalog.pg_roles WHERE rolname = session_user), false),
		EXISTS (SELECT FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n
			ON n.oid = c.relnamespace WHERE n.nspname = 'anamnesis' AND c.relname = 'vectors' AND a.attname = 'half' AND NOT a.attisdropped)`).
		Scan(&s.Server, &s.Number, &s.Vector, &s.Login, &s.Bypasses, &s.Compares)
	if err != nil {
		return err
	}
	for _, r := range Roles {
		var inside bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $1
			AND pg_catalog.pg_has_role(session_user, oid, 'USAGE'))`, r.group()).Scan(&inside)
		if err != nil {
			return err
		}
		if inside {
			s.Groups = append(s.Groups, r)
		}
	}
	rows, err := tx.Query(ctx, `SELECT c.relname::text, c.relrowsecurity AND c.relforcerowsecurity,
		(SELECT count(*)::int FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid), c.reltuples::bigint, pg_catalog.pg_total_relation_size(c.oid)
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'anamnesis' AND c.relkind IN ('r', 'p') ORDER BY c.relname`)
	if err != nil {
		return err
	}
	if s.Tables, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Table]); err != nil {
		return err
	}
	for _, t := range s.Tables {
		if !t.Forced || t.Policies == 0 {
			s.Unguarded = append(s.Unguarded, t.Name)
		}
	}
	// The table of versions may be there and closed to this login: that is no version, and
	// no reason to fail.
	var open bool
	err = tx.QueryRow(ctx, `SELECT coalesce(pg_catalog.has_schema_privilege(n.oid, 'USAGE')
		AND pg_catalog.has_table_privilege(c.oid, 'SELECT'), false) FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'anamnesis' AND c.relname = 'schema_migrations'`).Scan(&open)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil || !open:
		return err
	}
	s.Version, err = version(ctx, tx)
	return err
}

// workspace asks what is of the workspace that is set.
func (s *Status) workspace(ctx context.Context, tx pgx.Tx) error {
	var may bool
	err := tx.QueryRow(ctx, "SELECT pg_catalog.has_function_privilege('anamnesis.principal()', 'EXECUTE')").Scan(&may)
	if err != nil || !may {
		return err
	}
	err = tx.QueryRow(ctx, "SELECT coalesce(anamnesis.principal(), ''), coalesce(anamnesis.member_role(), '')").Scan(&s.Principal, &s.Role)
	if err != nil || s.Role == "" {
		return err
	}
	return tx.QueryRow(ctx, `SELECT w.generation, w.notes, w.passages, (SELECT count(*)::int FROM anamnesis.members m WHERE m.workspace = w.id)
		FROM anamnesis.workspaces w WHERE w.id = anamnesis.current_workspace()`).Scan(&s.Generation, &s.Notes, &s.Passages, &s.Members)
}
