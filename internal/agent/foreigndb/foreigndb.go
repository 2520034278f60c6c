// Package foreigndb reads SQLite databases of other programs. The original is never
// opened by SQLite, and so never locked: a reader in WAL mode writes files beside it,
// and the program that owns it may be at work. A copy is made and read.
//
// What stands in such a database is not trusted: views are no tables, what is read is
// bounded (of one cell 8 MB, or it counts as empty), and what is not there is left out,
// since schemas grow.
package foreigndb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

const (
	maxDatabase = 4 << 30       // bytes
	maxRows     = 200_000       // of one table
	maxCell     = 1 << 20       // characters; what is longer is cut
	maxLoaded   = 8 << 20       // bytes of a cell; what is larger is never read into memory, and counts as empty
	maxValue    = 4 * maxLoaded // bytes of anything that SQLite makes; a question that needs more fails
)

// What a database is refused for.
var (
	ErrTooMany    = errors.New("a table has too many rows")
	errNotRegular = errors.New("it is no regular file")
	errTooLarge   = errors.New("it is larger than 4 GB")
)

// A DB is a copy of somebody else's SQLite file, in a separate folder. It is safe for
// concurrent use.
type DB struct {
	db  *sql.DB
	dir string
}

// Open copies a database with its log and opens the copy.
func Open(ctx context.Context, name string) (_ *DB, err error) {
	dir, err := os.MkdirTemp("", "anamnesis-import-*")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	to := filepath.Join(dir, "copy.db")
	if err := copyBoth(ctx, name, to); err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(to)}).EscapedPath()}
	u.RawQuery = "_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)"
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err = bound(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	var n int
	if err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master`).Scan(&n); err != nil {
		if e := (*sqlite.Error)(nil); errors.As(err, &e) {
			err = fmt.Errorf("it is no database that SQLite can read: %w", err)
		}
		return nil, errors.Join(err, db.Close())
	}
	return &DB{db, dir}, nil
}

// bound limits what SQLite makes on the one connection: a value that no question of ours
// bounds, or that one makes, must not cost its size in memory several times.
func bound(ctx context.Context, db *sql.DB) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	_, err = sqlite.Limit(c, sqlitelib.SQLITE_LIMIT_LENGTH, maxValue)
	return errors.Join(err, c.Close())
}

// Close removes the copy. What cannot be removed lies in the folder for temporary files.
func (d *DB) Close() {
	_ = d.db.Close()
	_ = os.RemoveAll(d.dir)
}

// copyBoth copies a database and its log such that neither changed since;
// of one that never rests the last copy has to do, and SQLite checks its log.
func copyBoth(ctx context.Context, name, to string) error {
	for try := 1; ; try++ {
		before := state(name)
		if err := copyFile(ctx, name, to); err != nil {
			return err
		}
		err := copyFile(ctx, name+"-wal", to+"-wal")
		if errors.Is(err, os.ErrNotExist) {
			err = os.Remove(to + "-wal")
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if try == 3 || state(name) == before {
			return nil
		}
	}
}

// state tells whether a database or its log was written.
func state(name string) string {
	var b strings.Builder
	for _, n := range []string{name, name + "-wal"} {
		if fi, err := os.Lstat(n); err == nil {
			fmt.Fprint(&b, fi.Size(), " ", fi.ModTime().UnixNano(), "; ")
		}
	}
	return b.String()
}

func copyFile(ctx context.Context, from, to string) error {
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return errNotRegular
	}
	if fi.Size() > maxDatabase {
		return errTooLarge
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	for left := int64(maxDatabase); err == nil && left > 0; { // the file may grow while it is copied
		if err = ctx.Err(); err != nil {
			break
		}
		var n int
		n, err = in.Read(buf)
		left -= int64(n)
		if _, werr := out.Write(buf[:n]); werr != nil {
			err = werr
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, out.Close())
}

// Bounded is a column as a question names it whose content may have any size: NULL in place
// of what is too large to be read. SQLite knows the size of a value without reading it.
func Bounded(column string) string {
	return `CASE WHEN octet_length(` + column + `) <= ` + strconv.Itoa(maxLoaded) + ` THEN ` + column + ` END`
}

// A Row holds the texts of a row by the names of its columns; a column that is
// not there, or is NULL, is "".
type Row map[string]string

// Rows calls f for every row of a table. A table that is not there has none,
// and a column that is not there is left out: the schema has grown over time.
func (d *DB) Rows(ctx context.Context, table string, columns []string, f func(Row) error) error {
	there, err := d.columns(ctx, table)
	if err != nil {
		return fmt.Errorf("table %s: %w", table, err)
	}
	var names, exprs []string
	for _, c := range columns {
		if there[c] {
			names = append(names, c)
			exprs = append(exprs, `substr(CAST(`+Bounded(`"`+c+`"`)+` AS TEXT), 1, `+strconv.Itoa(maxCell)+`)`)
		}
	}
	if len(names) == 0 {
		return nil
	}
	// In the order in which they were written, so that the plan is always the same.
	rows, err := d.db.QueryContext(ctx, `SELECT `+strings.Join(exprs, ", ")+` FROM "`+table+`" ORDER BY 1 LIMIT `+strconv.Itoa(maxRows+1))
	if err != nil {
		return fmt.Errorf("table %s: %w", table, err)
	}
	defer rows.Close()
	cells := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	for n := 1; rows.Next(); n++ {
		if n > maxRows {
			return fmt.Errorf("table %s: %w", table, ErrTooMany)
		}
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("table %s: %w", table, err)
		}
		r := make(Row, len(names))
		for i, name := range names {
			s := strings.ToValidUTF8(cells[i].String, "\ufffd")
			r[name] = strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\x00", ""))
		}
		if err := f(r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("table %s: %w", table, err)
	}
	return nil
}

// columns lists the columns of a table. What is a view is no table: a view can
// be made to never end.
func (d *DB) columns(ctx context.Context, table string) (map[string]bool, error) {
	var n int
	err := d.db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master
		WHERE type = 'table' AND name = ? AND sql NOT LIKE 'CREATE VIRTUAL%'`, table).Scan(&n)
	if err != nil || n == 0 {
		return nil, err
	}
	rows, err := d.db.QueryContext(ctx, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	there := make(map[string]bool)
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		there[name] = true
	}
	return there, rows.Err()
}

