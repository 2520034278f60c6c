package schema

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Versions of pgvector that bring what is used of it.
const (
	vectorLeast = "0.7" // the type halfvec
	vectorHNSW  = "0.8" // scans of an HNSW index that go on until enough rows pass the filters
)

// defaultHNSWFrom is how many vectors of one model a workspace has before they get an HNSW
// index. 100,000 are compared one by one in 45 ms, on one processor (docs/postgres.md).
const defaultHNSWFrom = 50_000

// VectorOptions say what UseVector does.
type VectorOptions struct {
	Workspace string // whose vectors may get an HNSW index; empty for none
	HNSWFrom  int    // 0 means defaultHNSWFrom
	DryRun    bool   // only say what would be done
}

// halfSQL adds to each vector the same values in the type of pgvector. The server works
// them out, so that writers need not know of it and cannot write others. A value is a byte
// with a sign, which a half holds exactly; the scale, the first four bytes, does not change
// a cosine. The body is parsed when it is made: no search path is looked at later.
const halfSQL = `CREATE FUNCTION anamnesis.half(v bytea) RETURNS %[1]s.halfvec IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql
BEGIN ATOMIC
	SELECT CASE WHEN length(v) BETWEEN 5 AND 16004 THEN
		(ARRAY(SELECT ((get_byte(v, i) # 128) - 128)::real FROM generate_series(4, length(v) - 1) i))::%[1]s.halfvec END;
END;
REVOKE ALL ON FUNCTION anamnesis.half(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION anamnesis.half(bytea) TO anamnesis_reader, anamnesis_writer, anamnesis_owner;
ALTER TABLE anamnesis.vectors ADD COLUMN half %[1]s.halfvec GENERATED ALWAYS AS (anamnesis.half(vector)) STORED`

// HalfSQL asks whether vectors stand in the type of pgvector too: the schema that the
// extension is in, and the name prefix of its indexes ($1).
const HalfSQL = `SELECT n.nspname::text, EXISTS (SELECT FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
		WHERE i.indrelid = a.attrelid AND i.indisvalid AND starts_with(c.relname, $1))
	FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
	WHERE a.attrelid = pg_catalog.to_regclass('anamnesis.vectors') AND a.attname = 'half' AND NOT a.attisdropped`

// HNSWPrefix begins the names of the HNSW indexes.
const HNSWPrefix = "vectors_near_"

// UseVector makes the server compare vectors, when it has the extension pgvector or may
// install it, and returns what was done: nothing for a server without it. dsn is that of
// the database's owner. It may be repeated, and is worth it when the extension was
// installed later, or when a workspace has grown.
func UseVector(ctx context.Context, dsn string, o VectorOptions) (steps []string, err error) {
	if o.HNSWFrom == 0 {
		o.HNSWFrom = defaultHNSWFrom
	}
	conn, err := Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	v := vectorSetup{conn: conn, o: o}
	if err := v.run(ctx); err != nil {
		return v.steps, fmt.Errorf("let the server compare vectors: %w", Plain(err))
	}
	return v.steps, nil
}

// A vectorSetup is one run of UseVector.
type vectorSetup struct {
	conn  *pgx.Conn
	o     VectorOptions
	steps []string
}

func (v *vectorSetup) run(ctx context.Context) error {
	if !v.o.DryRun {
		if _, err := v.conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(lockKey)); err != nil {
			return err
		}
	}
	if version, err := version(ctx, v.conn); err != nil || version < 2 && !v.o.DryRun {
		return err
	}
	version, where, err := v.extension(ctx)
	if err != nil || !atLeast(version, vectorLeast) {
		return err
	}
	var home string
	var some bool
	err = v.conn.QueryRow(ctx, HalfSQL, HNSWPrefix).Scan(&home, &some)
	if errors.Is(err, pgx.ErrNoRows) {
		err = v.step(ctx, "pgvector "+version+": vectors are compared by the server", fmt.Sprintf(halfSQL, pgx.Identifier{where}.Sanitize()))
		if v.o.DryRun {
			return err
		}
	}
	if err != nil || v.o.Workspace == "" || !atLeast(version, vectorHNSW) {
		return err
	}
	return v.indexes(ctx, pgx.Identifier{where}.Sanitize())
}

// step does one thing, in a separate transaction.
func (v *vectorSetup) step(ctx context.Context, what, statements string) error {
	if !v.o.DryRun {
		if _, err := v.conn.Exec(ctx, statements); err != nil {
			return err
		}
	}
	v.steps = append(v.steps, what)
	return nil
}

