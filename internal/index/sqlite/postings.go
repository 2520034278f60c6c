package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/note"
)

// The full text is a posting file beside the database, and what changed since it was
// made: the rows of passages with greater keys, and the table gone. The file is made of
// the rows, by Tidy when it lacks more than a few of them, and by a question that finds none
// it can use: none where many passages are, one of another index, a damaged one, one that
// lacks much. It is put in its place as a whole, so that two who make it at the same time
// harm nobody. Where nothing may be written it is made in memory. Which notes a filter
// lets through the database alone knows.

// A fullText is what is open of it. conn.mu guards it, except for making.
type fullText struct {
	making sync.Mutex     // held while changes are read, or the file is made; taken before mu
	open   *flat.Postings // the file beside the database, nil when it cannot be used
	info   os.FileInfo    // of that file
	memory *flat.Postings // that which was made in memory, or an empty one
	posted *posted
	old    []*flat.Postings // a question may still read them: they are unmapped when the database is closed
}

// keep takes another file into use.
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
	t.info, t.memory, t.posted, t.old = nil, nil, nil, nil
}

// postingsPath is the file beside a database.
func (d *conn) postingsPath() string { return strings.TrimSuffix(d.path, ".db") + "-postings.bin" }

// A posted is a posting file, and what changed since it was made.
type posted struct {
	*flat.Postings
	beside     *flat.Postings // the file beside the database then: Postings, or one that did not fit
	epoch      int64          // of the index
	generation int64          // of that index
	gone       []int          // rows, ascending
	goneTexts  []flat.Text
	newer      []newText // by their keys
}

// A newText is a passage that the file does not have.
type newText struct {
	flat.Text
	model  sql.NullInt64
	vector index.Vector
}

// What a file may lack is read by every process that asks, so that it is a number, or a share
// of what the file has where that is more: to make a file again and again while an index is
// filled would cost more.
const (
	sinceLeast = 1000
	sinceShare = 16
)

// sinceSQL reads what changed since a file was made, and the numbers by which to tell
// whether it is one of this index, in one statement: as of one moment. A limit is a sum, here
// and elsewhere, because SQLite plans a statement again once it knows a limit that is a bare
// parameter.
const sinceSQL = `SELECT 0, value, key, 0, 0, 0, NULL, '', '', NULL, NULL FROM meta WHERE key IN ('epoch', 'generation', 'passages')
	UNION ALL SELECT * FROM (SELECT 1, passage, '', 0, 0, 0, NULL, '', '', NULL, NULL FROM gone WHERE n > ? LIMIT ?+0)
	UNION ALL SELECT * FROM (SELECT 2, p.key, n.path, p.note, p.start, p."end", p.forward, n.project, n.type, v.model, v.vector
		FROM passages p CROSS JOIN notes n ON n.key = p.note LEFT JOIN vectors v ON v.passage = p.key WHERE p.key > ? ORDER BY p.key LIMIT ?+0)`

// sameSQL asks whether the index is of an epoch and of a generation.
const sameSQL = "(SELECT count(*) FROM meta WHERE key = 'epoch' AND value = ? OR key = 'generation' AND value = ?) = 2"

// posted returns what answers. It stays open for the next question.
func (d *conn) posted(ctx context.Context) (*posted, error) {
	if p, err := d.knownPosted(ctx); p != nil || err != nil {
		return p, err
	}
	d.full.making.Lock()
	defer d.full.making.Unlock()
	if p, err := d.knownPosted(ctx); p != nil || err != nil { // somebody else read the same
		return p, err
	}
	file := d.postingsFile()
	d.mu.Lock()
	memory := d.full.memory
	if memory == nil { // without rows, for an index of few passages
		memory, _ = flat.NewPostings(flat.PostingsHeader{Gone: math.MaxInt64}).Take()
		d.full.memory = memory
	}
	d.mu.Unlock()
	for _, base := range []*flat.Postings{file, memory} {
		if base == nil {
			continue
		}
		p, err := d.since(ctx, base, max(sinceLeast, base.Rows/sinceShare))
		switch {
		case errors.Is(err, flat.ErrUnusable):
			d.dropPostings()
			file = nil
		case err != nil:
			return nil, err
		case p != nil:
			return d.usePosted(p, file), nil
		}
	}
	made, err := d.makePostings(ctx)
	if err != nil {
		return nil, err
	}
	p, err := d.since(ctx, made, -1)
	if p == nil && err == nil { // the rows do not add up
		err = d.translate(d.reader(), errBroken)
	}
	if err != nil {
		return nil, err
	}
	return d.usePosted(p, d.postingsFile()), nil
}

func (d *conn) usePosted(p *posted, file *flat.Postings) *posted {
	p.beside = file
	d.mu.Lock()
	d.full.posted = p
	d.mu.Unlock()
	return p
}

// knownPosted returns what answered last, nil when the index or its file is another one now.
func (d *conn) knownPosted(ctx context.Context) (*posted, error) {
	file := d.postingsFile()
	d.mu.Lock()
	known := d.full.posted
	d.mu.Unlock()
	if known == nil || known.beside != file {
		return nil, nil
	}
	same := false // this process may have written besides: what others share, by another handle
	if err := d.queryRow(ctx, "SELECT "+sameSQL, []any{known.epoch, known.generation}, &same); !same {
		return nil, err
	}
	return known, nil
}

