// Package postgrestest runs database servers for tests: a separate
// cluster of PostgreSQL, on a free port of the loopback, below a temporary folder, and a PGlite.
//
// ANAMNESIS_TEST_POSTGRES names the folder with initdb and postgres, and
// ANAMNESIS_TEST_PGLITE that with the packages of PGlite. Without them tests are skipped,
// and with ANAMNESIS_CI they fail.
package postgrestest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Password is that of the user postgres of every cluster here.
const Password = "a-password-that-no-error-may-show"

// folderPrefix begins the names of the folders that clusters live in.
const folderPrefix = "anamnesis-postgres-"

// A Cluster is a server of PostgreSQL.
type Cluster struct {
	bin, dir string
	port     int
	tiny     bool // there is a disk of a few MB for databases
	names    atomic.Int64

	mu     sync.Mutex // guards what follows
	server *exec.Cmd
	ended  chan struct{} // closed when server has ended
}

// shared is the cluster of this test binary.
var shared struct {
	once sync.Once
	*Cluster
	err error
}

// Main runs the tests of a package, and takes away what they shared. A TestMain calls it.
func Main(m interface{ Run() int }) {
	code := m.Run()
	if c := shared.Cluster; c != nil {
		c.Kill()
		_ = os.RemoveAll(c.dir)
	}
	if lite.cmd != nil {
		_ = lite.cmd.Process.Kill()
		_ = lite.cmd.Wait()
	}
	os.Exit(code)
}

// DSN returns the address of a new, empty database. The server is that of the test
// binary, which runs until the binary ends.
func DSN(t testing.TB) string {
	t.Helper()
	bin := programs(t)
	shared.once.Do(func() { shared.Cluster, shared.err = newCluster(bin, false) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.Database(t)
}

// Own starts a cluster for one test, which may kill it.
func Own(t testing.TB) *Cluster {
	t.Helper()
	return own(t, false)
}

func own(t testing.TB, tiny bool) *Cluster {
	t.Helper()
	c, err := newCluster(programs(t), tiny)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Kill()
		_ = c.clear()
		_ = os.RemoveAll(c.dir)
	})
	return c
}

// programs returns the folder of the programs of PostgreSQL.
func programs(t testing.TB) string {
	t.Helper()
	bin := os.Getenv("ANAMNESIS_TEST_POSTGRES")
	if _, err := os.Stat(filepath.Join(bin, "initdb")); bin != "" && err == nil {
		if real, err := filepath.EvalSymlinks(bin); err == nil {
			return real // the link may be in a folder that the user of the server may not enter
		}
		return bin
	}
	const missing = "ANAMNESIS_TEST_POSTGRES does not name the folder of a PostgreSQL (/usr/lib/postgresql/15/bin, for instance)"
	if os.Getenv("ANAMNESIS_CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// newCluster makes a cluster and starts its server.
func newCluster(bin string, tiny bool) (*Cluster, error) {
	sweep()
	dir, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return nil, err
	}
	c := &Cluster{bin: bin, dir: dir, tiny: tiny}
	if err := errors.Join(c.initialize(), c.Start()); err != nil {
		c.Kill()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

func (c *Cluster) initialize() error {
	secret := filepath.Join(c.dir, "password")
	if err := os.WriteFile(secret, []byte(Password), 0o600); err != nil {
		return err
	}
	if err := give(c.dir, secret); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "initdb"), "-D", c.data(), "-U", "postgres", "--pwfile", secret,
		"-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync")
	c.prepare(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (c *Cluster) data() string { return filepath.Join(c.dir, "data") }

// prepare gives a program a folder that its user may stand in.
func (c *Cluster) prepare(cmd *exec.Cmd) {
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	lower(cmd)
}

// Start starts the server, and waits until it answers. What is left of one that was killed
// goes first: its shared memory is in use as long as any process of it lives, and a new
// server does not start then.
func (c *Cluster) Start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.clear(); err != nil {
		return err
	}
	if c.port == 0 {
		var err error
		if c.port, err = freePort(); err != nil {
			return err
		}
	}
	log, err := os.OpenFile(filepath.Join(c.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{
		filepath.Join(c.bin, "postgres"), "-D", c.data(), "-p", strconv.Itoa(c.port), "-k", "",
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=64MB",
	}
	if c.tiny {
		args = slices.Concat(apart, []string{mountTiny, c.disk()}, args)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	c.prepare(cmd)
	c.server, c.ended = cmd, make(chan struct{})
	if err := run(cmd, c.ended); err != nil {
		return fmt.Errorf("start postgres: %w", err)
	}
	return c.wait(log.Name())
}

// run starts a program, which gets a signal when this one ends. That holds for the
// thread that started it, which has to live as long as the program.
func run(cmd *exec.Cmd, ended chan struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
		close(ended)
	}()
	return <-started
}

// wait waits until the server answers.
func (c *Cluster) wait(log string) error {
	var err error
	for range 300 {
		var conn *pgx.Conn
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		if conn, err = pgx.Connect(ctx, c.Address("postgres")); err == nil {
			_ = conn.Close(ctx)
			cancel()
			return nil
		}
		cancel()
		select {
		case <-c.ended:
			said, _ := os.ReadFile(log)
			return fmt.Errorf("postgres ended: %s", said)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("postgres does not answer: %w", err)
}

// Crash kills the first process of the server alone, as a system without memory does. The
// others live on for as long as their questions take.
func (c *Cluster) Crash() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil || c.server.Process == nil {
		return
	}
	_ = c.server.Process.Kill()
	<-c.ended
	c.server = nil
}

// KillBackend kills a process that serves a connection, upon which the server ends all
// others and recovers. It reports whether there was one.
func (c *Cluster) KillBackend() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil || c.server.Process == nil {
		return false
	}
	return killBackend(c.server.Process.Pid)
}

// clear waits until no process works in the folder of the data, and kills those that do.
func (c *Cluster) clear() error {
	for range 600 {
		left := working(c.data())
		if len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			kill(pid)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("processes of a server that was killed do not end")
}

// Kill ends the server as if its machine had lost power.
func (c *Cluster) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil || c.server.Process == nil {
		return
	}
	stop(c.server)
	<-c.ended
	c.server = nil
}

// Address returns the address of a database of the cluster.
func (c *Cluster) Address(database string) string {
	return fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/%s?sslmode=disable", Password, c.port, database)
}

// Database makes a new database, which goes with the test, and returns its address.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t%d", c.names.Add(1))
	if err := c.command("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.command("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)") })
	return c.Address(name)
}

// command runs a command of an administrator.
func (c *Cluster) command(text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.Address("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, text)
	return err
}

// sweep removes the folders of clusters whose servers are gone: those of test
// binaries that were killed.
func sweep() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*"))
	for _, dir := range dirs {
		fi, err := os.Lstat(dir)
		if err != nil || time.Since(fi.ModTime()) < time.Minute { // it may be starting
			continue
		}
		said, _ := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
		line, _, _ := strings.Cut(string(said), "\n")
		if pid, err := strconv.Atoi(cmp.Or(line, "0")); err == nil && (pid <= 0 || !alive(pid)) {
			_ = os.RemoveAll(dir)
		}
	}
}
