package postgres

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
	"anamnesis/internal/note"

	"github.com/jackc/pgx/v5"
)

const rowColumns = `n.key, n.id, n.path, n.size, n.mtime, n.type, n.title, n.project, n.machine, n.author, n.team,
	n.source, n.session, n.confidence, n.created, n.updated, n.tags, n.superseded_by, n.dead, n.forget_after,
	n.kind, n.branch, n.status, n.proofs, n.speculative, n.hash, n.origin, n.writer IS NOT NULL`

func scanRow(rows pgx.Rows, r *index.Row, now time.Time, more ...any) error {
	var checked bool
	if err := flat.ScanRow[[]byte](r, rows.Scan, now, append([]any{&checked}, more...)...); err != nil {
		return err
	}
	unescapeIn((*string)(&r.ID), &r.Ref.Path, (*string)(&r.Type), &r.Title, &r.Project, &r.MachineID, &r.UserID, &r.WorkspaceID, &r.Source,
		&r.Session, (*string)(&r.SupersededBy), (*string)(&r.Kind), &r.Branch, &r.Status, &r.Origin)
	for i := range r.Tags {
		unescapeIn(&r.Tags[i])
	}
	if !checked && r.Vouched() { // the row is older than the rule of who may say so
		r.Source = note.Unconfirmed
		r.Tags = slices.DeleteFunc(r.Tags, func(t string) bool { return t == note.ReviewedTag })
	}
	return nil
}

// rows reads the rows of a question for rowColumns.
func (c *conn) rows(ctx context.Context, now time.Time, text string, args ...any) ([]index.Row, error) {
	return collect(ctx, c, func(rows pgx.Rows, r *index.Row) error { return scanRow(rows, r, now) }, text, args...)
}

// Select returns the rows a filter lets through, newest first.
func (d catalogue) Select(ctx context.Context, f index.Filter, limit int) ([]index.Row, error) {
	order := " ORDER BY n.updated DESC, n.folded DESC"
	if limit > 0 {
		order += fmt.Sprintf(" LIMIT %d", limit)
	}
	q := d.query()
	return d.rows(ctx, f.Now, "SELECT "+rowColumns+" FROM anamnesis.notes n WHERE "+q.where(f)+order, q.args...)
}

// Alike returns all rows: whoever has the files compares what they say.
func (d catalogue) Alike(ctx context.Context, f index.Filter) ([]index.Row, error) {
	return d.Select(ctx, f, 0)
}

// PerProject returns how many notes of each project the filter lets through.
func (d catalogue) PerProject(ctx context.Context, f index.Filter) (map[string]int, error) {
	q := d.query()
	counts := make(map[string]int)
	err := d.each(ctx, func(r pgx.Rows) error {
		var project string
		var n int
		err := r.Scan(&project, &n)
		counts[unescape(project)] = n
		return err
	}, "SELECT n.project, count(*) FROM anamnesis.notes n WHERE "+q.where(f)+" GROUP BY n.project", q.args...)
	return counts, err
}

// Tally counts the notes that the filter lets through by what they have in common.
func (d catalogue) Tally(ctx context.Context, f index.Filter) ([]index.Tally, error) {
	q := d.query()
	return collect(ctx, d.conn, func(r pgx.Rows, t *index.Tally) error {
		local := false
		err := r.Scan(&t.Project, (*string)(&t.Type), &t.Workspace, &local, &t.Notes)
		unescapeIn(&t.Project, &t.Workspace)
		t.Scope = flat.ScopeOf(local)
		return err
	}, "SELECT n.project, n.type, n.team, n.path LIKE 'local/%', count(*) FROM anamnesis.notes n WHERE "+q.where(f)+
		" GROUP BY 1, 2, 3, 4", q.args...)
}

const rowsSQL = "SELECT " + rowColumns + ` FROM unnest($2::bigint[]) WITH ORDINALITY AS j (key, place)
	JOIN anamnesis.notes n ON n.workspace = $1 AND n.key = j.key ORDER BY j.place`

// Rows returns the rows with the given keys, in that order.
func (d catalogue) Rows(ctx context.Context, keys []int64) ([]index.Row, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return d.rows(ctx, time.Time{}, rowsSQL, keys)
}

