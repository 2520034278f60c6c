package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/note"
)

const rowColumns = `n.key, n.id, n.path, n.size, n.mtime, n.type, n.title, n.project, n.machine, n.user, n.workspace,
	n.source, n.session, n.confidence, n.created, n.updated, n.tags, n.superseded_by, n.dead, n.forget_after,
	n.kind, n.branch, n.status, n.proofs, n.speculative, n.hash, n.origin, n.proof`

// readRows reads the rows of a question for rowColumns.
func readRows(now time.Time, rows *rows, err error) ([]index.Row, error) {
	return collect(rows, err, func(r *index.Row) error { return flat.ScanRow[sql.RawBytes](r, rows.Scan, now, &r.Proof) })
}

// Select returns the rows a filter lets through, newest first.
func (d catalogue) Select(ctx context.Context, f index.Filter, limit int) ([]index.Row, error) {
	query, args := d.selectSQL(f, limit)
	rows, err := d.query(ctx, query, args...)
	return readRows(f.Now, rows, err)
}

func (d *conn) selectSQL(f index.Filter, limit int) (query string, args []any) {
	order := " ORDER BY n.updated DESC, n.id DESC"
	if limit > 0 {
		order += fmt.Sprintf(" LIMIT %d", limit)
	}
	by := ""
	cond, args := d.where(f)
	switch split := limit > 0 && len(f.Only) == 0; {
	case split && len(f.Projects) == 1:
		by = " INDEXED BY " + inOrder(f)
	case split && len(f.Projects) > 0 && len(f.Projects) <= maxSplit:
		cond, args = d.byProject(f, order)
	}
	return "SELECT " + rowColumns + " FROM notes n" + by + " WHERE " + cond + order, args
}

// inOrder names the index that has the notes of a project which a filter may let through,
// newest first. SQLite would choose others, and read every note of the project.
func inOrder(f index.Filter) string {
	switch {
	case f.Kind != "":
		return "notes_kind"
	case slices.Contains(f.Tags, tagLearnt):
		return "notes_learnt"
	}
	return "notes_recent"
}

// maxSplit bounds how many projects are read one by one.
const maxSplit = 16

// byProject makes the condition for the first notes of each project, so that no more is
// read than is wanted; of several projects at once every note would be.
func (d *conn) byProject(f index.Filter, order string) (cond string, args []any) {
	by := inOrder(f)
	first := make([]string, len(f.Projects))
	for i, p := range f.Projects {
		f.Projects = []string{p}
		c, a := d.where(f)
		first[i] = "SELECT * FROM (SELECT n.key FROM notes n INDEXED BY " + by + " WHERE " + c + order + ")"
		args = append(args, a...)
	}
	return "n.key IN (" + strings.Join(first, " UNION ALL ") + ")", args
}

// perProjectSQL is answered from notes_recent alone, unless the filter asks for more.
const perProjectSQL = "SELECT n.project, count(*) FROM notes n WHERE "

// PerProject returns how many notes of each project the filter lets through.
func (d catalogue) PerProject(ctx context.Context, f index.Filter) (map[string]int, error) {
	cond, args := d.where(f)
	rows, err := d.query(ctx, perProjectSQL+cond+" GROUP BY n.project", args...)
	return pairs[string, int](rows, err)
}

// alikeSQL reads no note whose letters are its own.
const alikeSQL = "SELECT " + rowColumns + ` FROM (SELECT said FROM notes WHERE said <> 0 GROUP BY said HAVING count(*) > 1) s
	CROSS JOIN notes n INDEXED BY notes_said ON n.said = s.said WHERE `

// Alike returns the rows that the filter lets through of which another note has the same letters.
func (d catalogue) Alike(ctx context.Context, f index.Filter) ([]index.Row, error) {
	cond, args := d.where(f)
	rows, err := d.query(ctx, alikeSQL+cond+" ORDER BY n.updated DESC, n.id DESC", args...)
	return readRows(f.Now, rows, err)
}

// Tally counts the notes that the filter lets through by what they have in common. All notes
// are counted in their index; to look up what a filter asks for would take longer than to read all.
func (d catalogue) Tally(ctx context.Context, f index.Filter) ([]index.Tally, error) {
	cond, args := d.where(f)
	by := "NOT INDEXED"
	if all, _ := d.where(index.Filter{Dead: true, Own: f.Own}); cond == all {
		by = "INDEXED BY notes_tally"
	}
	rows, err := d.query(ctx, "SELECT n.project, n.type, n.workspace, "+isLocal+", count(*) FROM notes n "+by+" WHERE "+cond+
		" GROUP BY 1, 2, 3, 4", args...)
	return collect(rows, err, func(t *index.Tally) error {
		local := false
		err := rows.Scan(&t.Project, &t.Type, &t.Workspace, &local, &t.Notes)
		t.Scope = flat.ScopeOf(local)
		return err
	})
}

