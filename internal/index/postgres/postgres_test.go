package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/indextest"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/postgrestest"
	"anamnesis/internal/index/postgres/schema"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// team is the workspace of the tests.
const team = "6b1f0f7e-6f0a-4a38-9f5c-0d1f6c1f2a33"

// migrated returns the address of a new database with the schema and a workspace.
func migrated(t testing.TB) string {
	t.Helper()
	dsn := postgrestest.DSN(t)
	prepare(t, dsn)
	return dsn
}

func prepare(t testing.TB, dsn string) {
	t.Helper()
	if _, err := schema.Migrate(t.Context(), dsn, schema.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := schema.AddWorkspace(t.Context(), dsn, team, "team"); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, o postgres.Options) *postgres.DB {
	t.Helper()
	if o.Workspace == "" {
		o.Workspace = team
	}
	db, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestContract(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Database {
		dsn := migrated(t)
		return indextest.Database{
			Open: func(t *testing.T, origin string) index.Backend {
				return open(t, postgres.Options{DSN: dsn, Origin: origin, Busy: 50 * time.Millisecond})
			},
			Hold: func(t *testing.T) func() { return hold(t, dsn) },
		}
	})
}

// The whole contract on PGlite, where statements have no names: so it is behind a pooler.
func TestContractPGlite(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Database {
		dsn := postgrestest.PGlite(t)
		prepare(t, dsn)
		return indextest.Database{Open: func(t *testing.T, origin string) index.Backend {
			return open(t, postgres.Options{DSN: dsn, Origin: origin})
		}}
	})
}

// The whole contract once more, where the server compares the vectors.
func TestContractPgvector(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Database {
		dsn := postgrestest.PGlite(t)
		prepare(t, dsn)
		useVector(t, dsn, schema.VectorOptions{}, "pgvector")
		return indextest.Database{Open: func(t *testing.T, origin string) index.Backend {
			return open(t, postgres.Options{DSN: dsn, Origin: origin})
		}}
	})
}

// useVector lets the server compare vectors, and looks at the last thing that was done.
func useVector(t *testing.T, dsn string, o schema.VectorOptions, want string) {
	t.Helper()
	steps, err := schema.UseVector(t.Context(), dsn, o)
	if err != nil || want != "" && (len(steps) == 0 || !strings.Contains(steps[len(steps)-1], want)) || want == "" && len(steps) > 0 {
		t.Fatalf("%q, %v; want %q", steps, err, want)
	}
}

// hold begins to write to the workspace, and does not end until it is released.
func hold(t *testing.T, dsn string) (release func()) {
	t.Helper()
	conn, err := schema.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "SELECT 1 FROM anamnesis.workspaces WHERE id = $1 FOR NO KEY UPDATE", team)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(context.Background()); err != nil {
			t.Error(err)
		}
		_ = conn.Close(context.Background())
	}
}
