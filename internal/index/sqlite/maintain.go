package sqlite

import (
	"context"
	"fmt"
	"time"

	"anamnesis/internal/index"
)

// State returns the fingerprint of all files, their number and the time of the last walk.
func (d maintainer) State(ctx context.Context) (fingerprint uint64, files int, walked time.Time, err error) {
	rows, err := d.short(ctx, "SELECT key, value FROM meta")
	if err != nil {
		return 0, 0, time.Time{}, wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var value int64
		if err := rows.Scan(&key, &value); err != nil {
			return 0, 0, time.Time{}, err
		}
		switch key {
		case "fingerprint":
			fingerprint = uint64(value)
		case "files":
			files = int(value)
		case "walked":
			walked = time.Unix(0, value)
		}
	}
	return fingerprint, files, walked, wrap(rows.Err())
}

// Files returns what is known of the files at paths, or of all.
func (d maintainer) Files(ctx context.Context, paths []string) (map[string]index.FileState, error) {
	known := make(map[string]index.FileState)
	const query = "SELECT path, size, mtime, hash, '' FROM notes %[1]s UNION ALL SELECT path, size, mtime, hash, reason FROM (SELECT * FROM problems WHERE hash <> x'') %[1]s"
	read := func(where string, args ...any) error {
		rows, err := d.query(ctx, fmt.Sprintf(query, where), args...)
		if err != nil {
			return wrap(err)
		}
		defer rows.Close()
		for rows.Next() {
			var path string
			var f index.FileState
			var hash []byte
			if err := rows.Scan(&path, &f.Size, &f.ModTime, &hash, &f.Problem); err != nil {
				return err
			}
			copy(f.Hash[:], hash)
			known[path] = f
		}
		return rows.Err()
	}
	if paths == nil {
		return known, read("")
	}
	for _, p := range paths {
		if err := read("WHERE path = ?", p, p); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// Problems lists the files that could not be indexed, or not wholly.
func (d maintainer) Problems(ctx context.Context) ([]index.Problem, error) {
	rows, err := d.query(ctx, "SELECT path, reason, hash = x'' FROM problems ORDER BY path")
	if err != nil {
		return nil, wrap(err)
	}
	defer rows.Close()
	var all []index.Problem
	for rows.Next() {
		var p index.Problem
		if err := rows.Scan(&p.Path, &p.Reason, &p.Sidecar); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, wrap(rows.Err())
}

// Apply makes the changes of a batch in one transaction.
func (d maintainer) Apply(ctx context.Context, b index.Batch) error {
	return d.change(ctx, func(w *writer) { w.batch(b) })
}
