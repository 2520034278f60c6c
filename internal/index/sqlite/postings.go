package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/note"
)

// What questions ask of the full text stands also in a flat file, a copy of the
// passages that Tidy makes when it lacks much: FTS5 counts and decodes postings one by
// one, and the rows of the candidates lie all over the database. What came since is
// read from the tables, and so is what went (the table gone). Which notes a filter lets
// through the database alone knows. Where there is no copy that can be used, FTS5 answers.

// A fullText is what is open of the copies. conn.mu guards it.
type fullText struct {
	open   *flat.Postings // that which stands beside the database, nil when it cannot be used
	info   os.FileInfo    // of that file
	posted *posted
	old    []*flat.Postings // a question may still read them: they are unmapped when the database is closed
}

// keep takes another copy into use.
func (t *fullText) keep(p *flat.Postings) {
	if t.open != nil {
		t.old = append(t.old, t.open)
	}
	t.open = p
}

func (t *fullText) close() {
	t.keep(nil)
	for _, p := range t.old {
		_ = p.Close()
	}
	*t = fullText{}
}

// postingsPath is the copy beside a database.
func (d *conn) postingsPath() string { return strings.TrimSuffix(d.path, ".db") + "-postings.bin" }

// A posted is the copy, and what changed since it was made.
type posted struct {
	*flat.Postings
	epoch      int64 // of the index that the changes are those of
	generation int64 // of that index
	gone       []int // rows, ascending
	goneTexts  []flat.Text
	newer      []newText // by their keys
	fits       bool      // it is a copy of this index, and does not lack too much
}

// A newText is a passage that the copy does not have.
type newText struct {
	flat.Text
	model  sql.NullInt64
	vector index.Vector
}

// maxSince bounds what is read beside the copy: with more FTS5 is as fast.
const maxSince = 1000

// sinceSQL reads what changed since a copy was made, and the numbers by which to tell
// whether it is one of this index, in one statement: as of one moment. A limit is a sum, here
// and elsewhere, because SQLite plans a statement again once it knows a limit that is a bare
// parameter.
const sinceSQL = `SELECT 0, value, key, 0, 0, 0, NULL, '', '', NULL, NULL FROM meta WHERE key IN ('epoch', 'generation', 'passages')
	UNION ALL SELECT * FROM (SELECT 1, passage, '', 0, 0, 0, NULL, '', '', NULL, NULL FROM gone WHERE n > ? LIMIT ?+0)
	UNION ALL SELECT * FROM (SELECT 2, p.key, n.path, p.note, p.start, p."end", p.forward, n.project, n.type, v.model, v.vector
		FROM passages p CROSS JOIN notes n ON n.key = p.note LEFT JOIN vectors v ON v.passage = p.key WHERE p.key > ? ORDER BY p.key LIMIT ?+0)`

// sameSQL asks whether the index is of an epoch and of a generation.
const sameSQL = "(SELECT count(*) FROM meta WHERE key = 'epoch' AND value = ? OR key = 'generation' AND value = ?) = 2"

