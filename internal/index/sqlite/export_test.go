package sqlite

import (
	"context"
	"errors"
	"strings"

	"anamnesis/internal/index"
)

// Lose replaces the database, as if it were damaged.
func (d *DB) Lose(ctx context.Context) error {
	d.healing.Lock()
	defer d.healing.Unlock()
	return d.reset(ctx)
}

// CopyPostings makes the posting file, however little the last one lacks.
func (d *DB) CopyPostings(ctx context.Context) error {
	failed, err := d.copyPostings(ctx)
	return errors.Join(failed, err)
}

// Posted reports whether the posting file beside the database answers.
func (d *DB) Posted(ctx context.Context) (bool, error) {
	p, err := d.posted(ctx)
	return p != nil && p.Postings == d.postingsFile(), err
}

// PlanPerProject returns how SQLite answers PerProject.
func (d *DB) PlanPerProject(ctx context.Context, f index.Filter) (plan string, err error) {
	cond, args := d.where(f)
	var id, parent, unused int
	err = d.queryRow(ctx, "EXPLAIN QUERY PLAN "+perProjectSQL+cond+" GROUP BY n.project", args, &id, &parent, &unused, &plan)
	return plan, err
}

// PlanSelect returns how SQLite answers Select.
func (d *DB) PlanSelect(ctx context.Context, f index.Filter, limit int) (plan string, err error) {
	query, args := d.selectSQL(f, limit)
	return d.plan(ctx, query, args...)
}

// PlanDeclared returns how SQLite answers Declared.
func (d *DB) PlanDeclared(ctx context.Context) (plan string, err error) {
	return d.plan(ctx, "SELECT j.value FROM json_each('[]') j WHERE "+declaredSQL)
}

// PlanSharing returns how SQLite answers Sharing.
func (d *DB) PlanSharing(ctx context.Context) (plan string, err error) {
	return d.plan(ctx, strings.ReplaceAll(sharingSQL, "{seen}", d.seen), "abcd", "%abcd", "abcd", "abce", "abcd%")
}

func (d *DB) plan(ctx context.Context, query string, args ...any) (plan string, err error) {
	rows, err := d.query(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	var id, parent, unused int
	err = each(rows, err, func() error {
		var line string
		err := rows.Scan(&id, &parent, &unused, &line)
		plan += line + "\n"
		return err
	})
	return plan, err
}

// SchemaVersion is the version of the tables.
const SchemaVersion = schemaVersion

// Heal replaces the database, whose handle said cause.
func (d *DB) Heal(cause error) error {
	d.healing.Lock()
	defer d.healing.Unlock()
	return d.heal(cause)
}
