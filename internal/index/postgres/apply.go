package postgres

import (
	"context"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/store/layout"

	"github.com/jackc/pgx/v5"
)

// Apply makes the changes of a batch in one transaction. When somebody else has written
// our origin since State was asked, it is ErrConflict.
func (d maintainer) Apply(ctx context.Context, b index.Batch) error {
	d.mu.Lock()
	version, mark := d.version, d.mark
	d.mu.Unlock()
	var after int64
	err := d.change(ctx, d.opts.Busy, func(w *writer) {
		if version >= 0 && w.version != version {
			w.err = ErrConflict
			return
		}
		after = w.apply(b)
		w.sign(mark)
	})
	if err == nil {
		d.wrote(after)
	}
	return err
}

// wrote remembers the version of our origin that a change of ours left.
func (c *conn) wrote(version int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version >= 0 { // else nobody has compared anything
		c.version = version
	}
	c.applied++
}

// saw remembers the version of our origin that was read when so many changes of ours
// had been made. One that was overtaken by a change of ours says nothing.
func (c *conn) saw(version int64, applied int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.applied == applied {
		c.version = version
	}
}

// A change of a batch: what goes, what comes.
type delta struct {
	puts     []*index.Entry
	problems map[string]index.FileState
	paths    []string // of what is dropped, put, or said to be no note
	ids      []string // of what is put, folded
}

// deltaOf makes one of a batch. Of entries that claim the same path or id the last one counts.
func deltaOf(b index.Batch) *delta {
	d := &delta{problems: b.Problems}
	seen := make(map[string]bool, len(b.Drop)+len(b.Put))
	touch := func(path string) {
		if path = escape(path); !seen[path] {
			seen[path] = true
			d.paths = append(d.paths, path)
		}
	}
	for _, p := range b.Drop {
		touch(p)
	}
	claimed := make(map[string]bool, 2*len(b.Put))
	for i := len(b.Put) - 1; i >= 0; i-- {
		e := &b.Put[i]
		path, id := "p"+e.Ref.Path, "i"+fold(string(e.Note.ID))
		touch(e.Ref.Path)
		d.ids = append(d.ids, id[1:])
		_, bad := b.Problems[e.Ref.Path]
		if !bad && !claimed[path] && !claimed[id] {
			d.puts = append(d.puts, e)
		}
		claimed[path], claimed[id] = true, true
	}
	for i, j := 0, len(d.puts)-1; i < j; i, j = i+1, j-1 { // keys in the order of the batch
		d.puts[i], d.puts[j] = d.puts[j], d.puts[i]
	}
	for p := range b.Problems {
		touch(p)
	}
	return d
}

func (d *delta) empty() bool { return len(d.paths) == 0 }

// apply makes the changes of a batch, and returns the version of our origin.
func (w *writer) apply(b index.Batch) int64 {
	d := deltaOf(b)
	if !d.empty() {
		w.generation++
		w.version = w.generation
		gone := w.drop(d)
		w.forgetProblems(d)
		w.flush()
		w.put(d)
		w.putProblems(d)
		touched := append(gone, d.ids...)
		w.share(touched)
		w.query(speakersSQL, func(pgx.Rows) error {
			w.edges = true
			return nil
		}, touched)
		w.flush()
		if w.edges {
			w.supersede(touched)
		}
	}
	if !b.Walked.IsZero() {
		w.walked = b.Walked.UnixNano()
	}
	w.close()
	return w.version
}

// speakersSQL asks whether anything supersedes notes, or a copy of them supersedes anything.
const speakersSQL = `(SELECT 1 FROM anamnesis.supersedes WHERE workspace = $1 AND target = ANY($2::text[]) LIMIT 1)
	UNION ALL (SELECT 1 FROM anamnesis.notes n JOIN anamnesis.supersedes s ON s.workspace = $1 AND s.note = n.key
		WHERE n.workspace = $1 AND n.folded = ANY($2::text[]) LIMIT 1)`

