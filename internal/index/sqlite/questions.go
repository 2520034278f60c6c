package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// State returns the fingerprint of all files, their number and the time of the last walk.
func (d *DB) State(ctx context.Context) (fingerprint uint64, files int, walked time.Time, err error) {
	rows, err := d.short(ctx, "SELECT key, value FROM meta")
	if err != nil {
		return 0, 0, time.Time{}, fmt.Errorf("read index: %w", err)
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
	return fingerprint, files, walked, rows.Err()
}

// Files returns what is known of the files at paths, or of all.
func (d *DB) Files(ctx context.Context, paths []string) (map[string]index.FileState, error) {
	known := make(map[string]index.FileState)
	const query = "SELECT path, size, mtime, hash, '' FROM notes %[1]s UNION ALL SELECT path, size, mtime, hash, reason FROM (SELECT * FROM problems WHERE hash <> x'') %[1]s"
	read := func(where string, args ...any) error {
		rows, err := d.query(ctx, fmt.Sprintf(query, where), args...)
		if err != nil {
			return fmt.Errorf("read index: %w", err)
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
func (d *DB) Problems(ctx context.Context) ([]index.Problem, error) {
	rows, err := d.query(ctx, "SELECT path, reason, hash = x'' FROM problems ORDER BY path")
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
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
	return all, rows.Err()
}

const rowColumns = `n.key, n.id, n.path, n.size, n.mtime, n.type, n.title, n.project, n.machine, n.user, n.workspace,
	n.source, n.session, n.confidence, n.created, n.updated, n.tags, n.superseded_by, n.dead, n.forget_after,
	n.kind, n.branch, n.status, n.proofs, n.speculative, n.hash`

// scanner is *sql.Row or *sql.Rows.
type scanner interface{ Scan(dest ...any) error }

func scanRow(s scanner, now time.Time) (index.Row, error) {
	var r index.Row
	var id, typ, tags, by, kind string
	var mtime, created, updated, forget int64
	var hash sql.RawBytes
	dest := []any{
		&r.Key, &id, &r.Ref.Path, &r.Ref.Size, &mtime, &typ, &r.Title, &r.Project, &r.MachineID, &r.UserID, &r.WorkspaceID,
		&r.Source, &r.Session, &r.Confidence, &created, &updated, &tags, &by, &r.Dead, &forget,
		&kind, &r.Branch, &r.Status, &r.Proofs, &r.Speculative, &hash,
	}
	if err := s.Scan(dest...); err != nil {
		return r, err
	}
	copy(r.Hash[:], hash)
	r.ID, r.Type, r.SupersededBy = note.ID(id), note.Type(typ), note.ID(by)
	r.Kind = note.Kind(kind)
	r.Ref.ModTime = time.Unix(0, mtime)
	r.Ref.Scope = note.Portable
	if strings.HasPrefix(r.Ref.Path, "local/") {
		r.Ref.Scope = note.Local
	}
	if created != 0 {
		r.Created = time.Unix(created, 0).UTC()
	}
	if updated != 0 {
		r.Updated = time.Unix(updated, 0).UTC()
	}
	if tags != "" {
		r.Tags = strings.Split(strings.Trim(tags, "\n"), "\n")
	}
	r.Dead = r.Dead || by != "" || forget != 0 && !now.IsZero() && forget <= now.Unix()
	return r, nil
}

// described reads the rows of a question for rowColumns.
func described(now time.Time, rows *sql.Rows, err error) ([]index.Row, error) {
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	defer rows.Close()
	var all []index.Row
	for rows.Next() {
		r, err := scanRow(rows, now)
		if err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return all, nil
}

// Select returns the rows a filter lets through, newest first.
func (d *DB) Select(ctx context.Context, f index.Filter, limit int) ([]index.Row, error) {
	order := " ORDER BY n.updated DESC, "
	if f.SurestFirst {
		order += "n.confidence DESC, "
	}
	order += "n.id DESC"
	if limit > 0 {
		order += fmt.Sprintf(" LIMIT %d", limit)
	}
	cond, args := where(f)
	if limit > 0 && len(f.Projects) > 0 && len(f.Projects) <= maxApart && len(f.Only) == 0 {
		cond, args = apart(f, order)
	}
	rows, err := d.query(ctx, "SELECT "+rowColumns+" FROM notes n WHERE "+cond+order, args...)
	return described(f.Now, rows, err)
}

// maxApart bounds how many projects are read one by one.
const maxApart = 16

// apart makes the condition for the first notes of each project. An index has
// them in order, so that no more is read than is wanted; of several projects
// at once, or when SQLite chooses the index, every note would be.
func apart(f index.Filter, order string) (cond string, args []any) {
	by := "notes_recent"
	if f.Kind != "" {
		by = "notes_kind"
	}
	first := make([]string, len(f.Projects))
	for i, p := range f.Projects {
		f.Projects = []string{p}
		c, a := where(f)
		first[i] = "SELECT * FROM (SELECT n.key FROM notes n INDEXED BY " + by + " WHERE " + c + order + ")"
		args = append(args, a...)
	}
	return "n.key IN (" + strings.Join(first, " UNION ALL ") + ")", args
}

// PerProject returns how many notes of each project the filter lets through.
func (d *DB) PerProject(ctx context.Context, f index.Filter) (map[string]int, error) {
	cond, args := where(f)
	rows, err := d.query(ctx, "SELECT n.project, count(*) FROM notes n WHERE "+cond+" GROUP BY n.project", args...)
	if err != nil {
		return nil, wrap(err)
	}
	defer rows.Close()
	counts := make(map[string]int)
	for rows.Next() {
		var project string
		var n int
		if err := rows.Scan(&project, &n); err != nil {
			return nil, wrap(err)
		}
		counts[project] = n
	}
	return counts, wrap(rows.Err())
}

// Rows returns the rows with the given keys, in that order.
func (d *DB) Rows(ctx context.Context, keys []int64) ([]index.Row, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	rows, err := d.short(ctx, "SELECT "+rowColumns+" FROM json_each(?) j CROSS JOIN notes n ON n.key = j.value", string(list))
	return described(time.Time{}, rows, err)
}

// Lookup returns the row of an id, compared without regard to case.
func (d *DB) Lookup(ctx context.Context, id note.ID) (index.Row, bool, error) {
	rows, err := d.short(ctx, "SELECT "+rowColumns+" FROM notes n WHERE n.id = ?", string(id))
	got, err := described(time.Time{}, rows, err)
	if err != nil || len(got) == 0 {
		return index.Row{}, false, err
	}
	return got[0], true, nil
}

// Twins returns the notes with the same statement and those with a similar one.
func (d *DB) Twins(ctx context.Context, statement [16]byte, simhash uint64) ([]index.Twin, error) {
	// Two hashes that differ in at most three bits are equal in one of four bands.
	// Few of those that are equal in a band are twins: rows are read for them only.
	const query = `SELECT n.key, n.statement, n.simhash, n.words FROM notes n WHERE n.statement = ? OR n.key IN
		(SELECT note FROM bands WHERE band IN (?, ?, ?, ?)) ORDER BY n.id`
	args := []any{statement[:]}
	for band := range 4 {
		args = append(args, bandKey(simhash, band))
	}
	rows, err := d.short(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	defer rows.Close()
	var keys []int64
	found := make(map[int64]index.Twin)
	var said sql.RawBytes
	for rows.Next() {
		var t index.Twin
		var key, sim int64
		if err := rows.Scan(&key, &said, &sim, &t.Words); err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
		t.Exact = string(said) == string(statement[:])
		if t.Bits = bits.OnesCount64(uint64(sim) ^ simhash); t.Exact || t.Bits <= store.NearBits {
			keys, found[key] = append(keys, key), t
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	like, err := d.Rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	twins := make([]index.Twin, 0, len(like))
	for _, r := range like {
		t := found[r.Key]
		t.Row = r
		twins = append(twins, t)
	}
	return twins, nil
}

// Count adds to the counters, unless the cursors are not at from any more.
func (d *DB) Count(ctx context.Context, add map[note.ID]store.Tally, from, to map[string]int64) error {
	return d.transact(ctx, func(w *writer) {
		now := make(map[string]int64)
		w.query("SELECT file, offset FROM cursors", func(r *sql.Rows) error {
			var file string
			var offset int64
			err := r.Scan(&file, &offset)
			now[file] = offset
			return err
		})
		if w.err != nil || !maps.Equal(now, from) {
			return
		}
		for id, c := range add {
			w.exec(`INSERT INTO counters (id, injected, recalled, last) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
				injected = injected + excluded.injected, recalled = recalled + excluded.recalled, last = max(last, excluded.last)`,
				string(id), c.Injected, c.Recalled, c.Last.Unix())
		}
		for file, offset := range to {
			w.exec("INSERT INTO cursors (file, offset) VALUES (?, ?) ON CONFLICT (file) DO UPDATE SET offset = excluded.offset", file, offset)
		}
	})
}

// Cursors tells how far each file of the event log was read.
func (d *DB) Cursors(ctx context.Context) (map[string]int64, error) {
	rows, err := d.short(ctx, "SELECT file, offset FROM cursors")
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	defer rows.Close()
	all := make(map[string]int64)
	for rows.Next() {
		var file string
		var offset int64
		if err := rows.Scan(&file, &offset); err != nil {
			return nil, err
		}
		all[file] = offset
	}
	return all, rows.Err()
}

// Counters returns the counters of notes; those that nothing happened to are left out.
func (d *DB) Counters(ctx context.Context, ids []note.ID) (map[note.ID]store.Tally, error) {
	all := make(map[note.ID]store.Tally)
	for _, id := range ids {
		var c store.Tally
		var last int64
		err := d.one(ctx, "SELECT injected, recalled, last FROM counters WHERE id = ?", []any{string(id)}, &c.Injected, &c.Recalled, &last)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read index: %w", err)
		}
		c.Last = time.Unix(last, 0).UTC()
		all[id] = c
	}
	return all, nil
}
