package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/store/layout"
)

// sums are the rows of meta that Statistics and Generation answer from.
func (w *writer) sums() map[string]*int64 {
	return map[string]*int64{
		"passages": &w.passages, "length_title": &w.lengths[index.Title], "length_tags": &w.lengths[index.Tags],
		"length_body": &w.lengths[index.Body], "generation": &w.generation,
	}
}

func (w *writer) batch(b index.Batch) {
	sums := w.sums()
	w.query("SELECT key, value FROM meta", func(r *sql.Rows) error {
		var key string
		var value int64
		err := r.Scan(&key, &value)
		if sum := sums[key]; sum != nil {
			*sum = value
		}
		return err
	})
	w.query("SELECT name, fingerprint, files, walked FROM origins", func(r *sql.Rows) error {
		var name string
		var fingerprint, files, walked int64
		err := r.Scan(&name, &fingerprint, &files, &walked)
		if name == w.origin {
			w.fingerprint, w.files, w.walked = uint64(fingerprint), files, walked
		} else {
			w.others = true
		}
		return err
	})
	w.look(b)
	for _, p := range b.Drop {
		w.drop(p, "", nil)
		w.clearProblems(p)
	}
	for i := range b.Put {
		e := &b.Put[i]
		if w.standing[e.Ref.Path] || w.standing[strings.ToLower(string(e.Note.ID))] || !utf8.ValidString(e.Ref.Path) {
			w.drop(e.Ref.Path, string(e.Note.ID), e.Hash[:])
		}
		w.clearProblems(e.Ref.Path)
	}
	held := make(map[string]bool, 2*len(b.Put)) // paths and ids of this batch
	for i := range b.Put {
		path, id := b.Put[i].Ref.Path, strings.ToLower(string(b.Put[i].Note.ID))
		if held[path] || held[id] {
			w.drop(path, id, nil)
		}
		held[path], held[id] = true, true
		w.put(&b.Put[i])
	}
	for path, p := range b.Problems {
		w.drop(path, "", nil)
		w.clearProblems(path)
		w.exec("INSERT INTO problems (origin, path, size, mtime, hash, reason) VALUES (?, ?, ?, ?, ?, ?)", w.origin, path, p.Size,
			p.ModTime, p.Hash[:], p.Problem)
		w.fingerprint ^= index.Fingerprint(path, p.Size, p.ModTime)
		w.files++
	}
	if w.edges {
		w.supersede()
	}
	if len(b.Drop)+len(b.Put)+len(b.Problems) > 0 {
		w.generation++
	}
	if w.residue {
		w.exec("INSERT INTO meta (key, value) VALUES ('residue', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", w.generation)
	}
	if !b.Walked.IsZero() {
		w.walked = b.Walked.UnixNano()
	}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		w.exec("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, *sums[key])
	}
	w.exec(`INSERT INTO origins (name, fingerprint, files, walked) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET
		fingerprint = excluded.fingerprint, files = excluded.files, walked = excluded.walked`, w.origin, int64(w.fingerprint), w.files, w.walked)
}

// look finds out for the whole batch what each of its notes would be asked: which of their paths
// and ids notes have (one that is no UTF-8 is not found), whether anything is said against a file, and whether notes supersede others.
func (w *writer) look(b index.Batch) {
	names := make([]string, 0, 2*len(b.Put))
	for i := range b.Put {
		names = append(names, b.Put[i].Ref.Path, strings.ToLower(string(b.Put[i].Note.ID)))
	}
	list, _ := json.Marshal(names) // cannot fail: it is text
	w.standing = make(map[string]bool)
	w.query(`SELECT j.value FROM json_each(?1) j CROSS JOIN notes n ON n.path = j.value AND n.origin = ?2 UNION ALL
		SELECT j.value FROM json_each(?1) j CROSS JOIN notes n ON n.id = j.value AND n.origin = ?2`, func(r *sql.Rows) error {
		var name string
		err := r.Scan(&name)
		w.standing[name] = true
		return err
	}, string(list), w.origin)
	w.query("SELECT EXISTS (SELECT 1 FROM problems), EXISTS (SELECT 1 FROM supersedes)", func(r *sql.Rows) error {
		return r.Scan(&w.complaints, &w.superseding)
	})
}

// clearProblems removes what was said against the file at path, and against its
// sidecar. The walk does not see sidecars, so that what is said against one has no
// hash, and is neither among the files nor in their fingerprint.
func (w *writer) clearProblems(path string) {
	if !w.complaints {
		return
	}
	w.exec("DELETE FROM problems WHERE origin = ? AND path = ? AND hash = x''", w.origin, layout.SidecarOf(path))
	w.query("DELETE FROM problems WHERE origin = ? AND path = ? AND hash <> x'' RETURNING size, mtime", func(r *sql.Rows) error {
		var size, mtime int64
		if err := r.Scan(&size, &mtime); err != nil {
			return err
		}
		w.fingerprint ^= index.Fingerprint(path, size, mtime)
		w.files--
		return nil
	}, w.origin, path)
}

