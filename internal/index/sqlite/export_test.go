package sqlite

import "context"

// Reset replaces the database, as if it were damaged.
func (d *DB) Reset(ctx context.Context) error { return d.reset(ctx) }
