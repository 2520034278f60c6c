package postgrestest

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

//go:embed pglite.cjs
var pgliteScript string

// lite is the PGlite of this test binary.
var lite struct {
	once sync.Once
	dsn  string
	err  error
	cmd  *exec.Cmd
}

// PGlite returns the address of an empty database of PGlite, PostgreSQL within a program
// of node, with pgvector. It is one for all tests of the binary, and has one session,
// which all connections take in turns: prepared statements have no names there.
// ANAMNESIS_TEST_PGLITE names the folder of node_modules that has it.
func PGlite(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("ANAMNESIS_TEST_PGLITE")
	if _, err := os.Stat(filepath.Join(dir, "@electric-sql", "pglite")); dir == "" || err != nil {
		const missing = "ANAMNESIS_TEST_PGLITE does not name a folder of node_modules with @electric-sql/pglite"
		if os.Getenv("ANAMNESIS_CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	lite.once.Do(func() { lite.dsn, lite.err = startLite(dir) })
	if lite.err != nil {
		t.Fatal(lite.err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, lite.dsn)
	if err == nil {
		_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS anamnesis CASCADE")
		_ = conn.Close(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lite.dsn
}

func startLite(dir string) (string, error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	// It lives as long as the binary, whose end ends its input.
	cmd := exec.Command("node", "-e", pgliteScript, dir, strconv.Itoa(port))
	cmd.Stderr = os.Stderr
	if _, err = cmd.StdinPipe(); err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start PGlite: %w", err)
	}
	lite.cmd = cmd
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return "", fmt.Errorf("PGlite does not start: %q, %w", line, err)
	}
	const address = "postgres://postgres:%s@127.0.0.1:%d/postgres?sslmode=disable&default_query_exec_mode=cache_describe"
	return fmt.Sprintf(address, Password, port), nil
}

// freePort returns a port of the loopback that nobody listens on. It is none of those that
// the system gives to outgoing connections: a server that starts again would find its port
// in use now and then, if only by a client that tries to reach it.
func freePort() (int, error) {
	for range 100 {
		port := 15_000 + rand.IntN(15_000)
		if l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no port is free")
}
