// Package sqlite is the index on SQLite: plain tables in one file, and beside it files
// of the full text and of the vectors. All of them can be deleted at any moment.
//
// Readers and the writer use connections of their own, so that a reader sees
// the last committed state while a batch is written. The database is in WAL
// mode with synchronous=NORMAL: a power cut can lose the last batches, which
// Sync makes again, and cannot damage the file.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
)

var _ index.Backend = (*DB)(nil)

// A DB is an open index: the parts of the contract, each a separate type, on
// one connection.
type DB struct {
	*conn
	searcher
	catalogue
	graph
	vectors
	counters
	memos
	maintainer
}

// The parts of the contract.
type (
	searcher   struct{ *conn }
	catalogue  struct{ *conn }
	graph      struct{ *conn }
	vectors    struct{ *conn }
	counters   struct{ *conn }
	memos      struct{ *conn }
	maintainer struct{ *conn }
)

// Options say where the database is and how it behaves.
type Options struct {
	Path     string        // the file; its folder exists
	Origin   string        // the tree whose notes Apply writes; "" for a database of one tree alone, which keeps no texts
	ReadOnly bool          // never write: a missing file is made in memory
	Busy     time.Duration // how long to wait for another writer; 0 means 5 s
	Keep     bool          // make nothing, and set nothing aside: what is not an index of this version is an error
	Brief    bool          // a few questions, and the process ends: what each connection reads first costs more than taking turns

	// Degraded is shown, once and in one line, that the file cannot be written any more,
	// what answers instead and what to do; nil tells nobody. Open tells it by Notice.
	Degraded func(line string)
}

// A conn is the open file, and what all parts ask it through.
type conn struct {
	opts   Options
	seen   string // the condition that lets one note of each id through (visible)
	path   string // the file in use: not Options.Path when that is a newer version's
	notice string

	readOnly atomic.Bool // Options.ReadOnly, or the file turned out to be unwritable
	degraded atomic.Bool // the second of these

	healing sync.Mutex // held while a damaged file is replaced; taken before mu
	unmade  bool       // the handles are closed, and no new ones are made yet; written with healing and mu held
	mu      sync.Mutex // guards the handles, not the database
	read    *sql.DB
	write   *sql.DB
	opened  os.FileInfo

	copyOf    *flat.Vectors // the vectors in one file, when it was used
	copyFile  os.FileInfo
	oldCopies []*flat.Vectors

	full fullText

	statements   map[string]*sql.Stmt // questions that statementsOf was asked before
	statementsOf *sql.DB

	keeping sync.Mutex           // while kept is added to; taken before mu
	kept    map[string]*sql.Stmt // what transactions of keptOf need again and again; never changed, but replaced
	uses    map[string]int       // how many transactions prepared it for themselves
	keptOf  *sql.DB
}

// errNewer says that a later version of the program made the file.
var errNewer = errors.New("made by a newer version")

// errForeign says that the file cannot be read as it stands (Options.Keep).
var errForeign = errors.New("it is no index of this version")

// errBroken says that something is missing that is always there.
var errBroken = errors.New("the database is damaged")

// Open opens the database, or makes it. A file that is not ours is set aside,
// one of a newer version is left alone and another name is used, an older or
// damaged one is rebuilt. Notice tells which of these happened.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Busy == 0 {
		o.Busy = 5 * time.Second
	}
	d := newConn(o, o.Path)
	err := d.open(ctx)
	if errors.Is(err, errNewer) {
		d.path = filepath.Join(filepath.Dir(o.Path), fmt.Sprintf("index.v%d.db", schemaVersion))
		d.notice = fmt.Sprintf("%s belongs to a newer version of anamnesis; using %s", o.Path, d.path)
		err = d.open(ctx)
	}
	if err != nil && !o.ReadOnly && !o.Keep && unwritable(err) { // a full disk, say: questions can be answered all the same
		d = newConn(o, d.path)
		d.readOnly.Store(true)
		d.degraded.Store(true)
		d.notice = d.advice(err)
		err = d.open(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open index %s: %w", d.path, err)
	}
	d.seen = d.visible("n")
	return &DB{d, searcher{d}, catalogue{d}, graph{d}, vectors{d}, counters{d}, memos{d}, maintainer{d}}, nil
}

func newConn(o Options, path string) *conn {
	d := &conn{opts: o, path: path}
	d.readOnly.Store(o.ReadOnly)
	return d
}