// Count returns how many rows a table has, 0 when it cannot be read.
func (d *DB) Count(ctx context.Context, table string) int {
	there, err := d.columns(ctx, table)
	if err != nil || len(there) == 0 {
		return 0
	}
	var n int
	if err := d.db.QueryRowContext(ctx, `SELECT count(*) FROM "`+table+`"`).Scan(&n); err != nil {
		return 0
	}
	return n
}

// Query calls f for every row that a question returns, at most a bounded number; cells
// are texts in the order of its columns. The question is ours, its arguments need not be.
func (d *DB) Query(ctx context.Context, question string, f func(cells []string) error, args ...any) error {
	rows, err := d.db.QueryContext(ctx, question, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	for n := 1; rows.Next(); n++ {
		if n > maxRows {
			return ErrTooMany
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = strings.ToValidUTF8(c.String, "\ufffd")
		}
		if err := f(texts); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Lacks returns which of the columns a table lacks, the first; "" when it has them all.
func (d *DB) Lacks(ctx context.Context, table string, columns ...string) (string, error) {
	there, err := d.columns(ctx, table)
	if err != nil {
		return "", err
	}
	for _, c := range columns {
		if !there[c] {
			return table + "." + c, nil
		}
	}
	return "", nil
}

// shared is the copy that was opened last, for those who read one session after another.
var shared struct {
	sync.Mutex
	name, state string
	db          *DB
}

// Shared is Open for a database that is read again and again: the copy is kept, and made
// again when the original was written since. The caller does not close it; where the system
// lets an open file be removed, nothing of it is left when the process ends.
func Shared(ctx context.Context, name string) (*DB, error) {
	shared.Lock()
	defer shared.Unlock()
	now := state(name)
	if shared.db != nil && shared.name == name && shared.state == now {
		return shared.db, nil
	}
	db, err := Open(ctx, name)
	if err != nil {
		return nil, err
	}
	// The log becomes part of the copy, so that one open file is all there is.
	if _, err := db.db.ExecContext(ctx, `PRAGMA query_only(0); PRAGMA journal_mode = DELETE; PRAGMA query_only(1)`); err == nil {
		_ = os.RemoveAll(db.dir)
	}
	if shared.db != nil {
		shared.db.Close()
	}
	shared.db, shared.name, shared.state = db, name, now
	return db, nil
}
