package postgrestest_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"anamnesis/internal/index/postgres/postgrestest"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// A server starts again at once after each way of ending it, whatever it was doing.
func TestStartsAgain(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found by /proc")
	}
	c := postgrestest.Own(t)
	dsn := c.Database(t)
	for name, end := range map[string]func(){
		"power":  c.Kill,
		"memory": c.Crash,
		"backend": func() {
			if !c.KillBackend() {
				t.Error("no process serves a connection")
			}
		},
	} {
		busy, cancel := context.WithCancel(t.Context())
		for range 4 {
			conn := connect(busy, t, dsn)
			go func() { _, _ = conn.Exec(busy, "SELECT sum(x) FROM generate_series(1, 200000000) x") }()
		}
		time.Sleep(100 * time.Millisecond) // so that they are at work
		end()
		if name != "backend" {
			if err := c.Start(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		cancel()
		_ = connect(t.Context(), t, dsn).Close(t.Context())
	}
}

// connect waits for a server that recovers.
func connect(ctx context.Context, t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := pgx.Connect(ctx, dsn)
		switch {
		case err == nil:
			return conn
		case time.Now().After(until):
			t.Fatal(err)
		}
	}
}