// Notice tells what Open did that the owner should know, or "".
func (d *conn) Notice() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.notice
}

// Path returns the file in use.
func (d *conn) Path() string { return d.path }

func (d *conn) open(ctx context.Context) error {
	fi, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !d.opts.Keep:
		return d.create(ctx)
	case err != nil:
		return err
	case !fi.Mode().IsRegular() && d.opts.Keep:
		return errForeign
	case !fi.Mode().IsRegular() && !d.readOnly.Load(): // a folder, say
		return d.setAside(ctx)
	}
	if err := d.connect(); err != nil {
		return err
	}
	ours, version, err := d.identify(ctx)
	switch {
	case err == nil && ours && version == schemaVersion:
		return nil
	case d.opts.Keep:
		d.disconnect()
		return errors.Join(errForeign, err)
	case err == nil && ours && version > schemaVersion:
		d.disconnect()
		return errNewer
	case d.readOnly.Load(): // what cannot be read either is made in memory
		d.disconnect()
		return d.create(ctx)
	case err != nil && !damaged(err):
		d.disconnect()
		return err
	case err == nil && ours: // older: its tables go, the file stays
		if err := d.recreate(ctx); err != nil {
			return err
		}
		d.vacuum(ctx)
		return nil
	case err == nil && version == 0 && d.empty(ctx): // a crash left a file without a schema
		return d.recreate(ctx)
	}
	d.disconnect()
	return d.setAside(ctx)
}

// identify reads who made the database.
func (d *conn) identify(ctx context.Context) (ours bool, version int, err error) {
	return identifyIn(ctx, d.read)
}

func (d *conn) empty(ctx context.Context) bool {
	var n int
	err := d.read.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n)
	return err == nil && n == 0
}

// create makes a new database, in memory when nothing may be written. Other processes see no file or a whole one: of several that
// make one at a time, the first one's counts.
func (d *conn) create(ctx context.Context) error {
	if !d.readOnly.Load() {
		made, err := d.publish(ctx)
		if err != nil {
			return err
		}
		if made {
			return d.connect()
		}
		// Its disk knows no second name of a file. SQLite would make it readable by others; its other files follow this one.
		if f, err := os.OpenFile(d.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
		}
	}
	if err := d.connect(); err != nil {
		return err
	}
	return d.recreate(ctx)
}

