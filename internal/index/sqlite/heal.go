package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"anamnesis/internal/index"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A failure gives an error of SQLite the name that the contract has for it. Its
// text stays.
type failure struct {
	error
	is error // index.ErrBusy, index.ErrLost
}

func (f failure) Is(target error) bool { return target == f.is }
func (f failure) Unwrap() error        { return f.error }

// translate is called with every error of the handle db. It names what the contract
// names, and replaces a database that is damaged.
func (d *conn) translate(db *sql.DB, err error) error {
	switch {
	case err == nil:
		return nil
	case code(err) == sqlite3.SQLITE_BUSY:
		return failure{err, index.ErrBusy}
	case d.opts.Keep:
		return err
	}
	d.healing.Lock() // an error of a handle that is being replaced comes of that
	defer d.healing.Unlock()
	switch {
	case !d.inUse(db): // it was replaced, and closed, while this was asked
		return failure{err, index.ErrLost}
	case d.unmade, damaged(err):
	case unwritable(err) && !d.readOnly.Load():
		d.degrade(err)
	case d.readOnly.Load() && code(err) == sqlite3.SQLITE_READONLY: // news for a file that may not be written go to memory
	case code(err) == sqlite3.SQLITE_ERROR && (strings.Contains(err.Error(), "no such table") || d.tables(context.Background(), db) != nil):
		// A table of ours is missing. Of a file that was cut, another connection may still see them all.
	default:
		return err
	}
	return d.heal(err)
}

// degrade turns to a database in memory, because the file cannot be written: the disk
// is full, or it is somebody else's. heal makes it, and whoever is shown ErrLost fills
// it from the notes.
func (d *conn) degrade(cause error) {
	if !d.degraded.CompareAndSwap(false, true) {
		return
	}
	d.readOnly.Store(true)
	line := d.advice(cause)
	d.mu.Lock()
	d.notice = line
	d.mu.Unlock()
	if d.opts.Degraded != nil {
		d.opts.Degraded(line)
	}
}

// Degraded returns, in one line, why answers do not come from the file and what to
// do; "" when they do.
func (d *conn) Degraded() string {
	if !d.degraded.Load() {
		return ""
	}
	return d.Notice()
}

// advice says that the file cannot be used, and what to do.
func (d *conn) advice(cause error) string {
	todo := "make it yours (`ls -l " + d.path + "*` shows whose it is), or let `anamnesis doctor reindex` replace it"
	switch code(cause) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		todo = "free some room on the disk"
	}
	return fmt.Sprintf("%s cannot be written (%v), and a temporary index answers; %s", d.path, cause, todo)
}

// replace makes a new file in the place of one that cannot be written. When that
// cannot be done either the database stays in memory.
func (d *conn) replace(ctx context.Context) error {
	d.healing.Lock()
	defer d.healing.Unlock()
	d.readOnly.Store(false)
	err := d.reset(ctx)
	if err == nil {
		d.degraded.Store(false)
		return nil
	}
	d.readOnly.Store(true)
	d.degraded.Store(true)
	return errors.Join(err, d.reset(ctx))
}

// healTries is how often heal tries to make a database: a try was seen to fail while questions
// still ran on the former file.
const healTries = 3

// heal puts an empty database in the place of a damaged one, whose handle said cause.
func (d *conn) heal(cause error) (err error) {
	for range healTries {
		if err = d.reset(context.Background()); err == nil { // whoever asked may be gone; the next one finds a sound file
			return failure{cause, index.ErrLost}
		}
	}
	if unwritable(err) && !d.readOnly.Load() {
		d.degrade(err)
		if err = d.reset(context.Background()); err == nil {
			return failure{cause, index.ErrLost}
		}
	}
	return errors.Join(cause, err)
}

// inUse reports whether a handle is one of those that are asked now.
func (d *conn) inUse(db *sql.DB) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.read == db || d.write == db
}

// reset throws the database away and makes an empty one. Questions get the handles of the new
// one when it has its tables; until then they get closed ones, also when no new one can be made.
// healing is held.
func (d *conn) reset(ctx context.Context) error {
	d.mu.Lock()
	d.disconnect()
	d.unmade = true
	fresh := newConn(d.opts, d.path)
	fresh.read = d.read // it was open before (connectReadOnly)
	d.mu.Unlock()
	fresh.readOnly.Store(d.readOnly.Load())
	if err := d.remove(); err != nil {
		return err
	}
	if err := fresh.create(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	d.read, d.write, d.opened, d.unmade = fresh.read, fresh.write, fresh.opened, false
	d.mu.Unlock()
	d.forgetPosted()
	return nil
}

// reader returns the handle for questions, reopened when another process replaced the file.
func (d *conn) reader() *sql.DB {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.opened != nil && !d.unmade && !d.readOnly.Load() {
		if fi, err := os.Stat(d.path); err == nil && !os.SameFile(fi, d.opened) {
			old, oldWrite := d.read, d.write
			if d.connect() == nil {
				_ = old.Close()
				_ = oldWrite.Close()
			}
		}
	}
	return d.read
}

// remove deletes the files of the database, unless nothing may be written.
func (d *conn) remove() error {
	if d.readOnly.Load() {
		return nil
	}
	for _, ext := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(d.path + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("replace damaged index: %w", err)
		}
	}
	return nil
}

// Check reports a broken page, or a table that is not as the schema says.
func (d maintainer) Check(ctx context.Context) error {
	db := d.reader()
	err := quickCheck(ctx, db)
	if err == nil {
		err = d.tables(ctx, db)
	}
	if err != nil {
		return fmt.Errorf("check index %s: %w", d.path, d.translate(db, err))
	}
	return nil
}

// quickCheck lets SQLite check the pages.
func quickCheck(ctx context.Context, db *sql.DB) error {
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%w: %s", errBroken, found)
	}
	return nil
}

// tables reads a row of every table.
func (d *conn) tables(ctx context.Context, db *sql.DB) error {
	for _, t := range tables {
		rows, err := db.QueryContext(ctx, "SELECT * FROM "+t+" LIMIT 1")
		if err == nil {
			rows.Next()
			err = errors.Join(rows.Err(), rows.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// code returns SQLite's primary result code of an error, or 0.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

func unwritable(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return true
	}
	return false
}

// damaged reports whether err says that the file is no database, or a broken one.
func damaged(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	}
	var e *sqlite.Error
	return errors.Is(err, errBroken) || errors.As(err, &e) && e.Code() == sqlite3.SQLITE_IOERR_SHORT_READ // it was cut
}
