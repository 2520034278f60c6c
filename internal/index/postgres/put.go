package postgres

import (
	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/note"
)

// Rows are inserted many at a time: each statement gets columns, not rows.
const (
	notesSQL = `INSERT INTO anamnesis.notes (workspace, origin, generation, shared, superseded_by, key, folded, id, path, size, mtime, hash,
		type, title, project, machine, author, team, source, session, confidence, created, updated, tags, dead, forget_after,
		statement, simhash, words, kind, branch, status, proofs, speculative, entities, declared, writer)
		SELECT $1, $2, $3, false, '', *, (SELECT anamnesis.writer())
		FROM unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bytea[],
		$11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::text[], $19::float8[], $20::bigint[],
		$21::bigint[], $22::text[], $23::boolean[], $24::bigint[], $25::bytea[], $26::bigint[], $27::integer[], $28::text[], $29::text[],
		$30::text[], $31::integer[], $32::boolean[], $33::bytea[], $34::integer[])`
	textsSQL    = "INSERT INTO anamnesis.texts (workspace, note, text) SELECT $1, * FROM unnest($2::bigint[], $3::bytea[])"
	passagesSQL = `INSERT INTO anamnesis.passages (workspace, key, note, first, past, forward)
		SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::integer[], $5::integer[], $6::bytea[])`
	vectorsSQL = `INSERT INTO anamnesis.vectors (workspace, generation, passage, model, project, vector)
		SELECT $1, $2, * FROM unnest($3::bigint[], $4::bigint[], $5::integer[], $6::bytea[])`
	supersedeSQL = `INSERT INTO anamnesis.supersedes (workspace, note, target)
		SELECT $1, * FROM unnest($2::bigint[], $3::text[]) ON CONFLICT DO NOTHING`
	mentionsSQL = `INSERT INTO anamnesis.mentions (workspace, note, entity, declared)
		SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::boolean[]) ON CONFLICT DO NOTHING`
	edgesSQL = `INSERT INTO anamnesis.edges AS e (workspace, note, source, target, relation, source_name, target_name, strength,
		committed, valid, valid_end)
		SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::integer[], $9::bigint[],
		$10::bigint[], $11::bigint[])`
	arrivedSQL = "DELETE FROM anamnesis.dropped WHERE workspace = $1 AND origin = $2 AND path = ANY($3::text[])"
)

// A table is the columns of an insertion.
type table struct{ columns []any }

// row adds a row. The first one says what the columns hold.
func (t *table) row(values ...any) {
	if t.columns == nil {
		t.columns = make([]any, len(values))
	}
	for i, v := range values {
		switch v := v.(type) {
		case string:
			t.columns[i] = appendTo(t.columns[i], escape(v))
		case int64:
			t.columns[i] = appendTo(t.columns[i], v)
		case int:
			t.columns[i] = appendTo(t.columns[i], int32(v))
		case bool:
			t.columns[i] = appendTo(t.columns[i], v)
		case float64:
			t.columns[i] = appendTo(t.columns[i], v)
		case []byte:
			if v == nil {
				v = []byte{}
			}
			t.columns[i] = appendTo(t.columns[i], v)
		}
	}
}

func appendTo[T any](column any, v T) any {
	all, _ := column.([]T)
	return append(all, v)
}

// insert adds the statement of a table that has rows. before are the parameters ahead of its columns.
func (w *writer) insert(text string, t *table, before ...any) {
	if len(t.columns) > 0 {
		w.exec(text, append(before, t.columns...)...)
	}
}

// put inserts notes; what had their paths or their ids has been dropped.
func (w *writer) put(d *delta) {
	var notes, texts, passages, vectors, supersedes, mentions, edges table
	var paths []string
	for _, e := range d.puts {
		n := e.Note
		w.lastNote++
		key := w.lastNote
		paths = append(paths, escape(e.Ref.Path))
		notes.row(w.noteColumns(key, e)...)
		texts.row(key, e.Text)
		for i := range e.Passages {
			p := &e.Passages[i]
			w.lastPassage++
			passages.row(w.lastPassage, key, p.Start, p.End, flat.Forward(p.Fields))
			if p.Vector != nil {
				vectors.row(w.lastPassage, int64(index.VectorModel(p.Model)), int(int32(index.ProjectGroup(n.Project))), []byte(p.Vector))
			}
			w.passages++
			for f := range p.Fields {
				w.lengths[f] += int64(len(p.Fields[f]))
			}
		}
		for i, entity := range e.Entities {
			mentions.row(key, int64(entity), i < e.Declared)
		}
		for _, x := range strongest(e.Edges) {
			edges.row(key, int64(x.From), int64(x.To), string(x.Relation), x.FromName, x.ToName, x.Strength,
				flat.Seconds(x.Committed), flat.Seconds(x.Valid), flat.Seconds(x.ValidEnd))
		}
		for _, target := range n.Supersedes {
			supersedes.row(key, unescape(fold(string(target))))
			w.edges = true
		}
		w.fingerprint ^= index.Fingerprint(e.Ref.Path, e.Ref.Size, e.Ref.ModTime.UnixNano())
		w.files++
		w.notes++
	}
	w.insert(notesSQL, &notes, w.c.origin, w.generation)
	w.insert(textsSQL, &texts)
	w.insert(passagesSQL, &passages)
	w.insert(vectorsSQL, &vectors, w.generation)
	w.insert(supersedeSQL, &supersedes)
	w.insert(mentionsSQL, &mentions)
	w.insert(edgesSQL, &edges)
	if len(paths) > 0 {
		w.exec(arrivedSQL, w.c.origin, paths)
	}
}

func (w *writer) noteColumns(key int64, e *index.Entry) []any {
	n := e.Note
	if n.Trusted && !w.vouches {
		n = n.Clone()
		n.Trusted = false
	}
	return append([]any{key, unescape(fold(string(n.ID)))}, append(flat.NoteColumns(n, e), e.Declared)...)
}

// strongest returns edges, of equals the first with the strength of the strongest.
func strongest(all []index.Edge) []index.Edge {
	type name struct {
		from, to index.EntityKey
		relation note.Relation
	}
	at := make(map[name]int, len(all))
	var kept []index.Edge
	for _, x := range all {
		k := name{x.From, x.To, x.Relation}
		if i, ok := at[k]; ok {
			kept[i].Strength = max(kept[i].Strength, x.Strength)
			continue
		}
		at[k] = len(kept)
		kept = append(kept, x)
	}
	return kept
}