// close writes the sums of the workspace and of our origin.
func (w *writer) close() {
	w.total()
	w.exec(`UPDATE anamnesis.origins SET fingerprint = $3, files = $4, walked = $5, generation = $6, member = session_user
		WHERE workspace = $1 AND name = $2`, w.c.origin, int64(w.fingerprint), w.files, w.walked, w.version)
}

// total writes the sums of the workspace.
func (w *writer) total() {
	w.exec(`UPDATE anamnesis.workspaces SET generation = $2, last_note = $3, last_passage = $4, notes = $5, passages = $6,
		length_title = $7, length_tags = $8, length_body = $9 WHERE id = $1`, w.generation, w.lastNote, w.lastPassage, w.notes, w.passages,
		w.lengths[index.Title], w.lengths[index.Tags], w.lengths[index.Body])
}

// forgetProblems removes what was said against the files of a change, and against
// their sidecars. A sidecar is not among the files: what is said against one has no hash.
func (w *writer) forgetProblems(d *delta) {
	sides := make([]string, len(d.paths))
	for i, p := range d.paths {
		sides[i] = escape(layout.SidecarOf(unescape(p)))
	}
	w.exec("DELETE FROM anamnesis.problems WHERE workspace = $1 AND origin = $2 AND path = ANY($3::text[]) AND hash = ''", w.c.origin, sides)
	w.query(`DELETE FROM anamnesis.problems WHERE workspace = $1 AND origin = $2 AND path = ANY($3::text[]) AND hash <> ''
		RETURNING path, size, mtime`, func(r pgx.Rows) error {
		var path string
		var size, mtime int64
		err := r.Scan(&path, &size, &mtime)
		w.fingerprint ^= index.Fingerprint(unescape(path), size, mtime)
		w.files--
		return err
	}, w.c.origin, d.paths)
}

func (w *writer) putProblems(d *delta) {
	const problemSQL = `INSERT INTO anamnesis.problems (workspace, origin, path, size, mtime, hash, reason) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (workspace, origin, path) DO UPDATE SET size = excluded.size, mtime = excluded.mtime, hash = excluded.hash,
		reason = excluded.reason`
	for path, p := range d.problems {
		w.exec(problemSQL, w.c.origin, escape(path), p.Size, p.ModTime, p.Hash[:], escape(p.Problem))
		w.fingerprint ^= index.Fingerprint(path, p.Size, p.ModTime)
		w.files++
	}
	for _, e := range d.puts {
		if e.Sidecar != "" {
			w.exec(problemSQL, w.c.origin, escape(layout.SidecarOf(e.Ref.Path)), int64(0), int64(0), []byte{}, escape(e.Sidecar))
		}
	}
}

const toDropSQL = `SELECT key, folded, path, size, mtime FROM anamnesis.notes
	WHERE workspace = $1 AND origin = $2 AND (path = ANY($3::text[]) OR folded = ANY($4::text[]))`

// drop removes the notes of our origin whose path or id a change touches, and returns
// their ids. Their paths are remembered for those who keep copies.
func (w *writer) drop(d *delta) (ids []string) {
	var keys []int64
	var paths []string
	w.query(toDropSQL, func(r pgx.Rows) error {
		var key, size, mtime int64
		var id, path string
		err := r.Scan(&key, &id, &path, &size, &mtime)
		keys, ids, paths = append(keys, key), append(ids, id), append(paths, path)
		w.fingerprint ^= index.Fingerprint(unescape(path), size, mtime)
		w.files--
		return err
	}, w.c.origin, d.paths, d.ids)
	w.flush()
	if len(keys) == 0 {
		return nil
	}
	w.notes -= int64(len(keys))
	w.query("SELECT forward FROM anamnesis.passages WHERE workspace = $1 AND note = ANY($2::bigint[])", func(r pgx.Rows) error {
		var forward []byte
		err := r.Scan(&forward)
		w.passages--
		for f, tokens := range flat.Tokens(forward) {
			w.lengths[f] -= int64(len(tokens))
		}
		return err
	}, keys)
	w.query("SELECT 1 FROM anamnesis.supersedes WHERE workspace = $1 AND note = ANY($2::bigint[]) LIMIT 1", func(pgx.Rows) error {
		w.edges = true
		return nil
	}, keys)
	w.exec("DELETE FROM anamnesis.notes WHERE workspace = $1 AND key = ANY($2::bigint[])", keys)
	w.exec(`INSERT INTO anamnesis.dropped (workspace, origin, path, generation) SELECT $1, $2, p, $4 FROM unnest($3::text[]) p
		ON CONFLICT (workspace, origin, path) DO UPDATE SET generation = excluded.generation`, w.c.origin, paths, w.generation)
	return ids
}

