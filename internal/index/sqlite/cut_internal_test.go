package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// A change whose time ends says so: that the driver ended its transaction is no answer.
func TestTimeEndsWithinChange(t *testing.T) {
	db, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "index.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, last := range []bool{true, false} { // the commit notices it, or a statement does
		ctx, end := context.WithCancel(t.Context())
		err := db.changeFile(ctx, func(w *writer) {
			end()
			for {
				if _, err := w.tx.Exec("SELECT 1"); errors.Is(err, sql.ErrTxDone) {
					if !last {
						w.err = err
					}
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
		if !errors.Is(err, context.Canceled) || errors.Is(err, sql.ErrTxDone) {
			t.Errorf("last %v: %v", last, err)
		}
	}
}
