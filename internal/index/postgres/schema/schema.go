// Package schema is the layout of the shared database: numbered migrations, up and
// down, that the owner of the database applies. Everything stands in a schema named
// anamnesis.
//
// A migration runs in a separate transaction, under a lock that only one run holds.
// The table schema_migrations says which have run.
package schema

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var files embed.FS

// Errors that say that a database does not fit this program.
var (
	// ErrOlder says that migrations are missing. Migrate runs them.
	ErrOlder = errors.New("the schema of the database is older than this program")
	// errNewer says that a later version of the program has changed the schema.
	errNewer = errors.New("the schema of the database is newer than this program")
)

// A migration is a step from one version of the schema to the next, and back.
type migration struct {
	Version  int
	Name     string
	Up, Down string // statements
}

// migrations returns all of them in their order.
func migrations() ([]migration, error) { return read(files) }

func read(from fs.FS) ([]migration, error) {
	names, err := fs.Glob(from, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, name := range names { // sorted
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		base, direction, ok := strings.Cut(strings.TrimSuffix(path.Base(name), ".sql"), ".")
		number, title, ok2 := strings.Cut(base, "_")
		version, err := strconv.Atoi(number)
		if err != nil || !ok || !ok2 {
			return nil, fmt.Errorf("%s: a migration is called 0001_name.up.sql or 0001_name.down.sql", name)
		}
		if len(all) == 0 || all[len(all)-1].Version != version {
			all = append(all, migration{Version: version, Name: title})
		}
		m := &all[len(all)-1]
		switch {
		case m.Name != title:
			return nil, fmt.Errorf("%s: two migrations have the number %d", name, version)
		case direction == "up":
			m.Up = string(text)
		case direction == "down":
			m.Down = string(text)
		}
	}
	for i, m := range all {
		if m.Version != i+1 || m.Up == "" || m.Down == "" {
			return nil, fmt.Errorf("migration %d is missing, or one of its directions", i+1)
		}
	}
	return all, nil
}

// latest is the version that this program works with.
func latest() int {
	all, err := migrations()
	if err != nil {
		return 0 // a test reads them
	}
	return len(all)
}

// MigrateOptions say what Migrate does.
type MigrateOptions struct {
	DryRun bool // only say what would be done
	To     int  // the version to go to, up or down; 0 means the latest, -1 nothing at all
}

// A Report says what Migrate did, or would do.
type Report struct {
	From, To int
	Steps    []string // "up 1 tables", in their order
}

// lockKey is the advisory lock that a run of migrations holds.
const lockKey = 0x616e616d6e657369

// Migrate brings a database to a version. dsn is that of its owner. A step that fails
// leaves the database at the step before. Its errors do not show dsn.
func Migrate(ctx context.Context, dsn string, o MigrateOptions) (Report, error) {
	all, err := migrations()
	if err != nil {
		return Report{}, err
	}
	return migrate(ctx, dsn, o, all)
}

func migrate(ctx context.Context, dsn string, o MigrateOptions, all []migration) (rep Report, err error) {
	target := o.To
	switch {
	case target == 0:
		target = len(all)
	case target < 0:
		target = 0
	case target > len(all):
		return rep, fmt.Errorf("migrate the database to version %d: this program knows versions up to %d; update it", target, len(all))
	}
	conn, err := Connect(ctx, dsn)
	if err != nil {
		return rep, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if !o.DryRun {
		if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(lockKey)); err != nil {
			return rep, fmt.Errorf("migrate the database: wait for another migration: %w", Plain(err))
		}
	}
	now, err := version(ctx, conn)
	if err != nil {
		return rep, fmt.Errorf("migrate the database: %w", Plain(err))
	}
	rep.From, rep.To = now, now
	if now > len(all) {
		return rep, fmt.Errorf("%w (version %d, known up to %d): update anamnesis", errNewer, now, len(all))
	}
	for _, s := range plan(all, now, target) {
		if !o.DryRun {
			if err := s.run(ctx, conn); err != nil {
				return rep, fmt.Errorf("migrate the database: %s: %w; it is at version %d", s, Plain(err), rep.To)
			}
		}
		rep.To = s.leads()
		rep.Steps = append(rep.Steps, s.String())
	}
	return rep, nil
}

// A step is a migration in one direction.
type step struct {
	migration
	down bool
}

// plan lists the steps from one version to another.
func plan(all []migration, from, to int) (steps []step) {
	for _, m := range all[min(from, to):max(from, to)] {
		steps = append(steps, step{m, to < from})
	}
	if to < from {
		slices.Reverse(steps)
	}
	return steps
}

func (s step) String() string {
	return fmt.Sprintf("%s %d %s", map[bool]string{false: "up", true: "down"}[s.down], s.Version, s.Name)
}

// leads is the version after the step.
func (s step) leads() int {
	if s.down {
		return s.Version - 1
	}
	return s.Version
}

const bookSQL = `CREATE SCHEMA IF NOT EXISTS anamnesis;
CREATE TABLE IF NOT EXISTS anamnesis.schema_migrations (
	version integer PRIMARY KEY, name text NOT NULL, applied timestamptz NOT NULL DEFAULT now()
)`

// run makes the step in a transaction.
func (s step) run(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		exec := func(text string, args ...any) error {
			_, err := tx.Exec(ctx, text, args...)
			return err
		}
		if s.down {
			if err := exec(s.Down); err != nil {
				return err
			}
			if s.Version == 1 {
				return exec("DROP SCHEMA anamnesis CASCADE")
			}
			return exec("DELETE FROM anamnesis.schema_migrations WHERE version = $1", s.Version)
		}
		if err := exec(bookSQL); err != nil {
			return err
		}
		if err := exec(s.Up); err != nil {
			return err
		}
		return exec("INSERT INTO anamnesis.schema_migrations (version, name) VALUES ($1, $2)", s.Version, s.Name)
	})
}