// drop removes the notes of the origin that have a path or an id. hash is that of the file that takes their place, nil
// without one: of a file that says the same nothing is left that must go.
func (w *writer) drop(path, id string, hash []byte) {
	var keys, simhashes []int64
	var ids []string
	var entities [][]byte
	w.query("SELECT key, id, path, size, mtime, simhash, entities, hash FROM notes WHERE path = ? AND origin = ? OR id = ? AND origin = ?",
		func(r *sql.Rows) error {
			var key, size, mtime, simhash int64
			var id, path string
			var mentioned, was []byte
			if err := r.Scan(&key, &id, &path, &size, &mtime, &simhash, &mentioned, &was); err != nil {
				return err
			}
			w.residue = w.residue || !bytes.Equal(was, hash)
			keys, ids, simhashes = append(keys, key), append(ids, id), append(simhashes, simhash)
			entities = append(entities, mentioned)
			w.fingerprint ^= index.Fingerprint(path, size, mtime)
			w.files--
			return nil
		}, path, w.origin, id, w.origin)
	for i, key := range keys {
		var removed []int64
		w.query(`SELECT key, forward FROM passages WHERE note = ?`, func(r *sql.Rows) error {
			var p int64
			var forward []byte
			if err := r.Scan(&p, &forward); err != nil {
				return err
			}
			removed = append(removed, p)
			w.passages--
			for f, tokens := range flat.Tokens(forward) {
				w.lengths[f] -= int64(len(tokens))
			}
			return nil
		}, key)
		for _, p := range removed {
			w.exec("INSERT INTO gone (passage) VALUES (?)", p)
		}
		w.exec("DELETE FROM vectors WHERE passage IN (SELECT key FROM passages WHERE note = ?)", key)
		w.exec("DELETE FROM passages WHERE note = ?", key)
		w.dropGraph(key, entities[i])
		for band := range 4 { // by its whole key: no index leads from a note to its bands
			w.exec("DELETE FROM bands WHERE band = ? AND note = ?", bandKey(uint64(simhashes[i]), band), key)
		}
		if res := w.exec("DELETE FROM supersedes WHERE note = ?", key); res != nil {
			n, _ := res.RowsAffected()
			w.edges = w.edges || n > 0
		}
		w.exec("DELETE FROM notes WHERE key = ?", key)
		if w.origin != "" {
			w.exec("DELETE FROM texts WHERE note = ?", key)
		}
		w.share(ids[i])
	}
}

// put inserts a note; what had its path or its id has been dropped.
func (w *writer) put(e *index.Entry) {
	n := e.Note
	res := w.exec(`INSERT INTO notes (id, path, size, mtime, hash, type, title, project, machine, user, workspace, source, session,
		confidence, created, updated, tags, dead, forget_after, statement, simhash, words, kind, branch, status, proofs, speculative,
		entities, said, origin, proof, superseded_by, shared)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0)`,
		append(flat.NoteColumns(n, e), int64(e.Said), w.origin, string(n.Proof))...)
	if w.err != nil {
		return
	}
	key, err := res.LastInsertId()
	if err != nil {
		w.err = err
		return
	}
	w.fingerprint ^= index.Fingerprint(e.Ref.Path, e.Ref.Size, e.Ref.ModTime.UnixNano())
	w.files++
	for i := range e.Passages {
		p := &e.Passages[i]
		res := w.exec(`INSERT INTO passages (note, start, "end", forward) VALUES (?, ?, ?, ?)`, key, p.Start, p.End, flat.Forward(p.Fields))
		if w.err != nil {
			return
		}
		rowid, err := res.LastInsertId()
		if err != nil {
			w.err = err
			return
		}
		if p.Vector != nil {
			w.exec("INSERT INTO vectors (passage, model, project, vector) VALUES (?, ?, ?, ?)", rowid, int64(index.VectorModel(p.Model)),
				index.ProjectGroup(n.Project), []byte(p.Vector))
		}
		w.passages++
		for f := range p.Fields {
			w.lengths[f] += int64(len(p.Fields[f]))
		}
	}
	if w.origin != "" {
		w.exec("INSERT INTO texts (note, text) VALUES (?, ?)", key, e.Text)
	}
	w.share(string(n.ID))
	w.putGraph(key, e)
	if e.Sidecar != "" {
		w.exec("INSERT OR REPLACE INTO problems (origin, path, size, mtime, hash, reason) VALUES (?, ?, 0, 0, x'', ?)", w.origin,
			layout.SidecarOf(e.Ref.Path), e.Sidecar)
		w.complaints = true
	}
	w.exec("INSERT OR IGNORE INTO bands (band, note) VALUES (?2, ?1), (?3, ?1), (?4, ?1), (?5, ?1)", key, bandKey(e.Simhash, 0),
		bandKey(e.Simhash, 1), bandKey(e.Simhash, 2), bandKey(e.Simhash, 3))
	for _, target := range n.Supersedes {
		w.exec("INSERT OR IGNORE INTO supersedes (note, target) VALUES (?, ?)", key, string(target))
		w.edges = true
	}
	if !w.edges && w.superseding { // does anything supersede this note already?
		w.query("SELECT 1 FROM supersedes WHERE target = ? LIMIT 1", func(*sql.Rows) error { w.edges = true; return nil }, string(n.ID))
	}
}

// share says of the notes of an id whether there are several, of several origins,
// and which of them the readers of the files see. To ask that in each question
// made reading and planning the questions of a session start a third slower.
func (w *writer) share(id string) {
	if w.others {
		w.exec("UPDATE notes SET shared = CASE WHEN (SELECT count(*) FROM notes o WHERE o.id = notes.id) = 1 THEN 0 WHEN "+
			first("notes", "")+" THEN 1 ELSE 2 END WHERE id = ?", id)
		w.edges = true // another one of them may speak now
	}
}

func bandKey(simhash uint64, band int) int64 {
	return int64(band)<<16 | int64(simhash>>(16*band)&0xffff)
}