// Lookup returns the row of an id, compared without regard to case.
func (d catalogue) Lookup(ctx context.Context, id note.ID) (index.Row, bool, error) {
	got, err := d.rows(ctx, time.Time{}, "SELECT "+rowColumns+" FROM anamnesis.notes n WHERE n.workspace = $1 AND "+visible("n")+
		" AND n.folded = $3", d.origin, fold(string(id)))
	if err != nil || len(got) == 0 {
		return index.Row{}, false, err
	}
	return got[0], true, nil
}

// endChars is how many of the last characters of all ids an index holds.
const endChars = 4

const (
	sharingSQL = "SELECT n.id FROM anamnesis.notes n WHERE n.workspace = $1 AND "
	endingSQL  = "right(n.folded, 4) = right($3, 4) AND n.folded LIKE $4"
	beginSQL   = "n.folded >= $3 AND n.folded < $3 || chr(1114111) AND n.folded LIKE $5"
)

// Sharing returns the ids that begin or end with a part.
func (d catalogue) Sharing(ctx context.Context, part string) ([]note.ID, error) {
	part = fold(part)
	like := "(" + endingSQL + " OR " + beginSQL + ") AND "
	if len([]rune(part)) < endChars {
		like = "$3 <> $4 AND (n.folded LIKE $4 OR n.folded LIKE $5) AND "
	}
	text := literal.Replace(part)
	return collect(ctx, d.conn, scanText[note.ID], sharingSQL+like+visible("n"), d.origin, part, "%"+text, text+"%")
}

// Origin names the tree that Apply writes.
func (d catalogue) Origin() string { return d.opts.Origin }

// Texts returns the files of notes.
func (d catalogue) Texts(ctx context.Context, keys []int64) (map[int64][]byte, error) {
	texts := make(map[int64][]byte, len(keys))
	err := d.each(ctx, func(r pgx.Rows) error {
		var key int64
		var text []byte
		err := r.Scan(&key, &text)
		texts[key] = text
		return err
	}, "SELECT note, text FROM anamnesis.texts WHERE workspace = $1 AND note = ANY($2::bigint[])", keys)
	return texts, err
}

const twinsSQL = "SELECT " + rowColumns + `, n.simhash, n.words, n.statement FROM anamnesis.notes n WHERE n.workspace = $1 AND
	(n.statement = $3 OR (n.simhash >> 48) & 65535 = $4 OR (n.simhash >> 32) & 65535 = $5 OR (n.simhash >> 16) & 65535 = $6 OR
	n.simhash & 65535 = $7) AND `

// Twins returns the notes with the same statement and those with a similar one. Two
// hashes that differ in at most three bits are equal in one of four bands.
func (d catalogue) Twins(ctx context.Context, statement [16]byte, simhash uint64) (twins []index.Twin, err error) {
	args := []any{d.origin, statement[:]}
	for band := 3; band >= 0; band-- {
		args = append(args, int64(simhash>>(16*band)&0xffff))
	}
	err = d.each(ctx, func(r pgx.Rows) error {
		var t index.Twin
		var sim int64
		var said []byte
		err := scanRow(r, &t.Row, time.Time{}, &sim, &t.Words, &said)
		t.Exact = string(said) == string(statement[:])
		if t.Bits = bits.OnesCount64(uint64(sim) ^ simhash); t.Exact || t.Bits <= note.NearBits {
			twins = append(twins, t)
		}
		return err
	}, twinsSQL+visible("n")+" ORDER BY n.folded", args...)
	return twins, err
}

// Branches lists the branches that live notes of projects hold for.
func (d catalogue) Branches(ctx context.Context, projects []string) ([]string, error) {
	q := d.query()
	return collect(ctx, d.conn, scanText[string], "SELECT DISTINCT n.branch FROM anamnesis.notes n WHERE n.branch <> '' AND "+
		q.where(index.Filter{Projects: projects, Now: time.Unix(0, 0)})+" ORDER BY 1", q.args...)
}

// Superseding reports whether any note takes the place of another.
func (d catalogue) Superseding(ctx context.Context) (some bool, err error) {
	err = d.row(ctx, "SELECT EXISTS (SELECT 1 FROM anamnesis.supersedes WHERE workspace = $1)", nil, &some)
	return some, err
}
