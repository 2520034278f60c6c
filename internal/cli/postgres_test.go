package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/postgrestest"
	"anamnesis/internal/index/postgres/schema"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
)

// otherIndexVar names the database on which a test runs the whole program instead of on
// the file of each store.
const otherIndexVar = "ANAMNESIS_TEST_INDEX"

// useOtherIndex makes this process use that database: a workspace for each store.
func useOtherIndex() {
	dsn := os.Getenv(otherIndexVar)
	if dsn == "" {
		return
	}
	otherIndex = func(ctx context.Context, root string) (index.Backend, error) {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		workspace := workspaceOf(root)
		if err := schema.AddWorkspace(ctx, dsn, workspace, filepath.Base(root)); err != nil {
			return nil, err
		}
		return postgres.Open(ctx, postgres.Options{
			DSN: dsn, Workspace: workspace, Origin: "here", Busy: time.Minute, Connect: time.Minute, Vouches: true,
		})
	}
}

// workspaceOf makes an id of a name.
func workspaceOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// havePostgres reports whether there is a server to test with. Where everything must be
// there it is a failure that there is none.
func havePostgres() bool {
	bin := os.Getenv("ANAMNESIS_TEST_POSTGRES")
	_, err := os.Stat(filepath.Join(bin, "initdb"))
	return bin != "" && err == nil || os.Getenv("ANAMNESIS_CI") != ""
}

// cmdPostgres gives a script a separate database with a workspace: DSN and WORKSPACE.
// With the word "empty" there is nothing in it; "login NAME..." makes logins, whose
// addresses are DSN_NAME, and with a wrong password WRONG_NAME; "sql STATEMENT" is run as the administrator; "silent" is the
// address of a server that takes connections and says nothing, DSN_silent.
func cmdPostgres(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		if len(args) > 1 && args[0] == "login" {
			logins(ts, args[1:])
			return
		}
		switch {
		case len(args) == 2 && args[0] == "sql":
			conn, err := pgx.Connect(context.Background(), ts.Getenv("DSN"))
			ts.Check(err)
			_, err = conn.Exec(context.Background(), args[1])
			ts.Check(errors.Join(err, conn.Close(context.Background())))
			return
		case len(args) == 1 && args[0] == "silent":
			l, err := net.Listen("tcp", "127.0.0.1:0") // whose connections wait in its queue
			ts.Check(err)
			ts.Defer(func() { _ = l.Close() })
			ts.Setenv("DSN_silent", "postgres://alice:pw-alice@"+l.Addr().String()+"/x?sslmode=disable")
			return
		}
		dsn, workspace := postgrestest.DSN(t), workspaceOf(ts.Name())
		if len(args) > 0 {
			ts.Setenv("DSN", dsn)
			return
		}
		_, err := schema.Migrate(t.Context(), dsn, schema.MigrateOptions{})
		ts.Check(err)
		ts.Check(schema.AddWorkspace(t.Context(), dsn, workspace, "the team"))
		ts.Setenv("DSN", dsn)
		ts.Setenv("WORKSPACE", workspace)
	}
}

// logins makes logins of the server, which may do nothing yet.
func logins(ts *testscript.TestScript, names []string) {
	conn, err := pgx.Connect(context.Background(), ts.Getenv("DSN"))
	ts.Check(err)
	defer func() { _ = conn.Close(context.Background()) }()
	u, err := url.Parse(ts.Getenv("DSN"))
	ts.Check(err)
	for _, name := range names {
		var there bool // roles are of the whole server
		ts.Check(conn.QueryRow(context.Background(), "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", name).Scan(&there))
		if !there {
			_, err := conn.Exec(context.Background(), "CREATE ROLE "+pgx.Identifier{name}.Sanitize()+" LOGIN PASSWORD 'pw-"+name+"'")
			ts.Check(err)
		}
		u.User = url.UserPassword(name, "pw-"+name)
		ts.Setenv("DSN_"+name, u.String())
		u.User = url.UserPassword(name, "pw-wrong7")
		ts.Setenv("WRONG_"+name, u.String())
	}
}

// offPostgres lists the proofs of what only the local index has.
var offPostgres = []string{
	"T1.txtar", // a mirror of what a database holds
	"R9.txtar", // kept answers
	// Vectors: the server of the tests has no pgvector.
	"C1.txtar", "R7.txtar", "R12.txtar", "R21.txtar",
}

// TestProofsOnPostgres runs the proofs of all features with the index on Postgres.
func TestProofsOnPostgres(t *testing.T) {
	if testing.Short() || os.Getenv("ANAMNESIS_MUTANT") != "" {
		t.Skip("the proofs run on SQLite alone")
	}
	dsn := postgrestest.DSN(t)
	if _, err := schema.Migrate(t.Context(), dsn, schema.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "proof", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	p := proofParams(t)
	p.Dir, p.Files = "", slices.DeleteFunc(files, func(f string) bool {
		return slices.Contains(offPostgres, filepath.Base(f))
	})
	setup := p.Setup
	p.Setup = func(env *testscript.Env) error {
		env.Setenv(otherIndexVar, dsn)
		return setup(env)
	}
	testscript.Run(t, p)
}
