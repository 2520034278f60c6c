package postgres

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"

	"github.com/jackc/pgx/v5"
)

const rowColumns = `n.key, n.id, n.path, n.size, n.mtime, n.type, n.title, n.project, n.machine, n.author, n.team,
	n.source, n.session, n.confidence, n.created, n.updated, n.tags, n.superseded_by, n.dead, n.forget_after,
	n.kind, n.branch, n.status, n.proofs, n.speculative, n.hash, n.origin, n.writer IS NOT NULL`

func scanRow(rows pgx.Rows, now time.Time) (index.Row, error) {
	var r index.Row
	var id, typ, tags, by, kind string
	var mtime, created, updated, forget int64
	var hash []byte
	var checked bool
	err := rows.Scan(&r.Key, &id, &r.Ref.Path, &r.Ref.Size, &mtime, &typ, &r.Title, &r.Project, &r.MachineID, &r.UserID, &r.WorkspaceID,
		&r.Source, &r.Session, &r.Confidence, &created, &updated, &tags, &by, &r.Dead, &forget,
		&kind, &r.Branch, &r.Status, &r.Proofs, &r.Speculative, &hash, &r.Origin, &checked)
	if err != nil {
		return r, err
	}
	for _, s := range []*string{
		&id, &r.Ref.Path, &typ, &r.Title, &r.Project, &r.MachineID, &r.UserID, &r.WorkspaceID, &r.Source, &r.Session,
		&tags, &by, &kind, &r.Branch, &r.Status, &r.Origin,
	} {
		*s = unescape(*s)
	}
	copy(r.Hash[:], hash)
	r.ID, r.Type, r.SupersededBy, r.Kind = note.ID(id), note.Type(typ), note.ID(by), note.Kind(kind)
	r.Ref.ModTime = time.Unix(0, mtime)
	r.Ref.Scope = note.Portable
	if strings.HasPrefix(r.Ref.Path, "local/") {
		r.Ref.Scope = note.Local
	}
	r.Created, r.Updated = timeOf(created), timeOf(updated)
	if tags != "" {
		r.Tags = strings.Split(strings.Trim(tags, "\n"), "\n")
	}
	if !checked && r.Vouched() { // the row is older than the rule of who may say so
		r.Source = note.Unconfirmed
		r.Tags = slices.DeleteFunc(r.Tags, func(t string) bool { return t == note.ReviewedTag })
	}
	r.Dead = r.Dead || by != "" || forget != 0 && !now.IsZero() && forget <= now.Unix()
	return r, nil
}

// rows reads the rows of a question for rowColumns.
func (c *conn) rows(ctx context.Context, now time.Time, text string, args ...any) (all []index.Row, err error) {
	err = c.each(ctx, func(rows pgx.Rows) error {
		r, err := scanRow(rows, now)
		all = append(all, r)
		return err
	}, text, args...)
	return all, err
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
func (d catalogue) Tally(ctx context.Context, f index.Filter) (all []index.Tally, err error) {
	q := d.query()
	err = d.each(ctx, func(r pgx.Rows) error {
		t := index.Tally{Scope: note.Portable}
		var project, kind, workspace string
		local := false
		err := r.Scan(&project, &kind, &workspace, &local, &t.Notes)
		t.Project, t.Type, t.Workspace = unescape(project), note.Type(kind), unescape(workspace)
		if local {
			t.Scope = note.Local
		}
		all = append(all, t)
		return err
	}, "SELECT n.project, n.type, n.team, n.path LIKE 'local/%', count(*) FROM anamnesis.notes n WHERE "+q.where(f)+
		" GROUP BY 1, 2, 3, 4", q.args...)
	return all, err
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
func (d catalogue) Sharing(ctx context.Context, part string) (ids []note.ID, err error) {
	part = fold(part)
	like := "(" + endingSQL + " OR " + beginSQL + ") AND "
	if len([]rune(part)) < endChars {
		like = "$3 <> $4 AND (n.folded LIKE $4 OR n.folded LIKE $5) AND "
	}
	text := literal.Replace(part)
	err = d.each(ctx, func(r pgx.Rows) error {
		var id string
		err := r.Scan(&id)
		ids = append(ids, note.ID(unescape(id)))
		return err
	}, sharingSQL+like+visible("n"), d.origin, part, "%"+text, text+"%")
	return ids, err
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

const twinsSQL = "SELECT n.simhash, n.words, n.statement, " + rowColumns + ` FROM anamnesis.notes n WHERE n.workspace = $1 AND
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
		ahead := scanner{r, []any{&sim, &t.Words, &said}}
		row, err := scanRow(ahead, time.Time{})
		t.Row = row
		t.Exact = string(said) == string(statement[:])
		if t.Bits = bits.OnesCount64(uint64(sim) ^ simhash); t.Exact || t.Bits <= note.NearBits {
			twins = append(twins, t)
		}
		return err
	}, twinsSQL+visible("n")+" ORDER BY n.folded", args...)
	return twins, err
}

// A scanner reads columns that stand before those that its user knows.
type scanner struct {
	pgx.Rows
	before []any
}

func (s scanner) Scan(dest ...any) error { return s.Rows.Scan(append(s.before, dest...)...) }

// Branches lists the branches that live notes of projects hold for.
func (d catalogue) Branches(ctx context.Context, projects []string) (all []string, err error) {
	q := d.query()
	err = d.each(ctx, func(r pgx.Rows) error {
		var b string
		err := r.Scan(&b)
		all = append(all, unescape(b))
		return err
	}, "SELECT DISTINCT n.branch FROM anamnesis.notes n WHERE n.branch <> '' AND "+
		q.where(index.Filter{Projects: projects, Now: time.Unix(0, 0)})+" ORDER BY 1", q.args...)
	return all, err
}

// Superseding reports whether any note takes the place of another.
func (d catalogue) Superseding(ctx context.Context) (some bool, err error) {
	err = d.row(ctx, "SELECT EXISTS (SELECT 1 FROM anamnesis.supersedes WHERE workspace = $1)", nil, &some)
	return some, err
}

func timeOf(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