// posted returns the copy, nil when there is none that can be used. It stays open for
// the next question.
func (d *conn) posted(ctx context.Context) (*posted, error) {
	file, err := d.postingsFile()
	if file == nil || err != nil {
		return nil, err
	}
	d.mu.Lock()
	known := d.full.posted
	d.mu.Unlock()
	if known != nil && known.Postings == file {
		same := d.opts.Brief // what changes at the same time is noticed when rows are read
		if !same {
			err = d.queryRow(ctx, "SELECT "+sameSQL, []any{known.epoch, known.generation}, &same)
		}
		if same || err != nil {
			return known.usable(), err
		}
	}
	p, err := d.since(ctx, file)
	if errors.Is(err, flat.ErrUnusable) {
		d.dropPostings()
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.full.posted = p
	d.mu.Unlock()
	return p.usable(), nil
}

func (p *posted) usable() *posted {
	if !p.fits {
		return nil
	}
	return p
}

// postingsFile returns the copy that stands beside the database now.
func (d *conn) postingsFile() (*flat.Postings, error) {
	fi, err := os.Stat(d.postingsPath())
	if err != nil {
		return nil, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full.info != nil && os.SameFile(fi, d.full.info) && fi.ModTime().Equal(d.full.info.ModTime()) {
		return d.full.open, nil
	}
	p, err := flat.OpenPostings(d.postingsPath())
	if err != nil { // it is remembered that this one is of no use
		p = nil
	}
	d.full.keep(p)
	d.full.info = fi
	return p, nil
}

// dropPostings removes a copy that turned out to be damaged.
func (d *conn) dropPostings() {
	d.mu.Lock()
	d.full.keep(nil)
	d.full.posted = nil
	d.mu.Unlock()
	if !d.readOnly.Load() {
		_ = os.Remove(d.postingsPath())
	}
}

// since reads what changed since a copy was made.
func (d *conn) since(ctx context.Context, file *flat.Postings) (*posted, error) {
	rows, err := d.queryBounded(ctx, sinceSQL, file.Gone, maxSince, file.Last, maxSince)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	p := &posted{Postings: file}
	numbers := make(map[string]int64, 3)
	var forward, vector sql.RawBytes
	for rows.Next() {
		var kind, value int64
		var text, project, class string
		var t newText
		if err := rows.Scan(&kind, &value, &text, &t.Note, &t.Start, &t.End, &forward, &project, &class, &t.model, &vector); err != nil {
			return nil, err
		}
		switch kind {
		case 0:
			numbers[text] = value
		case 1:
			if row, ok := file.Row(value); ok {
				p.gone = append(p.gone, row)
			}
		case 2:
			t.Key, t.Group, t.Class, t.Tokens = value, index.ProjectGroup(project), classOf(class, text), flat.Tokens(forward)
			t.vector = slices.Clone(index.Vector(vector))
			p.newer = append(p.newer, t)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	slices.Sort(p.gone)
	p.gone = slices.Compact(p.gone)
	p.epoch, p.generation = numbers["epoch"], numbers["generation"]
	p.fits = uint64(p.epoch) == file.Epoch && len(p.newer) < maxSince && len(p.gone) < maxSince &&
		int64(file.Rows-len(p.gone)+len(p.newer)) == numbers["passages"]
	if !p.fits {
		p.gone, p.newer = nil, nil
	}
	for _, row := range p.gone {
		t, err := file.Text(row)
		if err != nil {
			return nil, err
		}
		p.goneTexts = append(p.goneTexts, t)
	}
	return p, nil
}

// classOf is the number of a type and a scope in the copy.
func classOf(kind, path string) uint8 {
	class := uint8(2 * (slices.Index(note.Types, note.Type(kind)) + 1))
	if strings.HasPrefix(path, "local/") {
		class++
	}
	return class
}

// copyPostings rebuilds the copy.
func (d *conn) copyPostings(ctx context.Context, epoch, model uint64) error {
	h := flat.PostingsHeader{Epoch: epoch, Model: model}
	if err := d.queryRow(ctx, "SELECT coalesce(max(n), 0) FROM gone", nil, &h.Gone); err != nil { // first: see sinceSQL
		return wrap(err)
	}
	rows, err := d.query(ctx, `SELECT p.key, p.note, p.start, p."end", p.forward, n.project, n.type, n.path
		FROM passages p CROSS JOIN notes n ON n.key = p.note ORDER BY p.key`)
	if err != nil {
		return wrap(err)
	}
	defer rows.Close()
	w, err := flat.WritePostings(d.postingsPath(), h)
	if err != nil {
		return err
	}
	var forward sql.RawBytes
	for rows.Next() {
		var t flat.Text
		var project, kind, path string
		if err := rows.Scan(&t.Key, &t.Note, &t.Start, &t.End, &forward, &project, &kind, &path); err != nil {
			w.Abandon()
			return wrap(err)
		}
		t.Group, t.Class, t.Tokens = index.ProjectGroup(project), classOf(kind, path), flat.Tokens(forward)
		w.Add(&t)
	}
	if err := rows.Err(); err != nil {
		w.Abandon()
		return wrap(err)
	}
	return w.Finish()
}

// tidyPostings makes the copy when there is none, or when it lacks much, and forgets
// what went before the one there was.
func (d *conn) tidyPostings(ctx context.Context, epoch uint64, models []embedded) error {
	var passages, newer, gone int64
	from, upTo := int64(0), int64(0)
	if file, err := d.postingsFile(); err != nil {
		return err
	} else if file != nil && file.Epoch == epoch {
		from, upTo = file.Last, file.Gone
	}
	err := d.queryRow(ctx, `SELECT (SELECT count(*) FROM passages WHERE key > ?), (SELECT count(*) FROM gone WHERE n > ?),
		(SELECT coalesce(max(value), 0) FROM meta WHERE key = 'passages')`, []any{from, upTo}, &newer, &gone, &passages)
	if err != nil || newer+gone <= postingsLeast {
		return wrap(err)
	}
	if err := d.copyPostings(ctx, epoch, mostVectors(models)); err != nil {
		return err
	}
	return d.change(ctx, func(w *writer) { w.exec("DELETE FROM gone WHERE n <= ?", upTo) })
}

// mostVectors is the model that made most vectors, 0 without any.
func mostVectors(models []embedded) uint64 {
	var most embedded
	for _, m := range models {
		if m.count > most.count {
			most = m
		}
	}
	return uint64(most.model)
}

// postingsLeast is how many passages the copy may lack. What it lacks is read at each question.
const postingsLeast = 256
