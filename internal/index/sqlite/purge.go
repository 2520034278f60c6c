package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"anamnesis/internal/index"

	sqlite3 "modernc.org/sqlite/lib"
)

// What is left of a text after its rows were deleted, and what takes it away:
//
//   - Free pages and free cells: secure_delete, on every connection that writes.
//   - The log: it is folded into the file and cut.
//   - The files of the vectors and of the full text: they are made again.
//   - Answers that were kept: those of earlier generations hold nothing that is right.
//
// The row "residue" of meta says that something is left: the generation in which it
// was. It goes when all of the above is done, so that a killed run is done again.

// residue returns the generation in which a text was dropped last, 0 when nothing
// is left of any, and when Purge finished last.
func (d *conn) residue(ctx context.Context) (generation int64, purged time.Time, err error) {
	var at int64
	err = d.queryRow(ctx, `SELECT coalesce(max(CASE key WHEN 'residue' THEN value END), 0),
		coalesce(max(CASE key WHEN 'purged' THEN value END), 0) FROM meta`, nil, &generation, &at)
	return generation, time.Unix(at, 0), wrap(err)
}

// Purge takes away what is left of texts that were dropped.
func (d maintainer) Purge(ctx context.Context, rest time.Duration) error {
	if d.readOnly.Load() {
		return nil
	}
	left, purged, err := d.residue(ctx)
	if err != nil || left == 0 {
		return err
	}
	if age := time.Since(purged); rest > 0 && age >= 0 && age < rest {
		return nil
	}
	if err := d.renewCopies(ctx); err != nil {
		return err
	}
	if err := d.change(ctx, func(w *writer) {
		w.exec("DELETE FROM memos WHERE generation NOT IN (0, coalesce((SELECT value FROM meta WHERE key = 'generation'), 0))")
	}); err != nil {
		return err
	}
	if err := d.cutLog(ctx); err != nil {
		return err
	}
	return d.change(ctx, func(w *writer) {
		w.exec("DELETE FROM meta WHERE key = 'residue' AND value = ?", left) // or more was dropped since
		w.exec("INSERT INTO meta (key, value) VALUES ('purged', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", time.Now().Unix())
	})
}

// cutLog folds the log into the file and cuts it to nothing. Whoever reads holds
// that up for as long as the answer takes, so that it is tried again for as long
// as one waits for another writer.
func (d *conn) cutLog(ctx context.Context) error {
	d.mu.Lock()
	db := d.write
	d.mu.Unlock()
	until := time.Now().Add(d.opts.Busy)
	for {
		var busy, pages, folded int
		err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &folded)
		switch {
		case err != nil && code(err) != sqlite3.SQLITE_BUSY:
			return wrap(d.translate(db, err))
		case err == nil && busy == 0:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(until):
			return failure{errors.New("somebody reads the index for too long"), index.ErrBusy}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// renewCopies makes again the files that exist.
func (d *conn) renewCopies(ctx context.Context) error {
	epoch, err := d.epoch(ctx)
	if err != nil {
		return wrap(err)
	}
	models, err := d.embeddedModels(ctx)
	if err != nil {
		return err
	}
	for _, m := range models {
		if _, err := os.Lstat(d.flatPath(uint64(m.model))); err != nil {
			continue
		}
		if err := d.copyVectors(ctx, uint64(m.model), uint64(epoch), int(m.count)); err != nil {
			return err
		}
	}
	d.dropCopies(models)
	if _, err := os.Lstat(d.postingsPath()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	failed, err := d.copyPostings(ctx)
	return errors.Join(failed, wrap(err))
}

// Reset empties the picture of our origin.
func (d maintainer) Reset(ctx context.Context) error {
	if d.opts.Origin == "" {
		db, err := d.rebuild(ctx, true)
		switch {
		case d.degraded.Load(), unwritable(err) && !d.readOnly.Load():
			if err = d.replace(ctx); err != nil {
				return fmt.Errorf("rebuild index %s: %w", d.path, err)
			}
		case err != nil:
			return wrap(d.translate(db, err))
		}
		d.dropCopies(nil)
		_ = os.Remove(d.postingsPath())
		return nil
	}
	files, err := d.Files(ctx, nil)
	if err != nil {
		return err
	}
	var b index.Batch
	for path := range files {
		b.Drop = append(b.Drop, path)
	}
	return d.change(ctx, func(w *writer) {
		w.batch(b)
		w.exec("DELETE FROM origins WHERE name = ?", w.origin)
	})
}