// publish makes a database beside the path and gives it the path as its second name, unless another process was faster. made is
// false, without an error, where that cannot be done.
func (d *conn) publish(ctx context.Context) (made bool, err error) {
	const beside = ".new-*"
	if left, err := filepath.Glob(d.path + beside); err == nil { // of processes that died
		for _, name := range left {
			if fi, err := os.Stat(name); err == nil && time.Since(fi.ModTime()) > time.Hour {
				_ = os.Remove(name)
			}
		}
	}
	f, err := os.CreateTemp(filepath.Dir(d.path), filepath.Base(d.path)+beside)
	if err != nil {
		return false, nil // SQLite says what is wrong, in codes that others know
	}
	name := f.Name()
	_ = f.Close()
	defer func() {
		for _, ext := range []string{"", "-wal", "-shm", "-journal"} {
			_ = os.Remove(name + ext)
		}
	}()
	aside := newConn(d.opts, name)
	if err = aside.connect(); err != nil {
		return false, err
	}
	if _, err = aside.rebuild(ctx, false); err == nil {
		_, err = aside.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	aside.disconnect()
	if err != nil {
		return false, err
	}
	if err = os.Link(name, d.path); errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return err == nil, nil
}

// recreate makes the schema in the place of whatever tables there are.
func (d *conn) recreate(ctx context.Context) error {
	if _, err := d.rebuild(ctx, false); err != nil {
		d.disconnect()
		return err
	}
	return d.recordFile()
}

// rebuild drops every table and makes the schema, in one transaction. Without
// always it leaves a schema of this version as it is; with it, memos stay, which
// say themselves at which generation they were right. It returns the handle that
// it used.
func (d *conn) rebuild(ctx context.Context, always bool) (*sql.DB, error) {
	return d.transact(ctx, func(w *writer) {
		if ours, version, err := identifyIn(ctx, w.tx); err == nil && ours && version == schemaVersion && !always {
			return // another process was faster
		}
		once := func(text string) {
			if w.err == nil {
				_, w.err = w.tx.ExecContext(ctx, text)
			}
		}
		values := map[string]int64{"epoch": rand.Int64N(math.MaxInt64-1) + 1}
		if always {
			once("CREATE TEMP TABLE kept AS SELECT * FROM memos")
			w.query("SELECT value FROM meta WHERE key = 'generation'", func(r *sql.Rows) error {
				var generation int64
				err := r.Scan(&generation)
				values["generation"], values["residue"] = generation+1, generation+1 // the log still holds what the tables were
				return err
			})
		}
		for _, t := range append([]string{"vocabulary", "postings", "fts"}, tables...) { // the three are of versions before 14
			once("DROP TABLE IF EXISTS " + t)
		}
		once(schema + fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;", applicationID, schemaVersion))
		for key, value := range values {
			once(fmt.Sprintf("INSERT INTO meta (key, value) VALUES ('%s', %d)", key, value))
		}
		if always {
			once("INSERT INTO memos SELECT * FROM temp.kept; DROP TABLE temp.kept")
		}
	})
}

// vacuum writes the file without what earlier versions left in free pages. It is
// worth a try: somebody may be reading, and the file is sound without it.
func (d *conn) vacuum(ctx context.Context) {
	_, _ = d.write.ExecContext(ctx, "VACUUM")
	_, _ = d.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
}

// identifyIn reads it in a handle or a transaction.
func identifyIn(ctx context.Context, in interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (ours bool, version int, err error) {
	var app int
	if err = in.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err == nil {
		err = in.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	}
	return app == applicationID, version, err
}

// connect opens the handles. Connections are made when they are first used. The file is not
// mapped into memory: one that is cut would end the process where it is damaged now.
func (d *conn) connect() error {
	busy := d.opts.Busy.Milliseconds()
	if d.readOnly.Load() {
		return d.connectReadOnly()
	}
	dsn := func(extra string) string {
		u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(d.path)}).EscapedPath()}
		u.RawQuery = fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=temp_store(MEMORY)%s", busy, extra)
		return u.String()
	}
	var err error
	const writing = "&_pragma=synchronous(NORMAL)&_pragma=journal_mode(WAL)&_pragma=secure_delete(ON)" +
		"&_pragma=cache_size(-65536)&_pragma=wal_autocheckpoint(8192)&_txlock=immediate"
	if d.write, err = sql.Open("sqlite", dsn(writing)); err != nil {
		return err
	}
	d.write.SetMaxOpenConns(1)
	reading := "&_pragma=cache_size(-16384)"
	if d.opts.Brief { // each takes a tenth of a millisecond
		reading = ""
	}
	if d.read, err = sql.Open("sqlite", dsn(reading)); err != nil {
		return err
	}
	d.read.SetMaxOpenConns(4)
	if d.opts.Brief {
		d.read.SetMaxOpenConns(1)
	}
	d.read.SetMaxIdleConns(4)
	return d.recordFile()
}

// connectReadOnly opens the file as it stands, without a lock or a journal,
// or an empty database in memory when there is no file that can be used.
func (d *conn) connectReadOnly() error {
	dsn := "file::memory:?cache=private"
	if fi, err := os.Stat(d.path); err == nil && fi.Size() > 0 && fi.Mode().IsRegular() &&
		d.read == nil { // a second try means that the file is of no use
		u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(d.path)}).EscapedPath(), RawQuery: "mode=ro&immutable=1"}
		dsn = u.String()
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // a database in memory lives as long as its connection
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	d.read, d.write = db, db
	return nil
}

// disconnect closes the handles; using them gives an error from then on.
func (d *conn) disconnect() {
	if d.read != nil {
		_ = d.read.Close()
	}
	if d.write != nil && d.write != d.read {
		_ = d.write.Close()
	}
}

// recordFile notes which file is open, to notice when it is replaced. It does
// not open the file: closing a second handle would drop SQLite's locks (POSIX).
func (d *conn) recordFile() error {
	fi, err := os.Stat(d.path)
	if err == nil {
		d.opened = fi
	}
	return nil
}

// Close closes the database.
func (d *conn) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.disconnect()
	if d.copyOf != nil {
		d.oldCopies = append(d.oldCopies, d.copyOf)
	}
	for _, v := range d.oldCopies {
		_ = v.Close()
	}
	d.full.close()
	d.copyOf, d.oldCopies = nil, nil
	return nil
}