// share says of the notes of some ids whether several origins hold them.
func (w *writer) share(ids []string) {
	if w.others {
		w.exec(`UPDATE anamnesis.notes n SET shared = NOT n.shared WHERE n.workspace = $1 AND n.folded = ANY($2::text[]) AND n.shared <>
			EXISTS (SELECT 1 FROM anamnesis.notes o WHERE o.workspace = $1 AND o.folded = n.folded AND o.key <> n.key)`, ids)
	}
}

// supersedesSQL asks what supersedes what. Of an owner's note only an owner's says it (migration 5).
func supersedesSQL() string {
	fill := strings.NewReplacer("{n owned}", owned("n"), "{o owned}", owned("o"), "{t owned}", owned("t"))
	return fill.Replace(`SELECT n.folded, s.target FROM anamnesis.supersedes s
	JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = s.note
	WHERE s.workspace = $1 AND n.folded <> s.target AND n.branch = '' AND (NOT n.shared OR NOT EXISTS (SELECT 1 FROM anamnesis.notes o
		WHERE o.workspace = $1 AND o.folded = n.folded AND o.key <> n.key AND CASE WHEN {o owned} <> {n owned} THEN {o owned}
			WHEN o.updated <> n.updated THEN o.updated > n.updated ELSE o.origin < n.origin END))
		AND ({n owned} OR NOT EXISTS (SELECT 1 FROM anamnesis.notes t WHERE t.workspace = $1 AND t.folded = s.target AND {t owned}))
	ORDER BY n.updated DESC, n.folded DESC, s.target`)
}

// supersede works out which notes are hidden behind others. A note that lists itself
// hides nothing, and of notes that supersede each other in a circle one always stays
// visible. A note of a branch hides nothing here: it does so for readers on that
// branch, in the filter. Of a note that several origins hold, that of an owner speaks, else the one that was updated
// last, whoever asks. touched are the ids that were put or dropped.
func (w *writer) supersede(touched []string) {
	var all []flat.Supersede
	was := make(map[string]string)
	fresh := make(map[string]bool, len(touched))
	for _, id := range touched {
		fresh[id] = true
	}
	w.query(supersedesSQL(), func(r pgx.Rows) error {
		var s flat.Supersede
		err := r.Scan(&s.From, &s.To)
		all = append(all, s)
		return err
	})
	w.query("SELECT folded, superseded_by FROM anamnesis.notes WHERE workspace = $1 AND superseded_by <> ''", func(r pgx.Rows) error {
		var id, by string
		err := r.Scan(&id, &by)
		was[id] = fold(unescape(by))
		return err
	})
	w.flush()
	hidden := flat.Hidden(all)
	var ids, by []string
	for id, who := range hidden {
		if was[id] != who || fresh[id] {
			ids, by = append(ids, id), append(by, who)
		}
		delete(was, id)
	}
	for id := range was {
		ids, by = append(ids, id), append(by, "")
	}
	if len(ids) > 0 {
		w.exec(`UPDATE anamnesis.notes n SET superseded_by = coalesce((SELECT m.id FROM anamnesis.notes m WHERE m.workspace = $1
			AND m.folded = j.by ORDER BY m.updated DESC, m.origin LIMIT 1), '')
			FROM unnest($2::text[], $3::text[]) AS j (id, by) WHERE n.workspace = $1 AND n.folded = j.id`, ids, by)
	}
}