// extension returns the version of pgvector and the schema that it is in; empty when the
// server has none, or this login may not install it.
func (v *vectorSetup) extension(ctx context.Context) (version, where string, err error) {
	const installed = `SELECT e.extversion, n.nspname::text FROM pg_catalog.pg_extension e
		JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'`
	err = v.conn.QueryRow(ctx, installed).Scan(&version, &where)
	if !errors.Is(err, pgx.ErrNoRows) {
		return version, where, err
	}
	// Anybody who may create objects in the database may install it where it is trusted.
	const available = `SELECT coalesce((SELECT default_version FROM pg_catalog.pg_available_extensions WHERE name = 'vector'), ''),
		(SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)
		OR EXISTS (SELECT FROM pg_catalog.pg_available_extension_versions WHERE name = 'vector' AND trusted)
			AND pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')`
	var may bool
	if err = v.conn.QueryRow(ctx, available).Scan(&version, &may); err != nil || version == "" || !may {
		return "", "", err
	}
	if err = v.step(ctx, "install pgvector "+version, "CREATE EXTENSION vector"); err != nil || v.o.DryRun {
		return version, "public", err
	}
	err = v.conn.QueryRow(ctx, installed).Scan(&version, &where)
	return version, where, err
}

// indexes gives the vectors of the workspace an HNSW index for each model that many are of.
// An index is of one workspace and one model alone, so that no filter has to throw away
// what it finds. Nobody waits while it is made.
func (v *vectorSetup) indexes(ctx context.Context, where string) error {
	// A graph that does not fit into memory takes several times as long to build.
	const enter = `SELECT set_config('anamnesis.workspace', $1, false), CASE WHEN pg_size_bytes(current_setting('maintenance_work_mem'))
		< 512 * 1024 * 1024 THEN set_config('maintenance_work_mem', '512MB', false) END`
	if _, err := v.conn.Exec(ctx, enter, v.o.Workspace); err != nil {
		return err
	}
	rows, err := v.conn.Query(ctx, `SELECT v.model, length(v.vector) - 4, count(*), 'vectors_near_' || left(md5($1::text || v.model::text), 16)
		FROM anamnesis.vectors v WHERE v.workspace = $1::uuid AND v.half IS NOT NULL GROUP BY 1, 2 HAVING count(*) >= $2::bigint`,
		v.o.Workspace, v.o.HNSWFrom)
	if err != nil {
		return err
	}
	type group struct {
		Model, Dim, Count int64
		Name              string
	}
	groups, err := pgx.CollectRows(rows, pgx.RowToStructByPos[group])
	if err != nil {
		return err
	}
	for _, g := range groups {
		var valid bool
		err := v.conn.QueryRow(ctx, `SELECT i.indisvalid FROM pg_catalog.pg_index i
			WHERE i.indexrelid = pg_catalog.to_regclass('anamnesis.' || $1::text)`, g.Name).Scan(&valid)
		switch {
		case err == nil && valid:
			continue
		case err == nil && !v.o.DryRun: // a run before was stopped
			_, err = v.conn.Exec(ctx, "DROP INDEX anamnesis."+g.Name)
		case errors.Is(err, pgx.ErrNoRows):
			err = nil
		}
		if err != nil {
			return err
		}
		// The workspace was a uuid to the server just now: nothing in it ends the string.
		err = v.step(ctx, fmt.Sprintf("pgvector: an HNSW index for %d vectors", g.Count), fmt.Sprintf(
			`CREATE INDEX CONCURRENTLY %s ON anamnesis.vectors USING hnsw ((half::%s.halfvec(%d)) %s.halfvec_cosine_ops)
			WHERE workspace = '%s'::uuid AND model = %d AND length(vector) = %d`,
			g.Name, where, g.Dim, where, strings.ReplaceAll(v.o.Workspace, "'", "''"), g.Model, g.Dim+4))
		if err != nil {
			return err
		}
	}
	return nil
}

// atLeast compares versions of the form 0.8.6 by their first two numbers.
func atLeast(version, least string) bool {
	numbers := func(s string) (n [2]int) {
		for i, part := range strings.SplitN(s, ".", 3)[:min(2, strings.Count(s, ".")+1)] {
			n[i], _ = strconv.Atoi(part)
		}
		return n
	}
	a, b := numbers(version), numbers(least)
	return version != "" && (a[0] > b[0] || a[0] == b[0] && a[1] >= b[1])
}