// Rows returns the rows with the given keys, in that order.
func (d catalogue) Rows(ctx context.Context, keys []int64) ([]index.Row, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := d.queryBounded(ctx, "SELECT "+rowColumns+" FROM json_each(?) j CROSS JOIN notes n ON n.key = j.value", list(keys))
	return readRows(time.Time{}, rows, err)
}

// Lookup returns the row of an id, compared without regard to case.
func (d catalogue) Lookup(ctx context.Context, id note.ID) (index.Row, bool, error) {
	rows, err := d.queryBounded(ctx, "SELECT "+rowColumns+" FROM notes n WHERE n.id = ? AND "+d.seen, string(id))
	got, err := readRows(time.Time{}, rows, err)
	if err != nil || len(got) == 0 {
		return index.Row{}, false, err
	}
	return got[0], true, nil
}

// sharingSQL reads the ids that end with a part by an index of the last characters of
// all, and those that begin with it by that of the ids. Bounds are in lower case, to
// which SQLite folds what it compares.
const (
	endChars   = 4
	sharingSQL = `SELECT n.id FROM notes n WHERE upper(substr(n.id, -4)) = upper(?1) AND n.id LIKE ?2 ESCAPE '\' AND {seen}
		UNION ALL SELECT n.id FROM notes n WHERE n.id >= ?3 AND n.id < ?4 AND n.id LIKE ?5 ESCAPE '\' AND {seen}`
)

// Sharing returns the ids that begin or end with a part.
func (d catalogue) Sharing(ctx context.Context, part string) ([]note.ID, error) {
	query, lower := strings.ReplaceAll(sharingSQL, "{seen}", d.seen), strings.ToLower(part)
	if len(part) < endChars || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r > '~' }) {
		query = "SELECT n.id FROM notes n WHERE (n.id LIKE ?2 ESCAPE '\\' OR n.id LIKE ?5 ESCAPE '\\') AND " + d.seen
	}
	text := literal.Replace(part)
	rows, err := d.queryBounded(ctx, query, lower[max(0, len(lower)-endChars):], "%"+text, lower, lower+"\U0010ffff", text+"%")
	return column[note.ID](rows, err)
}

// Origin names the tree that Apply writes.
func (d catalogue) Origin() string { return d.opts.Origin }

// Texts returns the files of notes. Those of an index without an origin are not kept.
func (d catalogue) Texts(ctx context.Context, keys []int64) (map[int64][]byte, error) {
	rows, err := d.queryBounded(ctx, "SELECT t.note, t.text FROM json_each(?) j CROSS JOIN texts t ON t.note = j.value", list(keys))
	return pairs[int64, []byte](rows, err)
}

// Twins returns the notes with the same statement and those with a similar one.
func (d catalogue) Twins(ctx context.Context, statement [16]byte, simhash uint64) ([]index.Twin, error) {
	// Two hashes that differ in at most three bits are equal in one of four bands.
	// Few of those that are equal in a band are twins: rows are read for them only.
	const query = `SELECT n.key, n.statement, n.simhash, n.words FROM notes n WHERE (n.statement = ? OR n.key IN
		(SELECT note FROM bands WHERE band IN (?, ?, ?, ?))) AND `
	args := []any{statement[:]}
	for band := range 4 {
		args = append(args, bandKey(simhash, band))
	}
	rows, err := d.queryBounded(ctx, query+d.seen+" ORDER BY n.id", args...)
	if err != nil {
		return nil, wrap(err)
	}
	defer rows.Close()
	var keys []int64
	found := make(map[int64]index.Twin)
	var said sql.RawBytes
	for rows.Next() {
		var t index.Twin
		var key, sim int64
		if err := rows.Scan(&key, &said, &sim, &t.Words); err != nil {
			return nil, wrap(err)
		}
		t.Exact = string(said) == string(statement[:])
		if t.Bits = bits.OnesCount64(uint64(sim) ^ simhash); t.Exact || t.Bits <= note.NearBits {
			keys, found[key] = append(keys, key), t
		}
	}
	if err := errors.Join(rows.err(), rows.Close()); err != nil {
		return nil, wrap(err)
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

// Branches lists the branches that live notes of projects hold for. Left to
// itself, SQLite reads every note of the projects.
func (d catalogue) Branches(ctx context.Context, projects []string) ([]string, error) {
	cond, args := d.where(index.Filter{Projects: projects, Now: time.Unix(0, 0)})
	rows, err := d.query(ctx, "SELECT DISTINCT n.branch FROM notes n INDEXED BY notes_branch WHERE n.branch "+
		"<> '' AND "+cond+" ORDER BY 1", args...)
	return column[string](rows, err)
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read index: %w", err)
}
