// Package postgres is the index on PostgreSQL 14 or later, for the notes of several
// machines. The server finds and ranks by its own means: its full text, and pgvector where it
// has that. Text is analysed in Go, as everywhere. Which passages a question gets, and in which
// order, is the server's: it need not be what SQLite answers.
//
// No derived values are kept (index.Memos): a machine without a store is short-lived.
//
// Every statement names the workspace as its first parameter, and every transaction
// sets anamnesis.workspace, by which the server's own rules know it. A question is one
// round trip: what it sets and what it asks are sent together.
//
// No error of this package shows the address of the server, or a password.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres/schema"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

var _ index.Backend = (*DB)(nil)

// A DB is an open index: the parts of the contract, each a separate type, on one pool
// of connections.
type DB struct {
	*conn
	searcher
	catalogue
	graph
	vectors
	counters
	maintainer
}

// The parts of the contract.
type (
	searcher   struct{ *conn }
	catalogue  struct{ *conn }
	graph      struct{ *conn }
	vectors    struct{ *conn }
	counters   struct{ *conn }
	maintainer struct{ *conn }
)

// Options say where the database is and how it behaves.
type Options struct {
	DSN       string        // the address: postgres://user:password@host/database, or key=value; never shown
	Workspace string        // a UUID; "" is the one that the address names (?workspace=…)
	Origin    string        // the tree whose notes Apply writes
	Busy      time.Duration // how long to wait for another writer; 0 means 5 s
	Connect   time.Duration // how long to wait for a connection; 0 means 5 s
	ReadOnly  bool          // never write
	MaxConns  int           // at most so many connections at once; 0 means 4
	Vouches   bool          // of an owner of the workspace: rows say for which notes the user vouches; without it none does
	Lazy      bool          // connect with the first question; what keeps the server from answering is an index.ErrAway
}

// A conn is the pool, and what all parts ask it through.
type conn struct {
	opts   Options
	pool   *pgxpool.Pool
	origin string // as the database holds it (escape)

	mu      sync.Mutex // guards what follows
	version int64      // of our origin, as State read it and changes of ours left it; -1 when State was not called
	applied int        // how many changes of ours there were
	mark    string     // that our changes leave (Sign)

	greeting sync.Mutex // guards what follows
	greeted  bool       // the database is one of ours
	failure  error      // of the last try to find out
	tried    time.Time  // when that was

	half half // how the server compares vectors
}

// Errors of Open and Apply that callers tell apart. Those of package schema say that
// the database is older or newer than the program.
var (
	// ErrNoWorkspace says that the database does not have the workspace, or that the
	// user may not see it.
	ErrNoWorkspace = errors.New("the database does not have this workspace, or its user may not see it; the owner adds members")
	// ErrConflict says that somebody else has written the own origin since State was
	// asked: a copy of this machine, or another process of it. Nothing was changed.
	// Sync begins with State and compares again. It is an index.ErrBusy, too.
	ErrConflict = fmt.Errorf("another machine or process has written the notes of this origin; sync again (%w)", index.ErrBusy)
	// errWorkspace says that neither the options nor the address name a workspace in the form of one.
	errWorkspace = errors.New("open the shared index: its workspace is missing or no UUID; " +
		"`anamnesis team pg setup` prints one, and an address can end with ?workspace=ID")
	errReadOnly = errors.New("the shared index was opened for reading only")
)

// longest is how long one question may take when its caller sets no limit.
const longest = time.Minute

// Open connects to a database that was migrated (package schema), and has the workspace. With
// Lazy it asks nobody.
func Open(ctx context.Context, o Options) (*DB, error) {
	o.Busy, o.Connect, o.MaxConns = cmp.Or(o.Busy, 5*time.Second), cmp.Or(o.Connect, 5*time.Second), cmp.Or(o.MaxConns, 4)
	config, err := pgxpool.ParseConfig(o.DSN)
	if err != nil {
		return nil, fmt.Errorf("open the shared index: %w", schema.ErrDSN)
	}
	named := config.ConnConfig.RuntimeParams["workspace"]
	delete(config.ConnConfig.RuntimeParams, "workspace") // the server knows none of that name
	o.Workspace = strings.ToLower(strings.TrimSpace(cmp.Or(o.Workspace, named)))
	if !isUUID(o.Workspace) {
		return nil, errWorkspace
	}
	config.MaxConns, config.MinConns = int32(o.MaxConns), 0
	config.ConnConfig.ConnectTimeout = o.Connect
	config.ConnConfig.RuntimeParams["application_name"] = "anamnesis"
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the shared index: %w", schema.Plain(err))
	}
	c := &conn{opts: o, pool: pool, origin: escape(o.Origin), version: -1}
	if !o.Lazy {
		if err := c.greet(ctx); err != nil {
			pool.Close()
			return nil, fmt.Errorf("open the shared index: %w", err)
		}
	}
	return &DB{c, searcher{c}, catalogue{c}, graph{c}, vectors{c}, counters{c}, maintainer{c}}, nil
}

// Generation counts the changes that readers could see.
func (c *conn) Generation(ctx context.Context) (n int64, err error) {
	err = c.row(ctx, "SELECT generation FROM anamnesis.workspaces WHERE id = $1", nil, &n)
	return n, err
}

// Memo finds nothing: none is kept.
func (*conn) Memo(context.Context, string, string) (m index.Memo, ok bool, err error) {
	return m, false, nil
}

// Memos lists nothing: none is kept.
func (*conn) Memos(context.Context, string, int) ([]index.Memo, error) { return nil, nil }

// SetMemo keeps nothing.
func (*conn) SetMemo(context.Context, string, string, index.Memo, int) error { return nil }

// failureKept is how long the server is not asked again after it did not answer: what asks
// several things at once waits for it once.
const failureKept = 2 * time.Second

// ready is what comes before every question of a connection that is Lazy.
func (c *conn) ready(ctx context.Context) error {
	if !c.opts.Lazy {
		return nil
	}
	c.greeting.Lock()
	defer c.greeting.Unlock()
	if c.greeted {
		return nil
	}
	if c.failure != nil && time.Since(c.tried) < failureKept {
		return c.failure
	}
	c.failure = c.away(c.greet(ctx))
	c.greeted, c.tried = c.failure == nil, time.Now()
	return c.failure
}

// away says of an error of a connection that is Lazy that the server is not there.
func (c *conn) away(err error) error {
	if err == nil || !c.opts.Lazy || errors.Is(err, index.ErrAway) {
		return err
	}
	return fmt.Errorf("%w: %w", index.ErrAway, err)
}

// greet looks whether the database is one of ours.
func (c *conn) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.opts.Connect)
	defer cancel()
	if err := schema.Fits(ctx, c.pool); err != nil {
		return err
	}
	there := false
	err := c.once(ctx, enterSQL, func(r pgx.Rows) error { return r.Scan(&there) },
		"SELECT EXISTS (SELECT 1 FROM anamnesis.workspaces WHERE id = $1)", nil)
	if err != nil {
		return schema.Plain(err)
	}
	if !there {
		return ErrNoWorkspace
	}
	return nil
}

// Close closes the connections.
func (c *conn) Close() error {
	c.pool.Close()
	return nil
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, r := range s {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdef", r) {
			return false
		}
	}
	return true
}