// A Querier is a connection, a pool or a transaction.
type Querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// version returns which migration of a database was the last, 0 when none was.
func version(ctx context.Context, q Querier) (version int, err error) {
	var there bool
	if err = q.QueryRow(ctx, "SELECT to_regclass('anamnesis.schema_migrations') IS NOT NULL").Scan(&there); err == nil && there {
		err = q.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM anamnesis.schema_migrations").Scan(&version)
	}
	return version, err
}

// Fits returns nil when a database has the version that this program works with,
// else ErrOlder or errNewer and what to do.
func Fits(ctx context.Context, q Querier) error {
	version, err := version(ctx, q)
	switch latest := latest(); {
	case err != nil:
		return Plain(err)
	case version < latest:
		return fmt.Errorf("%w (version %d of %d): its owner runs `anamnesis team pg migrate`", ErrOlder, version, latest)
	case version > latest:
		return fmt.Errorf("%w (version %d, known up to %d): update anamnesis", errNewer, version, latest)
	}
	return nil
}

// AddWorkspace makes a workspace, whose id is a UUID. One that is there gets the name.
// dsn is that of the owner of the database.
func AddWorkspace(ctx context.Context, dsn, id, name string) error {
	conn, err := Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := Fits(ctx, conn); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `INSERT INTO anamnesis.workspaces
		(id, name, generation, last_note, last_passage, notes, passages, length_title, length_tags, length_body)
		VALUES ($1::uuid, $2, 0, 0, 0, 0, 0, 0, 0, 0) ON CONFLICT (id) DO UPDATE SET name = excluded.name`, id, name)
	if err != nil {
		return fmt.Errorf("make a workspace: %w", Plain(err))
	}
	return nil
}

// Workspaces lists the ids of the workspaces of a name, compared without regard to case.
// dsn is that of the owner of the database.
func Workspaces(ctx context.Context, dsn, name string) (ids []string, err error) {
	err = as(ctx, dsn, "", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT id::text FROM anamnesis.workspaces WHERE lower(name) = lower($1) ORDER BY id", name)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for a workspace: %w", named(err))
	}
	return ids, nil
}
