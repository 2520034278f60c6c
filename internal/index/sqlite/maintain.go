package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"anamnesis/internal/index"
)

// State returns the fingerprint of all files, their number and the time of the last walk.
func (d maintainer) State(ctx context.Context) (fingerprint uint64, files int, walked time.Time, err error) {
	var sum, at int64
	err = d.queryRow(ctx, "SELECT fingerprint, files, walked FROM origins WHERE name = ?", []any{d.opts.Origin}, &sum, &files, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, time.Time{}, nil
	}
	if at != 0 {
		walked = time.Unix(0, at)
	}
	return uint64(sum), files, walked, wrap(err)
}

// Files returns what is known of the files at paths, or of all.
func (d maintainer) Files(ctx context.Context, paths []string) (map[string]index.FileState, error) {
	known := make(map[string]index.FileState)
	const query = "SELECT path, size, mtime, hash, '', proof FROM notes WHERE origin = ?1 %[1]s UNION ALL SELECT path, size, mtime, hash, " +
		"reason, '' FROM problems WHERE hash <> x'' AND origin = ?1 %[1]s"
	read := func(where string, args ...any) error {
		rows, err := d.query(ctx, fmt.Sprintf(query, where), args...)
		return each(rows, err, func() error {
			var path string
			var f index.FileState
			var hash []byte
			err := rows.Scan(&path, &f.Size, &f.ModTime, &hash, &f.Problem, &f.Proof)
			copy(f.Hash[:], hash)
			known[path] = f
			return err
		})
	}
	if paths == nil {
		return known, read("", d.opts.Origin)
	}
	for _, p := range paths {
		if err := read("AND path = ?2", d.opts.Origin, p); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// Problems lists the files that could not be indexed, or not wholly.
func (d maintainer) Problems(ctx context.Context) ([]index.Problem, error) {
	rows, err := d.query(ctx, "SELECT path, reason, hash = x'' FROM problems WHERE origin = ? ORDER BY path", d.opts.Origin)
	return collect(rows, err, func(p *index.Problem) error { return rows.Scan(&p.Path, &p.Reason, &p.Sidecar) })
}

// Apply makes the changes of a batch in one transaction.
func (d maintainer) Apply(ctx context.Context, b index.Batch) error {
	if len(b.Drop)+len(b.Put)+len(b.Problems) == 0 { // when a walk was is not worth going on without the file
		return d.changeFile(ctx, func(w *writer) { w.batch(b) })
	}
	return d.change(ctx, func(w *writer) { w.batch(b) })
}
