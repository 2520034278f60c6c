package sqlite

import "context"

// Lose replaces the database, as if it were damaged.
func (d *DB) Lose(ctx context.Context) error { return d.reset(ctx) }
