package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"anamnesis/internal/index"

	"github.com/jackc/pgx/v5"
)

// State returns the fingerprint of all files, their number and the time of the last
// walk. Apply compares with what it saw.
func (d maintainer) State(ctx context.Context) (fingerprint uint64, files int, walked time.Time, err error) {
	d.mu.Lock()
	applied := d.applied
	d.mu.Unlock()
	var sum, at, version int64
	err = d.row(ctx, "SELECT fingerprint, files, walked, generation FROM anamnesis.origins WHERE workspace = $1 AND name = $2",
		[]any{d.origin}, &sum, &files, &at, &version)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, time.Time{}, err
	}
	d.saw(version, applied)
	if at != 0 {
		walked = time.Unix(0, at)
	}
	return uint64(sum), files, walked, nil
}

// A note of which the server did not write down who wrote it has no hash here, so that it is sent again.
const filesSQL = `SELECT path, size, mtime, CASE WHEN writer IS NULL THEN '' ELSE hash END, '' FROM anamnesis.notes
	WHERE workspace = $1 AND origin = $2 AND ($3::text[] IS NULL OR path = ANY($3))
	UNION ALL SELECT path, size, mtime, hash, reason FROM anamnesis.problems
	WHERE workspace = $1 AND origin = $2 AND hash <> '' AND ($3::text[] IS NULL OR path = ANY($3))`

// Files returns what is known of the files at paths, or of all.
func (d maintainer) Files(ctx context.Context, paths []string) (map[string]index.FileState, error) {
	known := make(map[string]index.FileState)
	var asked []string
	if paths != nil {
		asked = escapeAll(paths)
	}
	err := d.each(ctx, func(r pgx.Rows) error {
		var path string
		var f index.FileState
		var hash []byte
		err := r.Scan(&path, &f.Size, &f.ModTime, &hash, &f.Problem)
		copy(f.Hash[:], hash)
		f.Problem = unescape(f.Problem)
		known[unescape(path)] = f
		return err
	}, filesSQL, d.origin, asked)
	return known, err
}

// Problems lists the files that could not be indexed, or not wholly.
func (d maintainer) Problems(ctx context.Context) ([]index.Problem, error) {
	return collect(ctx, d.conn, func(r pgx.Rows, p *index.Problem) error {
		err := r.Scan(&p.Path, &p.Reason, &p.Sidecar)
		unescapeIn(&p.Path, &p.Reason)
		return err
	}, "SELECT path, reason, hash = '' FROM anamnesis.problems WHERE workspace = $1 AND origin = $2 ORDER BY path", d.origin)
}

// Tidy has nothing to do: the server keeps its tables in order.
func (d maintainer) Tidy(context.Context) error { return nil }

// Purge has nothing to do: what the server's own files and backups still hold of rows that
// were deleted is a matter of whoever runs it (docs/postgres.md).
func (d maintainer) Purge(context.Context, time.Duration) error { return nil }

// Reset empties the picture of our origin.
func (d maintainer) Reset(ctx context.Context) error {
	var after int64
	err := d.change(ctx, d.opts.Busy, func(w *writer) {
		var b index.Batch
		w.query(filesSQL, func(r pgx.Rows) error {
			var path, reason string
			var size, mtime int64
			var hash []byte
			err := r.Scan(&path, &size, &mtime, &hash, &reason)
			b.Drop = append(b.Drop, unescape(path))
			return err
		}, d.origin, []string(nil))
		if w.flush(); w.err != nil {
			return
		}
		w.generation++ // of an empty origin, too
		w.apply(b)
		w.walked, w.fingerprint, w.files, w.version = 0, 0, 0, w.generation
		w.exec("DELETE FROM anamnesis.problems WHERE workspace = $1 AND origin = $2", d.origin)
		w.close()
		after = w.version
	})
	if err == nil {
		d.wrote(after)
	}
	return err
}

// Check compares the sums with what they are of.
func (d maintainer) Check(ctx context.Context) error {
	var notes, passages, hasNotes, hasPassages, files, hasFiles int64
	err := d.row(ctx, `SELECT notes, passages, (SELECT count(*) FROM anamnesis.notes WHERE workspace = $1),
		(SELECT count(*) FROM anamnesis.passages WHERE workspace = $1),
		(SELECT coalesce(sum(files), 0)::bigint FROM anamnesis.origins WHERE workspace = $1),
		(SELECT count(*) FROM anamnesis.notes WHERE workspace = $1) +
		(SELECT count(*) FROM anamnesis.problems WHERE workspace = $1 AND hash <> '')
		FROM anamnesis.workspaces WHERE id = $1`, nil, &notes, &passages, &hasNotes, &hasPassages, &files, &hasFiles)
	if err != nil {
		return err
	}
	if notes != hasNotes || passages != hasPassages || files != hasFiles {
		return fmt.Errorf("the shared index counts %d notes, %d passages and %d files, and has %d, %d and %d: "+
			"`anamnesis doctor reindex` on each machine rebuilds it", notes, passages, files, hasNotes, hasPassages, hasFiles)
	}
	return nil
}