// postingsFile returns the current file beside the database, nil when it cannot be used.
func (d *conn) postingsFile() *flat.Postings {
	fi, err := os.Stat(d.postingsPath())
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err != nil:
		d.full.keep(nil)
		d.full.info = nil
	case d.full.info == nil || !os.SameFile(fi, d.full.info) || !fi.ModTime().Equal(d.full.info.ModTime()):
		p, err := flat.OpenPostings(d.postingsPath())
		if err != nil { // it is remembered that this one is of no use
			p = nil
		}
		d.full.keep(p)
		d.full.info = fi
	}
	return d.full.open
}

// dropPostings removes a file that turned out to be damaged.
func (d *conn) dropPostings() {
	d.mu.Lock()
	d.full.keep(nil)
	d.full.posted = nil
	d.mu.Unlock()
	if !d.readOnly.Load() {
		_ = os.Remove(d.postingsPath())
	}
}

// since reads what changed since a file was made, nil when it is none of this index or lacks
// more than most (-1: no bound). No row is missed: a passage that the file has, that is not in
// the index and that gone does not name, spoils the sum.
func (d *conn) since(ctx context.Context, file *flat.Postings, most int) (*posted, error) {
	rows, err := d.queryBounded(ctx, sinceSQL, file.Gone, most, file.Last, most)
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
	if err := rows.err(); err != nil {
		return nil, err
	}
	slices.Sort(p.gone)
	p.gone = slices.Compact(p.gone)
	p.epoch, p.generation = numbers["epoch"], numbers["generation"]
	if p.epoch == 0 { // the row that is always there cannot be read
		return nil, d.translate(rows.db, errBroken)
	}
	if file.Rows > 0 && uint64(p.epoch) != file.Epoch || int64(file.Rows-len(p.gone)+len(p.newer)) != numbers["passages"] {
		return nil, nil
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

// classOf is the number of a type and a scope in the file.
func classOf(kind, path string) uint8 {
	class := uint8(2 * (slices.Index(note.Types, note.Type(kind)) + 1))
	if strings.HasPrefix(path, "local/") {
		class++
	}
	return class
}

// makePostings makes the file of an index that has none of use, in memory where it cannot be written.
func (d *conn) makePostings(ctx context.Context) (*flat.Postings, error) {
	if !d.readOnly.Load() {
		failed, err := d.copyPostings(ctx)
		if err != nil {
			return nil, err
		}
		if file := d.postingsFile(); failed == nil && file != nil {
			return file, nil
		}
	}
	h, err := d.postingsHeader(ctx)
	if err != nil {
		return nil, err
	}
	w := flat.NewPostings(h)
	if err := d.addTexts(ctx, w); err != nil {
		return nil, err
	}
	made, err := w.Take()
	if err == nil {
		d.mu.Lock()
		d.full.memory = made
		d.mu.Unlock()
	}
	return made, err
}

// copyPostings makes the file. failed says that it cannot be written.
func (d *conn) copyPostings(ctx context.Context) (failed, err error) {
	h, err := d.postingsHeader(ctx)
	if err != nil {
		return nil, err
	}
	w, failed := flat.WritePostings(d.postingsPath(), h)
	if failed != nil {
		return failed, nil
	}
	if err := d.addTexts(ctx, w); err != nil {
		w.Abandon()
		return nil, err
	}
	return w.Finish(), nil
}

// headerSQL reads what a file says of its index. What is gone is read before the passages: see since.
const headerSQL = `SELECT coalesce((SELECT value FROM meta WHERE key = 'epoch'), 0), (SELECT coalesce(max(n), 0) FROM gone),
	coalesce((SELECT model FROM vectors GROUP BY model ORDER BY count(*) DESC LIMIT 1), 0)`

func (d *conn) postingsHeader(ctx context.Context) (h flat.PostingsHeader, err error) {
	var epoch, model int64
	err = d.queryRow(ctx, headerSQL, nil, &epoch, &h.Gone, &model)
	h.Epoch, h.Model = uint64(epoch), uint64(model)
	return h, err
}

// addTexts adds all passages.
func (d *conn) addTexts(ctx context.Context, w *flat.PostingsWriter) error {
	rows, err := d.query(ctx, `SELECT p.key, p.note, p.start, p."end", p.forward, n.project, n.type, n.path
		FROM passages p CROSS JOIN notes n ON n.key = p.note ORDER BY p.key`)
	var forward sql.RawBytes
	return each(rows, err, func() error {
		var t flat.Text
		var project, kind, path string
		err := rows.Scan(&t.Key, &t.Note, &t.Start, &t.End, &forward, &project, &kind, &path)
		t.Group, t.Class, t.Tokens = index.ProjectGroup(project), classOf(kind, path), flat.Tokens(forward)
		w.Add(&t)
		return err
	})
}

// tidyPostings makes the file when there is none, or when it lacks much, and forgets
// what went before the one there was.
func (d *conn) tidyPostings(ctx context.Context, epoch uint64) error {
	var passages, newer, gone int64
	from, upTo := int64(0), int64(0)
	if file := d.postingsFile(); file != nil && file.Epoch == epoch {
		from, upTo = file.Last, file.Gone
	}
	err := d.queryRow(ctx, `SELECT (SELECT count(*) FROM passages WHERE key > ?), (SELECT count(*) FROM gone WHERE n > ?),
		(SELECT coalesce(max(value), 0) FROM meta WHERE key = 'passages')`, []any{from, upTo}, &newer, &gone, &passages)
	if err != nil || newer+gone <= postingsLeast {
		return wrap(err)
	}
	if failed, err := d.copyPostings(ctx); failed != nil || err != nil {
		return errors.Join(failed, wrap(err))
	}
	return d.change(ctx, func(w *writer) { w.exec("DELETE FROM gone WHERE n <= ?", upTo) })
}

// postingsLeast is how many passages the file may lack after Tidy.
const postingsLeast = 256
