package schema

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"anamnesis/internal/index/postgres/postgrestest"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// three is a chain of migrations that goes on after our own.
func three(t *testing.T) []migration {
	t.Helper()
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"two", "three"} {
		all = append(all, migration{
			Version: len(all) + 1, Name: name,
			Up: "CREATE TABLE anamnesis." + name + " (workspace uuid PRIMARY KEY)", Down: "DROP TABLE anamnesis." + name,
		})
	}
	return all
}

func TestMigrate(t *testing.T) {
	dsn, all := postgrestest.DSN(t), three(t)
	latest := len(all)
	step := func(what string, o MigrateOptions, from, to, steps int) {
		t.Helper()
		rep, err := migrate(t.Context(), dsn, o, all)
		if err != nil || rep.From != from || rep.To != to || len(rep.Steps) != steps {
			t.Fatalf("%s: %+v, %v; want %d steps from %d to %d", what, rep, err, steps, from, to)
		}
	}
	step("what would be done", MigrateOptions{DryRun: true}, 0, latest, latest)
	step("up", MigrateOptions{To: latest - 1}, 0, latest-1, latest-1)
	step("to the latest", MigrateOptions{}, latest-1, latest, 1)
	step("again", MigrateOptions{}, latest, latest, 0)
	step("what would be taken back", MigrateOptions{DryRun: true, To: 1}, latest, 1, latest-1)
	step("down", MigrateOptions{To: -1}, latest, 0, latest)
	conn, err := Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	left := 0
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname = 'anamnesis'").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d schemas are left, %v", left, err)
	}
	step("and up again", MigrateOptions{}, 0, latest, latest)
}

// A step that fails leaves the step before, and says where the database stands.
func TestMigrateFails(t *testing.T) {
	dsn, all := postgrestest.DSN(t), three(t)
	latest := len(all)
	all[latest-1].Up = "CREATE TABLE anamnesis.half (workspace uuid); SELECT broken"
	rep, err := migrate(t.Context(), dsn, MigrateOptions{}, all)
	if err == nil || rep.To != latest-1 || !strings.Contains(err.Error(), fmt.Sprintf("at version %d", latest-1)) {
		t.Fatalf("%+v, %v", rep, err)
	}
	conn, err := Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var half *string
	if err := conn.QueryRow(t.Context(), "SELECT to_regclass('anamnesis.half')::text").Scan(&half); err != nil || half != nil {
		t.Errorf("half of a step is there: %v, %v", half, err)
	}
	if v, err := version(t.Context(), conn); v != latest-1 || err != nil {
		t.Errorf("Version = %d, %v", v, err)
	}
}

func TestFits(t *testing.T) {
	dsn, all := postgrestest.DSN(t), three(t)
	known := len(all) - 2
	fits := func(want error) {
		t.Helper()
		conn, err := Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if err := Fits(t.Context(), conn); !errors.Is(err, want) {
			t.Errorf("Fits = %v, want %v", err, want)
		}
		if err := AddWorkspace(t.Context(), dsn, "6b1f0f7e-6f0a-4a38-9f5c-0d1f6c1f2a33", "team"); !errors.Is(err, want) {
			t.Errorf("AddWorkspace = %v, want %v", err, want)
		}
	}
	fits(ErrOlder)
	if _, err := migrate(t.Context(), dsn, MigrateOptions{}, all[:known]); err != nil {
		t.Fatal(err)
	}
	fits(nil)
	if _, err := migrate(t.Context(), dsn, MigrateOptions{}, all); err != nil {
		t.Fatal(err)
	}
	fits(errNewer)
	if _, err := Migrate(t.Context(), dsn, MigrateOptions{}); !errors.Is(err, errNewer) {
		t.Errorf("Migrate of a newer schema: %v, want ErrNewer", err)
	}
	if _, err := Migrate(t.Context(), dsn, MigrateOptions{To: 99}); err == nil {
		t.Error("a version that nobody knows was gone to")
	}
}

// Passages of before migration 6 get their words with it, though the owner who migrates sees no row of them.
func TestWordsOfBefore(t *testing.T) {
	h := built(t)
	h.fill()
	for what, forward := range map[string]string{
		"a title, a tag and a body": "'\\x01000100010011223344aabbccddeeff0011'", "no token": "'\\x000000000000'", "no list": "'\\x00'",
	} {
		want := map[bool]string{true: "'11223344':1A 'aabbccdd':2B 'eeff0011':3"}[strings.Contains(forward, "eeff")]
		h.exec(h.super, "UPDATE anamnesis.passages SET forward = "+forward)
		for _, o := range []MigrateOptions{{To: 5}, {}} {
			if _, err := Migrate(t.Context(), h.owner, o); err != nil {
				t.Fatal(err)
			}
		}
		n := h.text(h.super, "SELECT count(DISTINCT words::text)::text || min(words::text) FROM anamnesis.passages")
		if n != "1"+want {
			t.Errorf("%s: %q, want %q", what, n, want)
		}
	}
}

// Two runs at once take turns.
func TestMigrateAtOnce(t *testing.T) {
	dsn := postgrestest.DSN(t)
	failed := make(chan error, 4)
	for range cap(failed) {
		go func() {
			_, err := Migrate(t.Context(), dsn, MigrateOptions{})
			failed <- err
		}()
	}
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

func TestReadMigrations(t *testing.T) {
	file := func(names ...string) fstest.MapFS {
		all := fstest.MapFS{}
		for _, n := range names {
			all["migrations/"+n] = &fstest.MapFile{Data: []byte("SELECT 1")}
		}
		return all
	}
	for _, c := range []struct {
		files fstest.MapFS
		want  string
	}{
		{file("0001_a.up.sql", "0001_a.down.sql", "0002_b.up.sql", "0002_b.down.sql"), ""},
		{file("0001_a.up.sql"), "is missing"},
		{file("0002_a.up.sql", "0002_a.down.sql"), "is missing"},
		{file("0001_a.up.sql", "0001_b.down.sql"), "two migrations"},
		{file("a.up.sql"), "is called"},
		{file("0001_a.sql"), "is called"},
	} {
		_, err := read(c.files)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.files, err, c.want)
		}
	}
}

// No error shows the address of the server, a user or a password.
func TestErrorsKeepSecrets(t *testing.T) {
	good := postgrestest.DSN(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for what, dsn := range map[string]string{
		"a wrong password":  strings.Replace(good, postgrestest.Password, "s3cret", 1),
		"no such user":      strings.Replace(good, "postgres:"+postgrestest.Password, "mallory:s3cret", 1),
		"no such database":  strings.Replace(good, "/t", "/nope_t", 1),
		"an unknown host":   "postgres://mallory:s3cret@db.invalid/team",
		"a closed port":     "postgres://mallory:s3cret@127.0.0.1:1/team",
		"a silent server":   "postgres://mallory:s3cret@" + silent.Addr().String() + "/team",
		"a port of letters": "postgres://mallory:s3cret@db.invalid:s3cret/team",
		"no address":        "host=db.invalid password='s3cret",
		"no such file":      "postgres://mallory:s3cret@db.invalid/team?sslmode=verify-full&sslrootcert=/s3cret",
		"an unknown mode":   "postgres://mallory:s3cret@db.invalid/team?sslmode=s3cret",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := Migrate(ctx, dsn, MigrateOptions{})
		cancel()
		if err == nil {
			t.Errorf("%s: no error", what)
			continue
		}
		for _, secret := range []string{"s3cret", "mallory", "db.invalid", "127.0.0.1", postgrestest.Password, "team"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error shows %q: %v", what, secret, err)
			}
		}
	}
}
